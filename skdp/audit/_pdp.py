"""The exact per-instance loss of a fitted estimator: for the curator's eyes only."""

from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdp._typing import BoolArray, FloatArray, MatrixLike
from skdp._validation import check_choice
from skdp.audit._sampler_pdp import sampler_loss
from skdp.linear_model._reporting import objective_mechanism
from skdp.mechanisms import (
    AdaSSP,
    PreconditionedObjectivePerturbation,
    SoftmaxPerturbation,
)
from skdp.pdp import exact_loss, exact_moments_loss, exact_softmax_loss
from skdp.rows import PrivateRows
from skdp.synthesis import ROOSampler

__all__ = ["exact_pdp_loss"]


def exact_pdp_loss(
    est: Any,
    X_train: MatrixLike,
    y_train: MatrixLike | None,
    X: MatrixLike,
    y: MatrixLike | None,
    *,
    signed: bool = True,
    kind: Literal["auto", "member", "non-member"] = "auto",
) -> FloatArray:
    """Return what the release really cost each person. NOT FOR RELEASE.

    Of everything that was released together: the coefficients, and a noisy Hessian and
    gradient where ``pdp_report`` asked for them. The result is a function of
    everybody's rows. Publish ``est.pdp_loss`` instead.

    Parameters
    ----------
    est : estimator
        Fitted private estimator, or a :class:`~skdp.synthesis.ROOSampler` of draws.
    X_train, y_train : array-like of shape (n_train, n_features) and (n_train,)
        The data it was fitted on; for a sampler one column, and None.
    X, y : array-like of shape (n, n_features) and (n,)
        The people asked about; for a sampler one column, and None.
    signed : bool, default=True
        Whether to keep the sign: positive where the release speaks for the data set
        that was used. False gives absolute values.
    kind : {"auto", "member", "non-member"}, default="auto"
        Whether each row is one of the training rows. "auto" compares the rows and
        labels with the training data.

    Returns
    -------
    loss : ndarray of shape (n,)
        Nats. For a member ``log p(out | D) - log p(out | D without her)``, for others
        ``log p(out | D) - log p(out | D with her)``. Under replace-one, at the
        replacement for which it is farthest from 0.

    Raises
    ------
    TypeError
        If ``est`` is not a private estimator itself.
    ValueError
        If ``kind`` is not one of the choices, the shapes do not fit, or a sampler
        released a histogram, or the model was fitted in a private metric.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.audit import exact_pdp_loss
    >>> from skdp.linear_model import ObjPertLogisticRegression
    >>> X = np.tile([[0.6, -0.4], [-0.5, 0.7]], (50, 1))
    >>> y = np.tile([1, 0], 50)
    >>> model = ObjPertLogisticRegression(epsilon=1.0, classes=[0, 1]).fit(X, y)
    >>> loss = exact_pdp_loss(model, X, y, X, y)
    >>> bool((abs(loss) <= model.pdp_loss(X, y)).all())
    True
    """
    check_choice(
        "kind",
        kind,
        ["auto", "member", "non-member"],
        remedy="Use 'auto' to compare the rows with the training data.",
    )
    if isinstance(est, ROOSampler):
        check_is_fitted(est)
        loss = sampler_loss(est, X_train, X, kind)
        return loss if signed else np.abs(loss)
    check_private(est)
    train = est._query_rows(X_train, y_train)
    same = X is X_train and y is y_train
    rows = train if same else est._query_rows(X, y)
    member = None
    if kind == "non-member" or (kind == "auto" and not same):
        member = _membership(train, rows, compare=kind == "auto")
    check_one_release(est)
    if isinstance(est.mechanism_, AdaSSP):
        loss = exact_moments_loss(est.mechanism_, est._output(), train, rows, member)
    elif isinstance(est.mechanism_, SoftmaxPerturbation):
        loss = exact_softmax_loss(est.mechanism_, est._theta(), train, rows, member)
    else:
        report = getattr(est, "report_", None)
        loss = exact_loss(
            objective_mechanism(est.mechanism_),
            est._theta(),
            train,
            rows,
            member,
            hessian=getattr(report, "hessian", None),
            gradient=getattr(report, "gradient", None),
        )
    return loss if signed else np.abs(loss)


def check_private(est: Any) -> None:
    """Raise unless ``est`` is a fitted private estimator, not a pipeline around one."""
    if not hasattr(est, "_query_rows"):
        raise TypeError(
            f"est is not a private estimator, got {type(est).__name__}. Allowed: a "
            "fitted estimator of this package. For a pipeline pass its last step, and "
            "the data as that step saw them: pipeline[-1] and "
            "pipeline[:-1].transform(X)."
        )
    check_is_fitted(est)


def check_one_release(est: Any) -> None:
    """Refuse a fit in a private metric, whose weights and centre depend on the rows."""
    if isinstance(est.mechanism_, PreconditionedObjectivePerturbation):
        raise ValueError(
            "exact numbers are computed for one objective in the columns as they are, "
            f"got {type(est).__name__} fitted in a private metric. Allowed: fits with "
            "metric='identity'. Fit again with that, or use est.pdp_loss, which bounds "
            "the loss of everybody."
        )


def _membership(train: PrivateRows, rows: PrivateRows, *, compare: bool) -> BoolArray:
    """Return, for each row asked about, whether the training data hold the same."""
    keys = [_keys(X, y) for X, y in rows.blocks]
    asked = np.concatenate(keys) if keys else np.zeros(0, dtype="V8")
    found = np.zeros(asked.size, dtype=bool)
    if compare:
        for X, y in train.blocks:
            found |= np.isin(asked, _keys(X, y))
    return found


def _keys(X: MatrixLike, y: FloatArray) -> np.ndarray:
    """Return each row with its label as one value of raw bytes.

    The rows as given, not as clipped: the last bit of a norm depends on how a table
    lies in memory.
    """
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    # adding 0.0 turns -0.0 into 0.0, so that equal rows have equal bytes
    table = np.ascontiguousarray(np.column_stack([dense, y]), dtype=np.float64) + 0.0
    return table.view(np.dtype((np.void, table.dtype.itemsize * table.shape[1])))[:, 0]
