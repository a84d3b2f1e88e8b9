"""How near to zero the gradient of a perturbed objective is driven: a public number."""

from skdp.mechanisms._noise import NoiseLaw

__all__ = ["public_tol"]

#: tau in units of the gradient bound of one row ...
_RELATIVE_TOL = 1e-8
#: ... unless the noise is so large (epsilon below about 1e-5) that its own rounding
#: would exceed that: then in units of the noise.
_NOISE_TOL = 2.0**-48


def public_tol(lipschitz: float, noise_law: NoiseLaw, n_coefficients: int) -> float:
    """Return tau, a function of public numbers."""
    noise = noise_law.typical_norm(n_coefficients)
    return max(_RELATIVE_TOL * lipschitz, _NOISE_TOL * noise)
