"""The report of a fitted estimator, or why it has none."""

from typing import Any

from skdp.pdp._report import PublishedReport

__all__ = ["report_of"]


def report_of(estimator: Any) -> PublishedReport:
    """Return what a fitted estimator published about the losses of people.

    Raises
    ------
    TypeError
        If it publishes no report.
    """
    report = getattr(estimator, "report_", None)
    if isinstance(report, PublishedReport):
        return report
    name = type(estimator).__name__
    if hasattr(estimator, "report_"):  # an estimator that has one for other fits
        raise TypeError(
            f"this fit of {name} publishes no report. Allowed: a fit of two classes "
            "with metric='identity'. Fit so, or ask the estimator for pdp_loss."
        )
    raise TypeError(
        f"the estimator publishes no report, got {name}. Allowed: a fitted estimator "
        "with an attribute report_, such as ObjPertLogisticRegression, or for "
        "skdp.published_report a pipeline that ends in one. Ask other private "
        "estimators for pdp_loss."
    )
