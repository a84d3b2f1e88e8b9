"""From columns to questions that a person can answer."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from skdp.pdp._page._columns import (
    ColumnDescription,
    Schema,
    check_description,
    check_finite,
    unknown_name,
)

__all__ = ["Choice", "Number", "label_question", "value_questions"]

#: Under what the schema describes the label, by scikit-learn's name of it.
_LABEL_KEY = "y"


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """A question whose answer is the value of one column."""

    label: str
    help: str = ""
    unit: str = ""
    min: float | None = None
    max: float | None = None
    column: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """A question with several answers.

    An answer is ``(text, values)``: what it sets, as pairs ``(column, value)``; for the
    label it is ``(text, sign)``, +1 or -1 or 0 for a label that nobody declared.
    """

    label: str
    help: str = ""
    answers: list[tuple[str, Any]] = field(default_factory=list)


def value_questions(
    names: Sequence[str] | None, n_features: int, schema: Schema | None
) -> list[dict[str, Any]]:
    """Return one question for each column, or each group of one-hot columns.

    The order is that of the schema; columns it does not mention follow.

    Parameters
    ----------
    names : sequence of str, optional
        Names of the columns. Without them a column is called by its position from 0.
    n_features : int
        Number of columns.
    schema : mapping, optional
        Public descriptions.

    Raises
    ------
    TypeError, ValueError
        If the schema is not one of these columns.
    """
    columns = _Columns(names, n_features, schema)
    questions = [columns.question(key, text) for key, text in columns.described()]
    return [asdict(question) for question in (*questions, *columns.rest())]


def label_question(
    classes: Sequence[object], names: Sequence[str] | None, schema: Schema | None
) -> dict[str, Any]:
    """Return the question for the person's label, undeclared labels included.

    Parameters
    ----------
    classes : sequence of one or two labels
        In sorted order: the last of two is +1.
    names : sequence of str, optional
        Names of the columns.
    schema : mapping, optional
        Its key ``"y"`` describes the label, unless a column has that name.
    """
    words: ColumnDescription = {}
    if schema is not None and _LABEL_KEY in schema and _LABEL_KEY not in (names or ()):
        words = check_description(_LABEL_KEY, schema[_LABEL_KEY])
        _no_range(words)
    signs = {0: -1, 1: 1}
    targets = words.get("categories", {str(label): label for label in classes})
    _same_labels(targets, classes)
    answers = [(text, signs[list(classes).index(t)]) for text, t in targets.items()]
    question = Choice(
        label=words.get("label", "Your label"),
        help=words.get("help", "The value that the model was made to predict."),
        answers=[*answers, ("None of these", 0)],
    )
    return asdict(question)


def _no_range(words: ColumnDescription) -> None:
    if not words.keys().isdisjoint({"min", "max", "unit"}):
        raise ValueError(
            f"schema['y'] describes a number, got {', '.join(words)}. Allowed: "
            "label, help and categories. The label is one of the declared classes."
        )


def _same_labels(targets: Mapping[str, object], classes: Sequence[object]) -> None:
    """Refuse answers that are not the declared labels, each once."""
    given = list(targets.values())
    if len(given) != len(classes) or any(label not in given for label in classes):
        raise ValueError(
            f"schema['y']['categories'] are not the labels, got {given!r}. Allowed: "
            f"one answer for each of {list(classes)!r}. Map each answer to a label."
        )


class _Columns:
    """The columns of a report, and which of them have a question already."""

    def __init__(
        self, names: Sequence[str] | None, n_features: int, schema: Schema | None
    ) -> None:
        if schema is not None and not isinstance(schema, Mapping):
            raise TypeError(
                f"schema is not a mapping, got {type(schema).__name__}. Allowed: a "
                "mapping from columns to descriptions, or None. Write for example "
                "{'age': {'label': 'Age', 'min': 18, 'max': 100}}."
            )
        self._schema = {} if schema is None else dict(schema)
        keys: Sequence[Hashable] = range(n_features) if names is None else names
        self._positions = {key: i for i, key in enumerate(keys)}
        if _LABEL_KEY not in self._positions:
            self._schema.pop(_LABEL_KEY, None)
        self._names = names
        self._open = dict(self._positions)

    def described(self) -> Iterator[tuple[Hashable, ColumnDescription]]:
        """Yield the checked descriptions."""
        for key, text in self._schema.items():
            yield key, check_description(key, text)

    def question(self, key: Hashable, words: ColumnDescription) -> Number | Choice:
        """Return the question of one description."""
        if "categories" not in words:
            return self._number(key, words)
        targets = words["categories"]
        named = [t for t in targets.values() if isinstance(t, str)]
        pairs = self._one_hot if named else self._coded
        values = pairs(key, targets)
        label = words.get("label", self._label(key))
        return Choice(
            label=label, help=words.get("help", ""), answers=list(values.items())
        )

    def rest(self) -> list[Number]:
        """Return the questions of the columns nobody described."""
        return [self._number(key, {}) for key in list(self._open)]

    def _number(self, key: Hashable, words: ColumnDescription) -> Number:
        return Number(
            label=words.get("label", self._label(key)),
            help=words.get("help", ""),
            unit=words.get("unit", ""),
            min=words.get("min"),
            max=words.get("max"),
            column=self._take(key, f"schema[{key!r}]"),
        )

    def _coded(
        self, key: Hashable, targets: Mapping[str, Any]
    ) -> dict[str, list[tuple[int, float]]]:
        """Read categories that are values of one column."""
        column = self._take(key, f"schema[{key!r}]")
        name = f"schema[{key!r}]['categories']"
        return {
            answer: [(column, check_finite(f"{name}[{answer!r}]", value))]
            for answer, value in targets.items()
        }

    def _one_hot(
        self, key: Hashable, targets: Mapping[str, Any]
    ) -> dict[str, list[tuple[int, float]]]:
        """Read categories that are columns of their own."""
        name = f"schema[{key!r}]['categories']"
        if any(not (t is None or isinstance(t, str)) for t in targets.values()):
            raise TypeError(
                f"{name} mix names and numbers, got {list(targets.values())!r}. "
                "Allowed: one-hot columns (and None), or values of one column. Use "
                "one kind for all answers."
            )
        columns = {a: self._take(t, name) for a, t in targets.items() if t is not None}
        return {
            answer: [(column, float(a == answer)) for a, column in columns.items()]
            for answer in targets
        }

    def _take(self, key: Hashable, problem: str) -> int:
        """Return the position of a column that has no question yet."""
        if key not in self._positions:
            raise unknown_name(f"{problem} names no column", key, self._positions)
        if key not in self._open:
            raise ValueError(
                f"{problem} fills a column twice, got {key!r}. Allowed: one question "
                "for each column. Remove one of the two."
            )
        return self._open.pop(key)

    def _label(self, key: Hashable) -> str:
        """Return what a column is called when nobody says how to ask for it."""
        if self._names is None and isinstance(key, int):
            return f"Feature {key + 1}"
        return str(key)
