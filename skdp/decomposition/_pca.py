"""Private principal components by draws from Bingham laws."""

import warnings
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skdp._discreet import discreet
from skdp._typing import FloatArray, MatrixLike
from skdp._validation import (
    check_choice,
    check_count,
    check_epsilon,
    check_positive,
    check_real,
)
from skdp.accounting import Adjacency, PrivacyPart, PrivacySpent, PureDP, compose
from skdp.exceptions import NotForReleaseWarning
from skdp.linear_model._base import PrivateEstimatorMixin
from skdp.linear_model._door import features
from skdp.mechanisms import PrincipalDirection
from skdp.random import RandomSource, as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks

__all__ = ["PrivatePCA"]


class PrivatePCA(
    ClassNamePrefixFeaturesOutMixin,
    PrivateEstimatorMixin,
    TransformerMixin,
    BaseEstimator,
):
    r"""Principal components of a table, with a differential-privacy guarantee.

    A component is a draw from the law on the unit sphere with density proportional to
    :math:`\exp(s\sum_i (x_i\cdot v)^2)`: directions along which the rows are long are
    likely. Further components are drawn from what is orthogonal to the released ones.

    Rows are deviations from a public origin, not from their mean, which is private.

    Parameters
    ----------
    n_components : int, default=1
        How many components, which share epsilon evenly.
    epsilon : float, default=1.0
        Privacy loss bound in nats, from 1e-9 to 1e3, for the whole ``fit``.
    data_norm : float, default=1.0
        Bound on the L2 norm of a row's deviation from ``origin``, per row, in the units
        of X. Longer ones are clipped to it in ``fit`` (not in ``transform``). It is
        public: never choose it by looking at the data.
    origin : float or array-like of shape (n_features,), default=0.0
        Public point that takes the place of the mean.
    adjacency : {"add-remove", "replace-one"}, default="add-remove"
        Neighbouring relation of the guarantee.
    random_state : int, Generator, RandomState or None, default=None
        None draws from the operating system. Anything else makes the fit reproducible,
        for tests: ``privacy_spent_.releasable`` is then False.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions; released. As always in PCA the sign says nothing.
    n_components_ : int
        Number of components; public.
    mean_ : ndarray of shape (n_features,)
        The public origin.
    mechanism_ : tuple of PrincipalDirection
        The public constants of the release of each component.
    privacy_spent_ : PrivacySpent
        What the fit cost.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X has string names.

    Raises
    ------
    ValueError
        From ``fit``, for a parameter out of range, more components than columns, wrong
        shapes or non-finite entries.
    TypeError
        From ``fit``, for a parameter of the wrong type.

    See Also
    --------
    sklearn.decomposition.PCA : Its non-private counterpart, which removes the mean.

    Notes
    -----
    Explained variances are not released: they would be read off the data. The error is
    the smaller, the larger epsilon, the number of rows, and the gap between the first
    two second moments are.

    .. rubric:: Privacy

    Pure epsilon, adjacency as given. Assumes finite entries, at least one row, and that
    rounding stays below stated bounds; row norms are enforced. The total covers the
    output alone: running time depends on the data. What the loops tell is among
    ``privacy_spent_.parts``, apart from the total. The theorem (the log ratio stays in
    an interval of the length of the largest change of the score) and its proof:
    docs/proofs/principal_direction.md and docs/proofs/smoothing.md.

    References
    ----------
    Chaudhuri, Sarwate and Sinha, "A near-optimal algorithm for differentially-private
    principal components", JMLR 2013. Kapralov and Talwar, "On differentially private
    low rank approximation", SODA 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.decomposition import PrivatePCA
    >>> t = np.linspace(-1, 1, 5000)[:, None]
    >>> X = t * [0.6, 0.8]
    >>> pca = PrivatePCA(epsilon=1.0).fit(X)
    >>> bool(abs(pca.components_[0] @ [0.6, 0.8]) > 0.99)
    True
    >>> epsilon, delta = pca.privacy_spent_
    >>> epsilon <= 1.0, delta
    (True, 0.0)
    """

    _released: ClassVar[frozenset[str]] = frozenset(
        {
            "components_",
            "feature_names_in_",
            "mean_",
            "mechanism_",
            "n_components_",
            "n_features_in_",
            "privacy_spent_",
        }
    )

    def __init__(
        self,
        n_components: int = 1,
        *,
        epsilon: float = 1.0,
        data_norm: float = 1.0,
        origin: Any = 0.0,
        adjacency: str = "add-remove",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.data_norm = data_norm
        self.origin = origin
        self.adjacency = adjacency
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Draw the components and spend the budget.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows of finite numbers; not changed.
        y : None
            Ignored; present by convention.

        Returns
        -------
        self : PrivatePCA
            The fitted model; it holds released values and public constants only.
        """
        n, target, ball = self._settings()
        source = as_random_source(self.random_state)
        X = _dense(features(self, X, reset=True))
        origin = self._origin(X.shape[1])
        if n > X.shape[1]:
            raise ValueError(
                f"n_components is out of range, got {n} with {X.shape[1]} columns. "
                "Allowed: at most the number of columns. Ask for fewer."
            )
        components, mechanisms = _drawn(X, origin, ball, n, target, source)
        self._publish(
            components_=components,
            n_components_=n,
            mean_=origin,
            mechanism_=mechanisms,
            privacy_spent_=_spent(mechanisms, seeded=source.seeded),
        )
        if source.seeded:
            warnings.warn(
                "the components came from random_state, so whoever knows it can repeat "
                "the draw: this fit is for tests, not for release. Leave "
                "random_state=None to publish.",
                NotForReleaseWarning,
                stacklevel=2,
            )
        return self

    def _settings(self) -> tuple[int, PureDP, L2Ball]:
        """Check the parameters that need no data; return what each component gets."""
        remedy = "Use 1 for the first principal direction."
        n = check_count("n_components", self.n_components, minimum=1, remedy=remedy)
        epsilon = check_epsilon(self.epsilon)
        check_choice(
            "adjacency",
            getattr(self.adjacency, "value", self.adjacency),
            [relation.value for relation in Adjacency],
            remedy="Use 'add-remove' unless the number of people is public.",
        )
        data_norm = check_positive(
            "data_norm",
            self.data_norm,
            remedy="Choose a bound on the L2 norm of a row that needs no look at the "
            "data; longer rows are clipped to it.",
        )
        target = PureDP(epsilon / n, adjacency=Adjacency(self.adjacency))
        return n, target, L2Ball(data_norm)

    def _origin(self, n_features: int) -> FloatArray:
        """Return the public origin, one number a column."""
        allowed = f"one finite number, or {n_features} of them"
        remedy = "Pass a public point, for example the middle of the columns' ranges."
        if isinstance(self.origin, list | tuple) or getattr(self.origin, "ndim", 0) > 0:
            entries = list(self.origin)
        else:
            entries = [self.origin] * n_features
        origin = np.array(
            [check_real("origin", x, allowed=allowed, remedy=remedy) for x in entries]
        )
        if origin.shape != (n_features,) or not np.all(np.abs(origin) <= 1e100):
            raise ValueError(
                f"origin does not fit, got {self.origin!r}. Allowed: {allowed}, up to "
                f"1e100 in size. {remedy}"
            )
        return origin

    def transform(self, X: MatrixLike) -> FloatArray:
        """Return the coordinates of rows along the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; not clipped.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = _dense(features(self, X, reset=False))
        out: FloatArray = (X - self.mean_) @ self.components_.T
        return out

    def inverse_transform(self, X: MatrixLike) -> FloatArray:
        """Return the points that coordinates along the components stand for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Coordinates.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        coordinates = np.asarray(X, dtype=np.float64)
        out: FloatArray = coordinates @ self.components_ + self.mean_
        return out

    @property
    def _n_features_out(self) -> int:
        """Number of output columns, for their names."""
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.non_deterministic = self.random_state is None
        return tags


@discreet
def _dense(X: MatrixLike) -> FloatArray:
    """Return checked rows as one dense float64 array."""
    if hasattr(X, "toarray"):
        X = X.toarray()
    elif hasattr(X, "to_numpy"):
        X = X.to_numpy(dtype=np.float64)
    return np.asarray(X, dtype=np.float64)


def _drawn(
    X: FloatArray,
    origin: FloatArray,
    ball: L2Ball,
    n: int,
    target: PureDP,
    source: RandomSource,
) -> tuple[FloatArray, tuple[PrincipalDirection, ...]]:
    """Draw components one after another, each orthogonal to those before."""
    # clipped once: what is left of a row in a subspace is no longer
    rows = ball.project(X - origin)
    basis, found, mechanisms = np.eye(rows.shape[1]), [], []
    for _ in range(n):
        mechanism = PrincipalDirection.calibrate(
            target, radius=ball.radius, n_features=basis.shape[0]
        )
        data = PrivateRows(as_row_blocks(rows @ basis.T), ball)
        draw = mechanism.release(data, source).output
        # with nothing but noise left a direction is as good as any other
        size = float(np.linalg.norm(draw))
        unit = draw / size if size > 0.0 else np.eye(draw.size)[0]
        found.append(unit @ basis)
        basis = _complement(unit) @ basis
        mechanisms.append(mechanism)
    return np.array(found), tuple(mechanisms)


def _complement(unit: FloatArray) -> FloatArray:
    """Return an orthonormal basis, as rows, of what is orthogonal to a unit vector."""
    # a reflection that maps the unit vector to an axis, up to its sign
    mirror = unit.copy()
    mirror[0] += np.copysign(1.0, unit[0])
    reflection = np.eye(unit.size) - 2.0 * np.outer(mirror, mirror) / (mirror @ mirror)
    return reflection[1:]


def _spent(mechanisms: tuple[PrincipalDirection, ...], *, seeded: bool) -> PrivacySpent:
    extra = ("all entries are finite", "there is at least one row")
    total = compose(*(mechanism.guarantee for mechanism in mechanisms))
    total = replace(total, assumptions=total.assumptions + extra)
    return PrivacySpent(
        total,
        0.0,
        parts=tuple(part for mechanism in mechanisms for part in _parts(mechanism)),
        releasable=not seeded,
        level="research" if seeded else "default",
    )


def _parts(mechanism: PrincipalDirection) -> tuple[PrivacyPart, PrivacyPart]:
    """Return the share of a draw, and what its loop tells those who time it."""
    loop = mechanism.loop_cost
    note = (
        f"number of batches, epsilon=0 at delta={loop.delta(0.0):.1g}; not in the "
        "total, which is about the output only"
    )
    return (
        PrivacyPart("PrincipalDirection", mechanism.guarantee),
        PrivacyPart("running time of its loop", loop, note),
    )
