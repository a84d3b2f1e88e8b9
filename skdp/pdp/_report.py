r"""What a fit publishes about privacy: public constants and released numbers, no more.

Notation (derived in docs/proofs/objective_perturbation.md, "Published bound")
------------------------------------------------------------------------------
theta    released vector, intercept coordinate last              -> ``theta``
alpha    ridge on the sum of the losses                          -> ``alpha``
sigma    scale of the noise of the objective                     -> ``noise_scale``
R, B0    bound on a row's norm, constant of the intercept        -> ``data_norm``,
                                                          ``intercept_scaling``
Delta    bound on the solver's error                             -> ``smoothing_error``
g, s     step of the lattice and scale of its noise              -> ``smoothing_step``,
                                                          ``smoothing_scale``
"""

from dataclasses import dataclass
from os import PathLike

import numpy as np

from skdp._typing import FloatArray, MatrixLike
from skdp._validation import check_choice
from skdp.pdp._bound import PublishedBound
from skdp.pdp._levels import Of, coefficients_bound, everything_bound
from skdp.pdp._page import Schema, write_page
from skdp.pdp._people import people
from skdp.pdp._published import Kind, bound_rows, check_question, published_bound
from skdp.pdp._report_fields import ReportFields
from skdp.rows import Labels, PrivateRows

__all__ = ["PublishedReport"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedReport(ReportFields):
    r"""What anyone needs to bound what a release cost a person, and nothing else.

    A report holds public constants and released numbers. It may be published whole: as
    JSON, as a page where people look up their own bound, or as part of the fitted
    model. A person's bound is computed from it and her own row, at no cost.

    Parameters
    ----------
    schema : str
        Version of the fields, ``"skdp.report/1"``.
    level : {"data-independent", "hessian", "gradient"}
        What the bound is computed from beside the coefficients: nothing, a noisy
        Hessian, or a noisy gradient as well.
    loss_name : {"logistic"}
        Loss of one row; ``"loss"`` in JSON.
    loss_params : tuple of (str, float) pairs
        Its parameters; none for the logistic loss.
    adjacency : {"add-remove", "replace-one"}
        Neighbouring relation of ``epsilon`` and ``delta``.
    epsilon, delta : float
        The guarantee of the release for everybody, in nats; ``delta`` in [0, 1).
    rho : float or None
        Probability that a bound fails for one row fixed beforehand, for Gaussian
        noise. None for K-norm noise: those bounds fail with probability < 1e-12.
    data_norm : float
        Bound on the norm of a row; longer rows count as clipped.
    intercept_scaling : float
        Constant that follows each clipped row; 0 without intercept.
    column_lower, column_upper, column_shift, column_scale : tuple of float, or None
        Public scaling of each column before the clipping of rows,
        ``(min(max(raw, lower), upper) - shift) / scale``; None for none.
    feature_names : tuple of str, or None
        Names of the columns, which are public.
    classes : tuple of one or two labels
        Sorted; the second counts as +1.
    alpha : float
        Ridge on the sum of the losses.
    noise : {"gaussian", "k-norm"}
        Law of the noise of the objective.
    noise_scale : float
        Its standard deviation, or inverse rate.
    gradient_tol : float
        Public bound on the gradient norm at the computed minimiser.
    smoothing_scale, smoothing_error, smoothing_step : float
        Noise scale of the final lattice step, the distance to the ideal point that it
        covers, and the step of the lattice.
    theta : tuple of float
        Released vector, intercept coordinate last: the intercept is
        ``intercept_scaling * theta[-1]``.
    hessian, gradient : ReleasedStatistic, or None
        Noisy Hessian and gradient of the sum of losses and ridge at ``theta``, where
        the level says so.

    Raises
    ------
    ValueError
        If a field is missing, out of range, or contradicts another.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.linear_model import ObjPertLogisticRegression
    >>> from skdp.pdp import PublishedReport
    >>> X = np.tile([[0.6, -0.4], [-0.5, 0.7]], (2000, 1))
    >>> y = np.tile(["sick", "well"], 2000)
    >>> model = ObjPertLogisticRegression(epsilon=1.0, classes=["sick", "well"])
    >>> text = model.fit(X, y).report_.to_json()
    >>> report = PublishedReport.from_json(text)
    >>> report == model.report_
    True
    >>> bool((report.loss(X, y) <= 1.0).all())
    True
    """

    def loss(
        self,
        X: MatrixLike,
        y: MatrixLike = None,
        *,
        kind: Kind = "either",
        rho: float | None = None,
        simultaneous: bool = False,
        of: Of = "everything",
    ) -> FloatArray:
        """Bound what the release cost each person, from her own row alone.

        Anyone may call it about anyone, at no privacy cost: it reads the row asked
        about and the report.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            The rows asked about, in the data or not. The columns of a DataFrame are
            found by name when the report holds names. One person may be given as
            ``loss((x, label))``, ``x`` a row or a mapping from names to values.
        y : array-like of shape (n_samples,)
            Their labels.
        kind : {"either", "member", "non-member"}, default="either"
            "either" bounds the absolute loss of anyone. "member" bounds the signed loss
            of people who are in the data: how far the release speaks for their being
            there. "non-member" bounds how far it speaks for the absence of people who
            are not.
        rho : float, default=None
            Probability, over the noise of the fit, that the bound fails for one row
            fixed beforehand; from 1e-300, below 1. None takes the report's. Not used
            with K-norm noise, whose bound fails with probability < 1e-12.
        simultaneous : bool, default=False
            Whether ``rho`` counts failures for any row at all, which covers rows chosen
            after a look at the report.
        of : {"everything", "coefficients"}, default="everything"
            Whose loss: that of all that was released, or of the coefficients alone,
            about which the other statistics tell. They are the same at the level
            "data-independent".

        Returns
        -------
        loss : ndarray of shape (n_samples,)
            Bound in nats; 0 for an undeclared label.

        Raises
        ------
        ValueError
            If an option is out of range, a feature is missing, the shapes do not fit,
            or an entry is not a finite number.
        TypeError
            If an entry or an option is of the wrong type.

        Examples
        --------
        >>> import numpy as np
        >>> from skdp.linear_model import ObjPertLogisticRegression
        >>> X = np.tile([[0.6, -0.4], [-0.5, 0.7]], (2000, 1))
        >>> y = np.tile(["sick", "well"], 2000)
        >>> model = ObjPertLogisticRegression(
        ...     delta=1e-6, alpha=40.0, classes=["sick", "well"])
        >>> report = model.fit(X, y).report_
        >>> either = report.loss(X, y)
        >>> member = report.loss(X, y, kind="member", rho=1e-3)
        >>> bool((member < either).all())
        True
        """
        bound = self.bound(kind=kind, rho=rho, simultaneous=simultaneous, of=of)
        rows, theta = self._rows(X, y), np.array(self.theta)
        return bound_rows(bound, self._mechanism().loss, theta, rows)

    def _rows(self, X: MatrixLike, y: MatrixLike) -> PrivateRows:
        """Return the rows asked about as the fit saw its own."""
        blocks = people(
            X,
            y,
            n_features=self.n_features,
            labels=Labels(list(self.classes)),
            names=self.feature_names,
            scaling=self._scaling(),
        )
        return PrivateRows(blocks, self._ball())

    def bound(
        self,
        *,
        kind: Kind = "either",
        rho: float | None = None,
        simultaneous: bool = False,
        of: Of = "everything",
    ) -> PublishedBound:
        """Return the public numbers with which the bound is a function of one row.

        Parameters
        ----------
        kind : {"either", "member", "non-member"}, default="either"
            As in :meth:`loss`.
        rho : float, default=None
            As in :meth:`loss`.
        simultaneous : bool, default=False
            As in :meth:`loss`.
        of : {"everything", "coefficients"}, default="everything"
            As in :meth:`loss`.

        Returns
        -------
        bound : PublishedBound
        """
        if rho is None:
            rho = 1e-6 if self.rho is None else self.rho
        least = 1e-300 if self.hessian is None else 1e-290
        rho = check_question(kind, rho, simultaneous, least=least)
        check_choice(
            "of",
            of,
            ("everything", "coefficients"),
            remedy="Use 'everything' for what a person lost in all.",
        )
        mechanism = self._mechanism()
        if self.hessian is None:
            return published_bound(
                mechanism, kind=kind, rho=rho, simultaneous=simultaneous
            )
        bound = everything_bound if of == "everything" else coefficients_bound
        return bound(
            mechanism,
            self.hessian,
            self.gradient,
            kind=kind,
            rho=rho,
            simultaneous=simultaneous,
        )

    def summary(self) -> str:
        """Return what the release promises and what a bound says, in words.

        Returns
        -------
        str
            A few lines, from public numbers only.
        """
        fails = "1e-12" if self.rho is None else f"{self.rho:g}"
        intercept = "with" if self.intercept_scaling else "without"
        lines = [
            f"Published privacy report ({self.schema}), level {self.level}",
            f"  worst case: epsilon = {self.epsilon:.4g} nats at delta = "
            f"{self.delta:g}, {self.adjacency}",
            f"  model: {self.loss_name} loss, {self.n_features} features, {intercept} "
            f"intercept, classes {list(self.classes)}",
            f"  public constants: rows within {self.data_norm:g}, alpha = "
            f"{self.alpha:.6g}, {self.noise} noise of scale {self.noise_scale:.6g}",
            f"  one person's bound fails with probability at most {fails}",
        ]
        return "\n".join(lines)

    def to_html(self, path: str | PathLike[str], schema: Schema | None = None) -> None:
        """Write a page on which anyone looks up her own bound.

        One file that holds the report, loads nothing, sends nothing, and works from
        disk: the bound is computed in the browser, and equals :meth:`loss`.

        Parameters
        ----------
        path : str or path-like
            The file to write, which is replaced if it exists.
        schema : mapping, optional
            Public descriptions of the columns, by name, or by position from 0 for a
            report without names: label, unit, range, help and categories. Under
            ``"y"``: the label, unless a column has that name.

        Raises
        ------
        TypeError, ValueError
            If the schema does not describe the columns of the report.
        """
        write_page(self, path, schema)
