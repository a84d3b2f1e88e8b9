"""Predictions of labels, and of their probabilities, from margins."""

from typing import Any

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags

from skdp._typing import FloatArray, MatrixLike
from skdp.linear_model._objective_fit import ObjectiveEstimator

__all__ = ["LabelPredictions", "ProbabilityPredictions"]


class LabelPredictions(ClassifierMixin, ObjectiveEstimator):
    """One margin a row for two labels, else one for each label."""

    def _publish_line(self, coef: FloatArray, intercept: FloatArray) -> None:
        """Publish the coefficients in the shapes of a classifier."""
        self._publish(coef_=np.atleast_2d(coef), intercept_=np.atleast_1d(intercept))

    def decision_function(self, X: MatrixLike) -> FloatArray:
        """Return the margin ``X @ coef_.T + intercept_`` of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; not clipped.

        Returns
        -------
        margin : ndarray of shape (n_samples,), or (n_samples, n_classes)
            Of two labels one margin, positive for ``classes_[1]``; where y held one
            label, the sign says nothing. Of more labels one for each.
        """
        return self._line(X)

    def predict(self, X: MatrixLike) -> Any:
        """Return the label whose margin is largest.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        margin = self.decision_function(X)
        if margin.ndim == 2:
            return self.classes_[margin.argmax(axis=1)]
        # where one label was read from y there is nothing to choose
        positive = (margin > 0).astype(np.intp)
        return self.classes_[positive * (self.classes_.size - 1)]

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._takes_several()
        tags.classifier_tags.poor_score = True
        return tags


class ProbabilityPredictions(LabelPredictions):
    """The same with the probability of each label."""

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return the probability of each label; stable for margins of any size.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        margin = self._finite_margins(X)
        if margin.ndim == 2:
            return softmax(margin, axis=1)
        if self.classes_.size == 1:
            return np.ones((margin.size, 1))
        return np.column_stack([expit(-margin), expit(margin)])

    def predict_log_proba(self, X: MatrixLike) -> FloatArray:
        """Return the log probability of each label; finite where it is a float.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        margin = self._finite_margins(X)
        if margin.ndim == 2:
            return log_softmax(margin, axis=1)
        if self.classes_.size == 1:
            return np.zeros((margin.size, 1))
        return np.column_stack([log_expit(-margin), log_expit(margin)])

    def _finite_margins(self, X: MatrixLike) -> FloatArray:
        """Return margins whose differences are floats, where there are several."""
        margin = self.decision_function(X)
        if margin.ndim == 1:
            return margin
        # infinity less infinity is no number
        most = np.finfo(np.float64).max / 4
        return np.clip(margin, -most, most)
