"""What the estimators share that publish a whole distribution over records."""

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skdp._published import PrivateEstimatorMixin
from skdp._typing import FloatArray
from skdp._validation import check_count
from skdp.random import RandomSource, integer_weighted
from skdp.synthesis._codebook import Codebook, encode_asked
from skdp.synthesis._projection import as_weights
from skdp.synthesis._published_loss import release_loss

__all__ = ["ReleasedTable", "draw_cells"]


def draw_cells(
    law: FloatArray, sizes: tuple[int, ...], size: int, source: RandomSource
) -> Any:
    """Draw codes of records from released probabilities of all records."""
    drawn = integer_weighted(as_weights(law), size, source)
    return np.stack(np.unravel_index(drawn, sizes), axis=1)


class ReleasedTable(PrivateEstimatorMixin, BaseEstimator):
    """Any number of rows from one release; the cost does not grow with them."""

    _released: ClassVar[frozenset[str]] = frozenset(
        {
            "categories_",
            "feature_names_in_",
            "mechanism_",
            "n_features_in_",
            "privacy_spent_",
            "probabilities_",
            "_codebook",
            "_source",
            "_unknown",
        }
    )
    _codebook: Codebook
    _source: RandomSource
    _unknown: Literal["error", "other"]

    def sample(self, k: int = 1) -> Any:
        """Draw rows from the release; free, and any number.

        Parameters
        ----------
        k : int, default=1
            How many, >= 0.

        Returns
        -------
        rows : DataFrame or ndarray of shape (k, d)
            Of the kind of X, and of the dtypes of ``categories_``.
        """
        check_is_fitted(self, "privacy_spent_")
        k = check_count("k", k, minimum=0, remedy="Say how many rows to take.")
        return self._codebook.decode(self._codes(k))

    def _codes(self, k: int) -> Any:
        law = self.probabilities_.ravel()
        return draw_cells(law, self._codebook.sizes, k, self._source)

    probabilities_: FloatArray

    def pdp_loss(self, X: Any, y: object = None, *, rho: float = 1e-6) -> FloatArray:
        """Bound what this release cost each person: the same for everybody.

        Anyone may call it about anyone, at no privacy cost.

        Parameters
        ----------
        X : DataFrame or array of shape (n, d)
            The records asked about.
        y : None
            Ignored; present by convention.
        rho : float, default=1e-6
            Probability, over the noise of the fit, that the bound fails for one record
            fixed beforehand; a pure release does not use it.

        Returns
        -------
        loss : ndarray of shape (n,)
            Bound on the absolute privacy loss of each person in nats.
        """
        check_is_fitted(self, "privacy_spent_")
        codes = encode_asked(self, X, self._codebook, self._unknown)
        return np.full(len(codes), release_loss(self.privacy_spent_, rho))

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        # not before somebody has declared the categories of its columns
        tags.input_tags.two_d_array = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = getattr(self, "random_state", None) is None
        return tags
