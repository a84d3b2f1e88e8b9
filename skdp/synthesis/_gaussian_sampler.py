r"""Draws from a normal law with known covariance, whose own spread hides the data.

Notation (derived in docs/proofs/gaussian_sampler.md)
-----------------------------------------------------
z_i      whitened row, clipped to norm R                          -> ``radius_``
s        scale of the noise, at least sqrt(1 - 1/n)
m        number of draws                                          -> ``n_samples``
"""

import math
import warnings
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import gammainc, gammaincc
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from skdp._published import PrivateEstimatorMixin
from skdp._typing import FloatArray
from skdp._validation import check_count, check_positive, check_real
from skdp.accounting import Adjacency, ApproximateDP, SmoothedGaussianDP
from skdp.exceptions import BudgetExceededError, LowAccuracyWarning
from skdp.mechanisms import GaussianMechanism, GaussianNoise, LatticeSmoothing
from skdp.mechanisms._additive import RELATIVE_ERROR
from skdp.mechanisms._gaussian import calibrated_gaussian
from skdp.rows import L2Ball
from skdp.synthesis._plan import check_delta_of
from skdp.synthesis._published_loss import release_loss
from skdp.synthesis._table_settings import (
    TableSettings,
    read_table_settings,
    warn_seeded,
)

__all__ = ["GaussianSampler"]

#: Rows further out than this from the centre are as far as this before whitening.
_FAR = 1e150
#: Entries of whitened rows stay below 2 to this.
_LARGEST_EXPONENT = 500
#: Levels to which sensitivities of single persons are rounded up.
_LEVELS = 16
_GOOD = 0.1


class GaussianSampler(PrivateEstimatorMixin, BaseEstimator):
    r"""Draw from the normal law that the rows came from, of known covariance.

    The mean of n rows has variance 1 / n of theirs. Adding noise with 1 - 1 / n of it
    gives a draw with exactly the law of a fresh row, and that noise is also what hides
    every single row: with many rows privacy is free.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy loss bound in nats, from 1e-9 to 1e3, for all draws together. If the
        spread of the law is enough, less is spent; if it is not, draws are wider.
    delta : float, default=0.0
        Must be above 0, and below one over the number of rows: the noise is Gaussian.
    covariance : float or array-like of shape (d, d), default=1.0
        Public covariance of a row; a number is the variance of every column.
    center : float or array-like of shape (d,), default=0.0
        Public guess of the mean.
    radius : float or "auto", default="auto"
        Rows further than this from ``center``, in standard deviations (Mahalanobis
        distance), are moved there. ``"auto"`` is :math:`\sqrt d + 5`.
    n_samples : int, default=1
        How many draws ``fit`` makes. They share epsilon.
    random_state : int, Generator, RandomState or None, default=None
        None draws from the operating system. Anything else makes the fit reproducible,
        for tests: ``privacy_spent_.releasable`` is then False.

    Attributes
    ----------
    samples_ : ndarray of shape (n_samples, d)
        The draws, released.
    n_handed_out_ : int
        How many draws :meth:`sample` has handed out.
    radius_ : float
        The radius used.
    widening_ : float
        Variance of a draw over that of a row: 1 where the spread of the law is enough.
    accuracy_bound_ : float
        Bound on the total variation distance of a draw's law from that of a row, if
        ``center`` is the mean; see :meth:`accuracy_bound`.
    mechanism_ : GaussianMechanism
        The noise on the stack of all draws.
    privacy_spent_ : PrivacySpent
        What the fit cost.
    n_features_in_ : int
        Number d of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, when X is a frame whose names are strings.

    Raises
    ------
    ValueError
        From ``fit``, for a parameter out of range, or a covariance that is not positive
        definite.

    Warns
    -----
    LowAccuracyWarning
        If ``accuracy_bound_`` exceeds 0.1.

    Notes
    -----
    .. rubric:: Privacy

    Replace-one: the number of rows is public. The guarantee needs no assumption on the
    law of the rows, which are clipped; accuracy does. Proof in
    docs/proofs/gaussian_sampler.md.

    References
    ----------
    Ghazi, Hu, Kumar and Manurangsi, "On differentially private sampling from Gaussian
    and product distributions", NeurIPS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.synthesis import GaussianSampler
    >>> X = np.random.default_rng(0).normal(1.0, 2.0, size=(5000, 3))
    >>> sampler = GaussianSampler(
    ...     epsilon=1.0, delta=1e-6, covariance=4.0, n_samples=2).fit(X)
    >>> sampler.sample(2).shape, sampler.widening_
    ((2, 3), 1.0)
    >>> epsilon, delta = sampler.privacy_spent_
    >>> epsilon < 0.1
    True
    """

    _released: ClassVar[frozenset[str]] = frozenset(
        {
            "accuracy_bound_",
            "feature_names_in_",
            "mechanism_",
            "n_features_in_",
            "n_handed_out_",
            "privacy_spent_",
            "radius_",
            "samples_",
            "widening_",
            "_columns",
            "_n_rows",
        }
    )
    adjacency: ClassVar[str] = "replace-one"

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        covariance: Any = 1.0,
        center: Any = 0.0,
        radius: float | str = "auto",
        n_samples: int = 1,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.covariance = covariance
        self.center = center
        self.radius = radius
        self.n_samples = n_samples
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> Self:
        """Make all draws, spend the budget, and forget the rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.
        y : None
            Ignored; present by convention.

        Returns
        -------
        self : GaussianSampler
        """
        settings = read_table_settings(self)
        n_samples = check_count(
            "n_samples", self.n_samples, minimum=1, remedy="Pass how many draws."
        )
        with self._whole_fit():
            self._fit(X, settings, n_samples)
        self._warn_of_low_accuracy()
        warn_seeded(settings.source)
        return self

    def _fit(self, X: Any, settings: TableSettings, n_samples: int) -> None:
        """Enter the rows, calibrate, add the noise to their mean, and publish."""
        target = settings.target
        if not isinstance(target, ApproximateDP):
            raise ValueError(
                "delta is 0, which Gaussian noise cannot promise. Allowed: delta above "
                "0 and below one over the number of rows. Pass for example delta=1e-6."
            )
        columns = getattr(X, "columns", None)
        X = validate_data(self, X, dtype=np.float64)
        n_rows, d = X.shape
        check_delta_of(settings.delta, n_rows)
        radius = self._radius(d)
        root, center = self._law(d)
        mechanism, widening = _calibrated(target, n_rows, d, radius, n_samples)
        mean = L2Ball(radius).project(_whitened(X, root, center)).mean(axis=0)
        stack = np.tile(mean, n_samples)
        noisy = mechanism.release(stack, settings.source).output
        draws = noisy.reshape(n_samples, d) @ root.T + center
        self._publish(
            samples_=draws,
            n_handed_out_=0,
            radius_=radius,
            widening_=widening,
            mechanism_=mechanism,
            privacy_spent_=settings.spent(
                mechanism.guarantee, name="GaussianMechanism"
            ),
            _columns=columns,
            _n_rows=n_rows,
        )
        self._publish(accuracy_bound_=self.accuracy_bound())

    def _warn_of_low_accuracy(self) -> None:
        if self.accuracy_bound_ > _GOOD:
            warnings.warn(
                f"accuracy_bound_ is {self.accuracy_bound_:.3g}: draws are further from"
                " the law than that, by the public numbers of rows and draws. Use more "
                "rows, fewer draws, another radius, or a larger epsilon.",
                LowAccuracyWarning,
                stacklevel=3,  # whoever called fit
            )

    def _radius(self, d: int) -> float:
        if isinstance(self.radius, str) and self.radius == "auto":
            return math.sqrt(d) + 5.0
        return check_positive(
            "radius",
            self.radius,
            minimum=1e-6,
            maximum=1e6,
            remedy="Pass a number of standard deviations, or 'auto'.",
        )

    def _law(self, d: int) -> tuple[FloatArray, FloatArray]:
        """Return the Cholesky root of the covariance, and the centre."""
        given = np.asarray(self.covariance, dtype=np.float64)
        matrix = given * np.eye(d) if given.ndim == 0 else given
        good = matrix.shape == (d, d) and np.all(np.isfinite(matrix))
        if not good or not np.array_equal(matrix, matrix.T):
            raise ValueError(
                f"covariance has shape {given.shape}, or is not symmetric. Allowed: a "
                f"positive number, or a symmetric matrix of shape ({d}, {d}). Pass the "
                "public covariance of a row."
            )
        try:
            root = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            root = np.zeros((d, d))
        scale = np.diag(root)
        if not np.all((scale > 1e-40) & (scale < 1e40)):
            raise ValueError(
                "covariance is not positive definite, or out of range. Allowed: "
                "standard deviations from 1e-40 to 1e40. Drop columns that others "
                "determine."
            )
        center = np.asarray(self.center, dtype=np.float64)
        if center.shape not in ((), (d,)) or not np.all(np.abs(center) < _FAR):
            raise ValueError(
                f"center has shape {center.shape}, or is not finite. Allowed: a "
                f"number, or a vector of shape ({d},). Pass a public guess of the mean."
            )
        lower: FloatArray = np.asarray(root, dtype=np.float64)
        return lower, np.broadcast_to(center, (d,))

    def accuracy_bound(self, distance: float = 0.0) -> float:
        r"""Bound the total variation distance of a draw's law from that of a row.

        At most n times the probability that a row is clipped, plus the distance that
        widening makes.

        Parameters
        ----------
        distance : float, default=0.0
            How far, in standard deviations, the mean may be from ``center``.

        Returns
        -------
        float
        """
        check_is_fitted(self, "privacy_spent_")
        remedy = "Pass a number of standard deviations."
        far = check_real("distance", distance, allowed=">= 0", remedy=remedy)
        d, room = self.n_features_in_, max(0.0, self.radius_ - max(far, 0.0))
        clipped = self._n_rows * float(gammaincc(d / 2.0, room * room / 2.0))
        bound: float = min(1.0, clipped + _widening_distance(self.widening_, d))
        return bound

    def sample(self, k: int = 1) -> Any:
        """Hand out the next draws; they were paid for in ``fit``.

        Parameters
        ----------
        k : int, default=1
            How many, >= 0.

        Returns
        -------
        draws : ndarray or DataFrame of shape (k, d)
            Of the kind of X.

        Raises
        ------
        BudgetExceededError
            If fewer than ``k`` are left. Nothing is handed out then.
        """
        check_is_fitted(self, "privacy_spent_")
        k = check_count("k", k, minimum=0, remedy="Say how many draws to take.")
        start, paid = self.n_handed_out_, len(self.samples_)
        if k > paid - start:
            raise BudgetExceededError(
                f"{k} draws were asked for, got {paid - start} left of {paid} that "
                f"were paid for. Allowed: up to {paid - start}. Fit with a larger "
                "n_samples; its draws share epsilon."
            )
        self._publish(n_handed_out_=start + k)
        draws = self.samples_[start : start + k].copy()
        if self._columns is None:
            return draws
        from pandas import DataFrame

        return DataFrame(draws, columns=self._columns)

    def pdp_loss(self, X: Any, y: object = None, *, rho: float = 1e-6) -> FloatArray:
        """Bound what this release cost each person, from her own row alone.

        A row near the centre moves the mean less than one at the radius, whatever it
        is replaced by.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows asked about, in the data or not.
        y : None
            Ignored; present by convention.
        rho : float, default=1e-6
            Probability, over the noise of the fit, that the bound fails for one row and
            one replacement fixed beforehand.

        Returns
        -------
        loss : ndarray of shape (n,)
            Bound on the absolute privacy loss of each person in nats.
        """
        check_is_fitted(self, "privacy_spent_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        root, center = self._law(self.n_features_in_)
        lengths = np.linalg.norm(
            L2Ball(self.radius_).project(_whitened(X, root, center)), axis=1
        )
        mu, step = self.mechanism_.sensitivity_ratio, self.mechanism_.smoothing.rho
        level = np.minimum(
            np.ceil(lengths / self.radius_ * _LEVELS).astype(int), _LEVELS
        )
        bounds = {
            j: release_loss(
                SmoothedGaussianDP(mu * (1.0 + j / _LEVELS) / 2.0, step), rho
            )
            for j in np.unique(level).tolist()
        }
        return np.array([bounds[j] for j in level.tolist()])

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        return tags


def _calibrated(
    target: ApproximateDP, n_rows: int, d: int, radius: float, n_samples: int
) -> tuple[GaussianMechanism, float]:
    """Return the noise on the stack of means, and the variance of a draw with it."""
    sensitivity = math.sqrt(n_samples) * 2.0 * radius / n_rows
    own = math.sqrt(1.0 - 1.0 / n_rows)
    most, _ = calibrated_gaussian(target.epsilon_bound, target.delta_bound)
    scale = max(own, sensitivity / most)
    smoothing = LatticeSmoothing.concentrated(
        error=RELATIVE_ERROR * scale,
        n_features=n_samples * d,
        mu=min(sensitivity / scale / 100.0, 0.125),
        adjacency=Adjacency.REPLACE_ONE,
    )
    mechanism = GaussianMechanism(
        l2_sensitivity=sensitivity,
        n_features=n_samples * d,
        noise_law=GaussianNoise(scale),
        smoothing=smoothing,
        adjacency=Adjacency.REPLACE_ONE,
    )
    return mechanism, 1.0 if scale == own else scale**2 + 1.0 / n_rows


def _whitened(X: FloatArray, root: FloatArray, center: FloatArray) -> FloatArray:
    """Return rows in standard deviations from the centre; finite whatever they are.

    Each on its own. A row too long for floats keeps its direction; one whose whitening
    overflows at length 1 is at the centre.
    """
    moved = np.clip(X, -_FAR, _FAR) - center
    exponents = np.maximum(np.frexp(np.max(np.abs(moved), axis=1))[1], 0)
    unit = np.ldexp(moved, -exponents[:, None])
    out = np.array(solve_triangular(root, unit.T, lower=True).T)
    out[~np.all(np.isfinite(out), axis=1)] = 0.0
    room = _LARGEST_EXPONENT - np.frexp(np.max(np.abs(out), axis=1))[1]
    whitened: FloatArray = np.ldexp(out, np.minimum(exponents, room)[:, None])
    return whitened


def _widening_distance(v: float, d: int) -> float:
    """Return the distance of N(0, I) from N(0, v I): where one density is larger."""
    if v <= 1.0:
        return 0.0
    cut = d * v * math.log(v) / (v - 1.0)
    inside, outside = gammainc(d / 2.0, cut / 2.0), gammainc(d / 2.0, cut / 2.0 / v)
    return float(inside - outside)
