"""Private samplers: synthetic records from private ones."""

from skdp.synthesis._gaussian_sampler import GaussianSampler
from skdp.synthesis._halfspace_synthesizer import HalfspaceSynthesizer
from skdp.synthesis._mwem import MWEM
from skdp.synthesis._roo_sampler import ROOSampler
from skdp.synthesis._synthetic_histogram import SyntheticHistogram
from skdp.synthesis._table_sampler import TableSampler
from skdp.synthesis._usefulness import sample_size, useful_size

__all__ = [  # noqa: RUF022 (plain order: MWEM is a class)
    "GaussianSampler",
    "HalfspaceSynthesizer",
    "MWEM",
    "ROOSampler",
    "SyntheticHistogram",
    "TableSampler",
    "sample_size",
    "useful_size",
]
