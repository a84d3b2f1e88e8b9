"""Private draws from a column of categories."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skdp._published import PrivateEstimatorMixin
from skdp._typing import FloatArray
from skdp._validation import check_count
from skdp.accounting import Adjacency, PrivacyPart, PrivacySpent
from skdp.exceptions import BudgetExceededError
from skdp.mechanisms import (
    DataSpecificROO,
    NoisyHistogram,
    RevealOrObscure,
)
from skdp.random import integer_weighted
from skdp.rows import Alphabet
from skdp.synthesis._column import enter_column
from skdp.synthesis._plan import Plan, check_delta_of, plan
from skdp.synthesis._projection import as_weights, nearest_distribution
from skdp.synthesis._published_loss import published_loss
from skdp.synthesis._settings import SamplerSettings, alphabet_of, read_settings
from skdp.synthesis._table_settings import warn_seeded

__all__ = ["ROOSampler"]


class ROOSampler(PrivateEstimatorMixin, BaseEstimator):
    r"""Draw categories from a private column, with a differential-privacy guarantee.

    ``fit`` pays for all draws, makes them and forgets the counts; ``sample`` hands them
    out. A draw shows a symbol with a probability that one person's record changes by a
    factor of at most :math:`e^{\varepsilon}`: counts are flattened where they are small
    (envelope), or mixed with the uniform law (reveal or obscure, ROO).

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy loss bound in nats, from 1e-9 to 1e3, for all draws together. What is
        spent may be less, as very large ones are not used; ``epsilon_certified_``
        tells.
    delta : float, default=0.0
        0 for pure differential privacy. Above 0: draws by reveal-or-obscure under exact
        accounting (replace-one only), or a histogram with Gaussian noise. Must be below
        one over the number of records under replace-one.
    profile : {"auto", "envelope", "minimax", "roo", "ds-roo"}, default="auto"
        Weights of the categories. ``"auto"`` is the envelope, which leaves dense data
        as they are, or ROO with ``delta > 0``; ``"minimax"`` is the most accurate on
        the worst data; ``"ds-roo"`` is reveal-or-obscure whose probability to obscure
        falls with the rarest count (replace-one only). Where there are too few records
        for a profile to beat ROO, or epsilon is below 1e-5 or so, ROO is used;
        ``profile_`` tells.
    n_samples : int, default=1
        How many draws ``fit`` makes. They share epsilon.
    release : {"auto", "draws", "batch", "histogram"}, default="auto"
        Independent draws; draws without replacement, each through randomised response
        (``"batch"``, replace-one only); or one noisy histogram, from which any number
        of draws is free. ``"auto"`` picks, from public numbers only, what is most
        accurate on the worst data; one draw is a draw.
    categories : array-like, or "dtype"
        The public categories, in the order of ``categories_``. They must not be read
        off the data. ``"dtype"`` asserts that the levels of a pandas categorical column
        are public.
    adjacency : {"replace-one", "add-remove"}, default="replace-one"
        Neighbouring relation of the guarantee. Under replace-one the number of records
        is public.
    group_size : int, default=1
        Largest number of records one person owns; the guarantee covers all of them.
    handle_unknown : {"error", "other"}, default="error"
        Whether a value that is not declared raises, or counts as the last category.
        Missing values are such values, unless None is a category; then those of pandas
        columns, and None itself, are it.
    random_state : int, Generator, RandomState or None, default=None
        None draws from the operating system. Anything else makes the fit reproducible,
        for tests: ``privacy_spent_.releasable`` is then False.

    Attributes
    ----------
    categories_ : ndarray of shape (n_categories,)
        The declared categories.
    samples_ : ndarray of shape (n_samples,)
        The draws, released. Not there for a histogram.
    n_handed_out_ : int
        How many draws :meth:`sample` has handed out.
    probabilities_ : ndarray of shape (n_categories,)
        The released histogram, projected to probabilities. Only there for a histogram.
    profile_ : str
        Weights used; ``"none"`` for a histogram. Public.
    release_ : {"draws", "batch", "histogram"}
        What was released; public.
    mechanism_ : Mechanism
        The public constants of the release.
    privacy_spent_ : PrivacySpent
        What the fit cost, computed from the integers used.
    epsilon_certified_ : float
        Epsilon of all draws together, at ``delta``, rounded up.
    accuracy_bound_ : float
        Bound on the total variation distance between the law of one draw and the data,
        for a histogram on its mean. It depends on the number of records, so it is nan
        under add-remove; ``mechanism_.accuracy_bound(n)`` answers for any n.
    obscure_probability_ : float or ndarray
        Probability q of a uniform symbol, with the profile ``"roo"``; q_0, q_1, ... by
        the rarest count with ``"ds-roo"``. Only there under replace-one.
    n_features_in_ : int
        1.
    feature_names_in_ : ndarray of shape (1,)
        Name of the column, when X is a frame with a string name.

    Raises
    ------
    ValueError
        From ``fit``, for a parameter out of range, parameters that do not go together,
        X that is not one column, or a value that is not declared.
    TypeError
        From ``fit``, for a parameter of the wrong type.

    Notes
    -----
    .. rubric:: Privacy

    Adjacency as given. Assumes that the categories are public, that there is at least
    one record, that nobody owns more than ``group_size`` records and, with
    ``handle_unknown="error"``, that every value is declared. Draws are exact: integer
    weights, integer arithmetic, entropy of the operating system. Running time is not
    covered. Proofs: docs/proofs/count_weights.md, reveal_or_obscure.md,
    data_specific_roo.md, subsampled_response.md and noisy_histogram.md.

    References
    ----------
    Tasnim, Gilani, Sankar and Kosut, "Reveal-or-obscure: a differentially private
    sampling algorithm for discrete distributions", 2025. Raskhodnikova, Sivakumar,
    Smith and Swanberg, "Differentially private sampling from distributions", NeurIPS
    2021. Cheu and Nayak, "Differentially private multi-sampling from distributions",
    2024.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.synthesis import ROOSampler
    >>> X = np.repeat(["none", "one", "many"], [300, 150, 50])
    >>> sampler = ROOSampler(
    ...     epsilon=2.0, n_samples=5, release="draws",
    ...     categories=["none", "one", "many"])
    >>> draws = sampler.fit(X).sample(5)
    >>> draws.shape, set(draws) <= set(sampler.categories_)
    ((5,), True)
    >>> epsilon, delta = sampler.privacy_spent_
    >>> epsilon <= 2.0, delta, sampler.profile_
    (True, 0.0, 'envelope')
    >>> round(sampler.accuracy_bound_, 4)
    0.0036
    """

    _released: ClassVar[frozenset[str]] = frozenset(
        {
            "accuracy_bound_",
            "categories_",
            "epsilon_certified_",
            "feature_names_in_",
            "mechanism_",
            "n_features_in_",
            "n_handed_out_",
            "obscure_probability_",
            "privacy_spent_",
            "probabilities_",
            "profile_",
            "release_",
            "samples_",
            "_source",
            "_unknown",
            "_wrapper",
        }
    )

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        profile: str = "auto",
        n_samples: int = 1,
        release: str = "auto",
        categories: Any = None,
        adjacency: str = "replace-one",
        group_size: int = 1,
        handle_unknown: str = "error",
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.profile = profile
        self.n_samples = n_samples
        self.release = release
        self.categories = categories
        self.adjacency = adjacency
        self.group_size = group_size
        self.handle_unknown = handle_unknown
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> Self:
        """Make all draws, spend the budget, and forget the counts.

        Parameters
        ----------
        X : Series, array or frame of shape (n,) or (n, 1)
            One category a record.
        y : None
            Ignored; present by convention.

        Returns
        -------
        self : ROOSampler
            The fitted sampler; it holds released values and public constants only.
        """
        settings = read_settings(self)
        with self._whole_fit():
            self._fit(X, settings)
        warn_seeded(settings.source)
        return self

    def _fit(self, X: Any, settings: SamplerSettings) -> None:
        """Enter the column, choose by public numbers, count, release and publish."""
        column, wrapper = enter_column(self, X)
        alphabet, wrapper = alphabet_of(settings, column, wrapper)
        public = settings.request.adjacency is Adjacency.REPLACE_ONE
        n_rows = len(column) if public else None
        if n_rows is not None and len(alphabet) > 1:
            check_delta_of(settings.request.delta, n_rows)
        chosen = plan(settings.request, len(alphabet), n_rows)
        counts = alphabet.count(column, unknown=settings.unknown)
        output = chosen.mechanism.release(counts, settings.source).output
        self._forget_former_fit()
        self._publish(
            categories_=alphabet.values,
            _wrapper=wrapper,
            _source=settings.source,
            _unknown=settings.unknown,
        )
        self._publish_release(output, chosen)
        self._publish_constants(chosen, settings, n_rows)

    def _forget_former_fit(self) -> None:
        for name in (
            "samples_",
            "n_handed_out_",
            "probabilities_",
            "obscure_probability_",
        ):
            if hasattr(self, name):
                delattr(self, name)

    def _publish_release(self, output: FloatArray, chosen: Plan) -> None:
        mechanism = chosen.mechanism
        if isinstance(mechanism, NoisyHistogram):
            projected = nearest_distribution(output, mechanism.n_rows)
            self._publish(probabilities_=projected)
        elif chosen.release == "histogram":  # of one category
            self._publish(probabilities_=np.ones(1))
        else:
            drawn = self.categories_[output.astype(np.intp)]
            self._publish(samples_=drawn, n_handed_out_=0)

    def _publish_constants(
        self, chosen: Plan, settings: SamplerSettings, n_rows: int | None
    ) -> None:
        mechanism = chosen.mechanism
        spent = _spent(chosen, settings)
        alone = len(self.categories_) == 1
        bound = float("nan") if n_rows is None else mechanism.accuracy_bound(n_rows)
        self._publish(
            profile_=chosen.profile,
            release_=chosen.release,
            mechanism_=mechanism,
            privacy_spent_=spent,
            epsilon_certified_=spent.epsilon,
            accuracy_bound_=0.0 if alone else bound,
        )
        if isinstance(mechanism, DataSpecificROO):
            self._publish(obscure_probability_=mechanism.obscure_probabilities)
        elif isinstance(mechanism, RevealOrObscure) and n_rows is not None:
            self._publish(obscure_probability_=mechanism.obscure_probability)

    def sample(self, k: int = 1) -> Any:
        """Hand out the next draws; they were paid for in ``fit``.

        Parameters
        ----------
        k : int, default=1
            How many, >= 0; any number if the release was a histogram.

        Returns
        -------
        draws : ndarray of shape (k,), Series, or DataFrame of shape (k, 1)
            Of the kind of X, and of the dtype of ``categories_``.

        Raises
        ------
        BudgetExceededError
            If fewer than ``k`` are left. Nothing is handed out then.
        """
        check_is_fitted(self, "privacy_spent_")
        k = check_count("k", k, minimum=0, remedy="Say how many draws to take.")
        if self.release_ == "histogram":
            weights = as_weights(self.probabilities_)
            drawn = self.categories_[integer_weighted(weights, k, self._source)]
            return self._wrapper(drawn)
        start, paid = self.n_handed_out_, len(self.samples_)
        if k > paid - start:
            raise BudgetExceededError(
                f"{k} draws were asked for, got {paid - start} left of {paid} that "
                f"were paid for. Allowed: up to {paid - start}. Fit with a larger "
                "n_samples; its draws share epsilon."
            )
        self._publish(n_handed_out_=start + k)
        return self._wrapper(self.samples_[start : start + k].copy())

    def pdp_loss(self, X: Any, y: object = None, *, rho: float = 1e-6) -> FloatArray:
        """Bound what this release cost each person, from her own record alone.

        Anyone may call it about anyone, at no privacy cost: it reads the records asked
        about, released values and public constants.

        Parameters
        ----------
        X : Series, array or frame of shape (n,) or (n, 1)
            The records asked about, in the data or not.
        y : None
            Ignored; present by convention.
        rho : float, default=1e-6
            Probability, over the noise of the fit, that the bound fails for one record
            fixed beforehand. Only a histogram with Gaussian noise uses it; the other
            bounds always hold.

        Returns
        -------
        loss : ndarray of shape (n,)
            Bound on the absolute privacy loss of each person in nats.

        Raises
        ------
        ValueError
            If ``rho`` is out of range, or a record is not of a declared category.
        """
        check_is_fitted(self, "privacy_spent_")
        column, _ = enter_column(self, X, reset=False)
        alphabet = Alphabet(self.categories_)
        codes = alphabet.encode(column, unknown=self._unknown)
        drawn = None
        if self.release_ != "histogram":
            drawn = alphabet.count(self.samples_)
        return published_loss(self.mechanism_, codes, drawn, rho=rho)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        # a table of one column is read too, but nothing wider
        tags.input_tags.two_d_array = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.handle_unknown == "other"
        tags.non_deterministic = self.random_state is None
        return tags


def _spent(chosen: Plan, settings: SamplerSettings) -> PrivacySpent:
    guarantee = chosen.mechanism.guarantee
    assumptions = guarantee.assumptions + settings.assumptions
    guarantee = replace(guarantee, assumptions=assumptions)
    name = type(chosen.mechanism).__name__
    seeded = settings.source.seeded
    return PrivacySpent(
        guarantee,
        settings.request.delta,
        parts=(PrivacyPart(name, guarantee),),
        releasable=not seeded,
        level="research" if seeded else "exact",
    )
