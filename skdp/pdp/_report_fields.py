"""The fields of a published report: checked when made, exact as JSON."""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from skdp.accounting import Adjacency, Guarantee
from skdp.losses import LogisticLoss, Loss
from skdp.mechanisms import (
    GaussianNoise,
    KNormNoise,
    LatticeSmoothing,
    ObjectivePerturbation,
)
from skdp.mechanisms._smoothing import LatticeLaw
from skdp.pdp._people import ColumnScaling
from skdp.pdp._report_checks import (
    LARGEST,
    LEAST,
    bad_field,
    check_choice_field,
    check_keys,
    check_labels,
    check_names,
    check_number,
    check_numbers,
    read_record,
    write_record,
)
from skdp.pdp._statistic import ReleasedStatistic
from skdp.random._symmetric import triangle_size
from skdp.rows import L2Ball

__all__ = ["LEVELS", "SCHEMA", "ReportFields"]

#: The version of the fields; another one is refused, never guessed at.
SCHEMA = "skdp.report/1"
#: What a report is computed from, from the least to the most that is released.
LEVELS = ("data-independent", "hessian", "gradient")
#: Losses by the name under which a report speaks of them.
_LOSSES: dict[str, type[Loss]] = {"logistic": LogisticLoss}
#: The largest float below one.
_BELOW_ONE = 1.0 - 2.0**-53
#: Numbers of a report and where they lie.
_RANGES = {
    "epsilon": (0.0, 1e9),
    "delta": (0.0, _BELOW_ONE),
    "data_norm": (1e-100, 1e100),
    "intercept_scaling": (0.0, 1e100),
    "alpha": (LEAST, LARGEST),
    "noise_scale": (LEAST, LARGEST),
    "gradient_tol": (LEAST, LARGEST),
    "smoothing_scale": (LEAST, LARGEST),
    "smoothing_error": (LEAST, LARGEST),
    "smoothing_step": (LEAST, LARGEST),
}
_STATISTICS = ("hessian", "gradient")
_SCALING = ("column_lower", "column_upper", "column_shift", "column_scale")


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportFields:
    """What :class:`skdp.pdp.PublishedReport` holds; see there."""

    schema: str = SCHEMA
    level: str = LEVELS[0]
    loss_name: str = "logistic"
    loss_params: tuple[tuple[str, float], ...] = ()
    adjacency: str
    epsilon: float
    delta: float
    rho: float | None
    data_norm: float
    intercept_scaling: float
    column_lower: tuple[float, ...] | None = None
    column_upper: tuple[float, ...] | None = None
    column_shift: tuple[float, ...] | None = None
    column_scale: tuple[float, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    classes: tuple[Any, ...]
    alpha: float
    noise: str
    noise_scale: float
    gradient_tol: float
    smoothing_scale: float
    smoothing_error: float
    smoothing_step: float
    theta: tuple[float, ...]
    hessian: ReleasedStatistic | None = None
    gradient: ReleasedStatistic | None = None

    def __post_init__(self) -> None:
        """Refuse fields that are out of range or contradict each other."""
        self._check_words()
        for name, (least, most) in _RANGES.items():
            value = getattr(self, name)
            self._set(name, check_number(name, value, least=least, most=most))
        self._check_rho()
        if not isinstance(self.theta, list | tuple | np.ndarray):
            self._set("theta", check_numbers("theta", self.theta, 1))
        self._set("theta", check_numbers("theta", self.theta, max(1, len(self.theta))))
        if self.n_features < 1:
            raise bad_field("theta", "holds no feature", "one number a coefficient")
        self._check_columns()
        self._check_statistics()
        self._set("classes", check_labels("classes", self.classes))
        try:
            self._costs()
        except (ValueError, OverflowError) as error:
            raise ValueError(
                f"the fields of the report contradict each other: {error}. Take the "
                "report as its maker wrote it."
            ) from error

    def _costs(self) -> list[Guarantee]:
        """Return the cost of each part; a part refuses numbers that do not fit."""
        statistics = (self.hessian, self.gradient)
        steps = [part.step.guarantee for part in statistics if part is not None]
        return [self._mechanism().guarantee, *steps]

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_words(self) -> None:
        words = {
            "schema": (SCHEMA,),
            "level": LEVELS,
            "adjacency": [relation.value for relation in Adjacency],
            "noise": ("gaussian", "k-norm"),
        }
        for name, choices in words.items():
            value = check_choice_field(name, getattr(self, name), choices)
            self._set(name, value)
        check_choice_field("loss", self.loss_name, _LOSSES)
        if self.loss_params != ():
            raise bad_field("loss_params", "is not that of the loss", "no parameters")

    def _check_rho(self) -> None:
        gaussian = self.noise == "gaussian"
        if gaussian != (self.delta > 0.0):
            raise bad_field("delta", "does not go with the noise", "0 for k-norm noise")
        if gaussian:
            rho = check_number("rho", self.rho, least=1e-300, most=_BELOW_ONE)
            self._set("rho", rho)
        elif self.rho is not None:
            raise bad_field(
                "rho", "does not go with the noise", "null for k-norm noise"
            )

    def _check_columns(self) -> None:
        given = [getattr(self, name) is not None for name in _SCALING]
        if any(given):
            for name in _SCALING:
                numbers = check_numbers(
                    name,
                    getattr(self, name),
                    self.n_features,
                    positive=name == "column_scale",
                )
                self._set(name, numbers)
            lower, upper = np.array(self.column_lower), np.array(self.column_upper)
            if (lower > upper).any():
                raise bad_field("column_lower", "is above column_upper", "at most it")
        if self.feature_names is not None:
            names = check_names("feature_names", self.feature_names, self.n_features)
            self._set("feature_names", names)

    def _check_statistics(self) -> None:
        d = len(self.theta)
        # a field, how many numbers it holds, and the first level that releases it
        for name, size, first in (
            ("hessian", triangle_size(d), "hessian"),
            ("gradient", d, "gradient"),
        ):
            statistic = getattr(self, name)
            if LEVELS.index(self.level) < LEVELS.index(first):
                if statistic is not None:
                    raise bad_field(name, "goes with another level", "null")
            elif not isinstance(statistic, ReleasedStatistic):
                raise bad_field(name, "is missing", "a noisy statistic")
            else:
                check_numbers(f"{name}.values", statistic.values, size)
        add_remove = self.adjacency == Adjacency.ADD_REMOVE.value
        if self.hessian is not None and not (self.noise == "gaussian" and add_remove):
            what = "goes with Gaussian noise and add-remove alone"
            raise bad_field("level", what, repr(LEVELS[0]))

    @property
    def n_features(self) -> int:
        """Number of columns that a row has."""
        return len(self.theta) - (self.intercept_scaling > 0.0)

    def _ball(self) -> L2Ball:
        return L2Ball(self.data_norm, self.intercept_scaling)

    def _scaling(self) -> ColumnScaling | None:
        if self.column_scale is None:
            return None
        return ColumnScaling(*(np.array(getattr(self, name)) for name in _SCALING))

    def _mechanism(self) -> ObjectivePerturbation:
        """Return the mechanism that made the release, from its public constants."""
        gaussian = self.noise == "gaussian"
        adjacency = Adjacency(self.adjacency)
        return ObjectivePerturbation(
            radius=self._ball().radius,
            n_coefficients=len(self.theta),
            alpha=self.alpha,
            noise_law=(GaussianNoise if gaussian else KNormNoise)(self.noise_scale),
            smoothing=LatticeSmoothing(
                law=LatticeLaw.GAUSSIAN if gaussian else LatticeLaw.LAPLACE,
                error=self.smoothing_error,
                n_features=len(self.theta),
                grid=self.smoothing_step,
                # the step is a power of two: nothing is rounded
                multiple=self.smoothing_scale / self.smoothing_step,
                adjacency=adjacency,
            ),
            adjacency=adjacency,
        )

    def to_json(self) -> str:
        """Return the report as JSON, each float exact.

        Returns
        -------
        str
            One JSON object; :meth:`from_json` rebuilds an equal report.

        Raises
        ------
        ValueError
            If the labels are of a kind that JSON cannot hold.
        """
        record = {_key(name): getattr(self, name) for name in _FIELDS}
        record["loss_params"] = dict(self.loss_params)
        for name in _STATISTICS:
            if record[name] is not None:
                record[name] = record[name].to_record()
        return write_record(record)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Rebuild the report that :meth:`to_json` wrote.

        Parameters
        ----------
        text : str
            The JSON text.

        Returns
        -------
        report : PublishedReport
            Equal to the original.

        Raises
        ------
        ValueError
            If the text is cut off, of another schema, has a field too few or too many,
            or a field holds what it may not; the message names the field.
        """
        record = read_record(text)
        check_choice_field("schema", record.get("schema"), [SCHEMA])
        record = check_keys("report", record, map(_key, _FIELDS))
        parameters = check_keys("loss_params", record["loss_params"], ())
        values = {name: record[_key(name)] for name in _FIELDS}
        values["loss_params"] = tuple(parameters.items())
        for name in _STATISTICS:
            if values[name] is not None:
                values[name] = ReleasedStatistic.from_record(name, values[name])
        return cls(**values)


#: The fields in the order of JSON.
_FIELDS = tuple(entry.name for entry in fields(ReportFields))


def _key(name: str) -> str:
    """Return the name of a field in JSON, where no method stands in its way."""
    return "loss" if name == "loss_name" else name
