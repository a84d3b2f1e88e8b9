"""Several records of one person, and several fits on one record."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

from skdp.accounting import compose
from skdp.synthesis import ROOSampler

EPSILON, MOST = 1.0, 2


def counts_of(people, most):
    """Return the histogram of the first records of each person, and of a crowd."""
    rows = [(i, symbol) for i, person in enumerate(people) for symbol in person]
    frame = pd.DataFrame(rows, columns=["person", "symbol"]).astype(int)
    kept = frame.groupby("person").head(most)
    return np.bincount(kept["symbol"], minlength=2) + np.array([0, 50])


def worst_loss(most, longest):
    """Add a person with up to ``longest`` records to everything two others may hold."""
    weights = (
        ROOSampler(
            categories=[0, 1],
            epsilon=EPSILON,
            adjacency="add-remove",
            group_size=MOST,
        )
        .fit([0])
        .mechanism_.weights
    )

    def logs(people):
        found = weights(counts_of(people, most))
        return np.log(found / found.sum())

    one = [
        person
        for length in range(longest + 1)
        for person in itertools.product((0, 1), repeat=length)
    ]
    new = [person for person in one if person]
    return max(
        float(np.abs(logs((*others, person)) - logs(others)).max())
        for others in itertools.product(one[:3], repeat=2)
        for person in new
    )


def test_the_first_records_of_each_person_cost_what_a_group_of_as_many_does():
    assert 0.9 * EPSILON < worst_loss(most=MOST, longest=3) <= EPSILON


def test_more_records_than_were_declared_cost_more():
    assert worst_loss(most=3, longest=3) > 1.2 * EPSILON


def test_folds_and_candidates_of_a_search_add_up(monkeypatch):
    """Each record is in four of five folds, for each of three candidates."""
    fits, fit = [], ROOSampler.fit

    def recorded(self, X, y=None):
        fit(self, X)
        fits.append((set(X.index), self.privacy_spent_.guarantee))
        return self

    monkeypatch.setattr(ROOSampler, "fit", recorded)
    X = pd.Series(np.repeat(["a", "b"], 50))
    search = GridSearchCV(
        ROOSampler(categories=["a", "b"], epsilon=0.1),
        {"profile": ["envelope", "minimax", "roo"]},
        cv=5,
        scoring=lambda sampler, X, y=None: -sampler.accuracy_bound_,
    )
    search.fit(X)
    *in_folds, refit = fits
    assert len(in_folds) == 15
    for record in X.index:
        spent = [guarantee for rows, guarantee in in_folds if record in rows]
        assert len(spent) == 4 * 3
        assert compose(*spent).epsilon(0.0) == pytest.approx(12 * 0.1, rel=0.01)
        assert record in refit[0]
    total = compose(*spent, refit[1])
    assert total.epsilon(0.0) == pytest.approx(13 * 0.1, rel=0.01)
    assert search.best_estimator_.privacy_spent_.epsilon <= 0.1  # of the refit alone
