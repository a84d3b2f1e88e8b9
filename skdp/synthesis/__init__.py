"""Private samplers: synthetic records from private ones."""

from skdp.synthesis._roo_sampler import ROOSampler

__all__ = ["ROOSampler"]
