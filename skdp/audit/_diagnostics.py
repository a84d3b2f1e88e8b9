r"""Why a private fit came out as it did, for the curator of the data only.

Notation
--------
theta    released coefficients, intercept coordinate last, shape (d,); of several
         classes one after the other
H        Hessian of the ridge-penalised sum of losses at theta, shape (d, d)
S        covariance of the noise vector b, a multiple of the identity
alpha    ridge on the sum of losses

To first order the noise moves the minimiser by :math:`-H^{-1} b` and the ridge by
:math:`-\alpha H^{-1} \theta`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from skdp._typing import BoolArray, FloatArray, MatrixLike
from skdp.audit._pdp import check_one_release, check_private
from skdp.linear_model._reporting import objective_mechanism
from skdp.mechanisms import GaussianNoise, ObjectivePerturbation, SoftmaxPerturbation
from skdp.rows import Classes, PrivateRows, Targets

__all__ = ["FitDiagnostics", "fit_diagnostics"]

_QUANTILES = (0.1, 0.5, 0.9, 0.99, 1.0)
#: Shares and ratios from which a word of advice is given.
_MANY_CLIPPED, _LOOSE_NORM, _ONE_COLUMN = 0.2, 0.5, 0.99
_USELESS, _STRONG_RIDGE = 0.5, 0.3
#: Number of coefficients beyond which Gaussian noise is smaller than pure noise.
_PURE_PAYS = 15

_Mechanism: TypeAlias = ObjectivePerturbation | SoftmaxPerturbation


@dataclass(frozen=True, slots=True, kw_only=True)
class FitDiagnostics:
    """What :func:`fit_diagnostics` found. NOT FOR RELEASE: it reads private data.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    clipped_share : float
        Share of rows longer than ``data_norm``.
    undeclared_share : float
        Share of rows whose label is not in ``classes_``; they count for nothing. 0 for
        regressors.
    norm_quantiles : mapping of float to float
        Quantiles of the row norms before clipping, to hold beside ``data_norm``.
    data_norm : float
        The bound on a row's norm.
    largest_column_share : float
        Share of the largest column in the sum of squares of the clipped rows.
    noise_displacement : float
        Expected L2 displacement of the coefficients by the noise, root mean square.
    ridge_displacement : float
        L2 displacement of the coefficients by the ridge.
    coefficient_norm : float
        L2 norm of the released coefficients, intercept coordinate included.
    advice : tuple of str
        What to change, most pressing first; empty when nothing stands out.
    """

    n_rows: int
    clipped_share: float
    undeclared_share: float
    norm_quantiles: Mapping[float, float] = field(hash=False)
    data_norm: float
    largest_column_share: float
    noise_displacement: float
    ridge_displacement: float
    coefficient_norm: float
    advice: tuple[str, ...]

    @property
    def noise_to_signal(self) -> float:
        """Noise displacement over coefficient norm; the answer is noise from 1 on."""
        return _ratio(self.noise_displacement, self.coefficient_norm)

    def __str__(self) -> str:
        norms = ", ".join(f"{q:g}: {v:.3g}" for q, v in self.norm_quantiles.items())
        lines = [
            "NOT FOR RELEASE: these numbers are read from private data.",
            f"rows                  {self.n_rows}",
            f"clipped               {self.clipped_share:.1%}",
            f"undeclared label      {self.undeclared_share:.1%}",
            f"quantiles of norms    {norms} (data_norm {self.data_norm:.3g})",
            f"largest column        {self.largest_column_share:.1%} of squares",
            f"moved by noise        {self.noise_displacement:.3g}",
            f"moved by ridge        {self.ridge_displacement:.3g}",
            f"length of the answer  {self.coefficient_norm:.3g}",
        ]
        return "\n".join([*lines, *(f"- {text}" for text in self.advice)])


def fit_diagnostics(est: Any, X: MatrixLike, y: MatrixLike) -> FitDiagnostics:
    """Explain a private fit to the curator of its data. NOT FOR RELEASE.

    Parameters
    ----------
    est : ObjPertLogisticRegression or another estimator of the same mechanisms
        Fitted.
    X, y : array-like of shape (n_samples, n_features) and (n_samples,)
        The data it was fitted on.

    Returns
    -------
    FitDiagnostics
        Every number depends on private rows and is covered by no guarantee. Changing
        parameters because of it is a choice made by looking at the data.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If ``est`` is not fitted.
    ValueError
        If the shapes do not fit the estimator, or it was not fitted by perturbing one
        objective in the columns as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.audit import fit_diagnostics
    >>> from skdp.linear_model import ObjPertLogisticRegression
    >>> X = np.tile([[3.0, 4.0], [-4.0, 3.0]], (50, 1))
    >>> y = np.tile([1, 0], 50)
    >>> model = ObjPertLogisticRegression(data_norm=1.0, classes=[0, 1]).fit(X, y)
    >>> found = fit_diagnostics(model, X, y)
    >>> found.clipped_share, found.norm_quantiles[0.5]
    (1.0, 5.0)
    >>> print(str(found).splitlines()[0])
    NOT FOR RELEASE: these numbers are read from private data.
    """
    check_private(est)
    check_one_release(est)
    rows: PrivateRows = est._query_rows(X, y)
    mechanism = objective_mechanism(est.mechanism_)
    if not isinstance(mechanism, ObjectivePerturbation | SoftmaxPerturbation):
        raise ValueError(
            f"est was not fitted by objective perturbation, got {type(est).__name__}. "
            "Allowed: estimators whose names begin with ObjPert."
        )
    theta: FloatArray = est._theta()
    norms, declared, squares = _read(rows)
    _, hessian = mechanism.objective(rows).gradient_hessian(theta)
    inverse = np.linalg.inv(hessian)
    found = FitDiagnostics(
        n_rows=norms.size,
        clipped_share=float(np.mean(norms > rows.ball.data_norm)),
        undeclared_share=float(np.mean(~declared)),
        norm_quantiles={q: float(np.quantile(norms, q)) for q in _QUANTILES},
        data_norm=rows.ball.data_norm,
        largest_column_share=float(squares.max() / (squares.sum() or 1.0)),
        noise_displacement=_noise_deviation(mechanism, theta.size)
        * float(np.linalg.norm(inverse)),
        ridge_displacement=mechanism.alpha * float(np.linalg.norm(inverse @ theta)),
        coefficient_norm=float(np.linalg.norm(theta)),
        advice=(),
    )
    advice = (*_about_rows(found, squares.size), *_about_noise(found, mechanism))
    return replace(found, advice=advice)


def _read(rows: PrivateRows) -> tuple[FloatArray, BoolArray, FloatArray]:
    """Return norms before clipping, who counts, and column sums of squares."""
    norms, declared = [], []
    labels = rows.blocks.labels
    d = rows.blocks.n_features
    squares = np.zeros(d)
    for X, y in rows.blocks:
        clipped = rows.ball.project(X)[:, :d]
        # the factor undoes the clipping: what is left is the raw norm
        norms.append(np.linalg.norm(clipped, axis=1) / rows.ball.clip_factors(X))
        if isinstance(labels, Classes):
            declared.append(y >= 0.0)
        else:
            declared.append(np.full(y.shape, isinstance(labels, Targets)) | (y != 0.0))
        squares += np.einsum("ij,ij->j", clipped, clipped)
    return np.concatenate(norms), np.concatenate(declared), squares


def _noise_deviation(mechanism: _Mechanism, size: int) -> float:
    """Return the standard deviation of one coordinate of the noise vector."""
    if isinstance(mechanism.noise_law, GaussianNoise):
        return mechanism.noise_law.scale
    # E|b|^2 = d (d + 1) scale^2 for the K-norm law
    return mechanism.noise_law.scale * math.sqrt(size + 1)


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator > 0.0 else math.inf


def _about_rows(found: FitDiagnostics, n_features: int) -> list[str]:
    advice = []
    if found.undeclared_share > 0.0:
        advice.append(
            "some labels are not in classes and count for nothing: check classes."
        )
    if n_features > 1 and found.largest_column_share > _ONE_COLUMN:
        advice.append(
            "one column outweighs all others: bring the columns to one scale by "
            "public ranges (BoundedScaler)."
        )
    if found.clipped_share > _MANY_CLIPPED:
        advice.append(
            "many rows are clipped: raise data_norm, or scale the columns down by "
            "public ranges."
        )
    elif found.norm_quantiles[0.99] < _LOOSE_NORM * found.data_norm:
        advice.append(
            "nearly all rows are far shorter than data_norm, and the noise is in "
            "proportion to it: lower data_norm, or scale the columns up."
        )
    return advice


def _about_noise(found: FitDiagnostics, mechanism: _Mechanism) -> list[str]:
    advice = []
    if found.noise_to_signal > _USELESS:
        advice.append(
            "the noise is as large as the answer: use more rows, fewer columns, or a "
            "larger epsilon."
        )
        pure = not isinstance(mechanism.noise_law, GaussianNoise)
        if pure and mechanism.n_coefficients > _PURE_PAYS:
            advice.append(
                "with this many coefficients Gaussian noise is smaller: allow a "
                "delta > 0, such as 1e-6."
            )
    if found.ridge_displacement > _STRONG_RIDGE * found.coefficient_norm:
        advice.append(
            "the ridge holds the coefficients back: lower alpha (its floor falls as "
            "epsilon grows), use more rows, or a larger epsilon."
        )
    return advice
