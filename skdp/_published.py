"""What every private estimator does the same way: publish, and show its card."""

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, ClassVar

from sklearn import get_config
from sklearn.utils import estimator_html_repr

from skdp.accounting import PrivacySpent

__all__ = ["PrivateEstimatorMixin"]


class PrivateEstimatorMixin:
    """The window of the house: nothing leaves but declared, released attributes.

    Attributes
    ----------
    privacy_spent_ : PrivacySpent
        What the fit cost.
    """

    #: Every fitted attribute; each is released, public, or a declared assumption.
    _released: ClassVar[frozenset[str]] = frozenset()
    privacy_spent_: PrivacySpent

    def _publish(self, **attributes: Any) -> None:
        """Set fitted attributes, refusing any that is not declared as released."""
        undeclared = sorted(set(attributes) - self._released)
        if undeclared:
            raise AttributeError(
                f"{', '.join(undeclared)} would be published without being declared in "
                f"{type(self).__name__}._released."
            )
        for name, value in attributes.items():
            setattr(self, name, value)

    @contextmanager
    def _whole_fit(self) -> Iterator[None]:
        """Leave the attributes of the earlier fit, all or none, where this one fails.

        Half a fit would predict from one table's coefficients with another's columns.
        """
        before = self._fitted()
        try:
            yield
        except BaseException:
            for name in self._fitted():
                delattr(self, name)
            vars(self).update(before)
            raise

    def _fitted(self) -> dict[str, Any]:
        """Return what a fit left, as it is declared and by scikit-learn's naming."""
        return {
            name: value
            for name, value in vars(self).items()
            if name in self._released
            or (name.endswith("_") and not name.startswith("_"))
        }

    def _repr_html_(self) -> str:
        """Return the diagram of the estimator followed by its privacy card."""
        diagram: str = estimator_html_repr(self)
        spent = getattr(self, "privacy_spent_", None)
        if spent is None:
            card = "<p>Not fitted: no privacy spent.</p>"
        else:
            card = spent._repr_html_()
        name = escape(type(self).__name__)
        return f'<div aria-label="{name}">{diagram}{card}</div>'

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return what notebooks show: text, and the HTML when diagrams are wanted."""
        bundle = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._repr_html_()
        return bundle
