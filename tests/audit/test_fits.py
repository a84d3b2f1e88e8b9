"""An estimator, a maker of estimators and a function are audited alike."""

import warnings

import numpy as np

from skdp.audit import lower_bound
from skdp.linear_model import ObjPertLogisticRegression


def test_an_estimator_its_maker_and_its_fit_give_the_same_bound():
    D = (np.ones((3, 1)), [0, 0, 1])
    neighbour = (np.ones((2, 1)), [0, 0])

    def made():
        return ObjPertLogisticRegression(epsilon=1.0, classes=[0, 1])

    def fitted(data, random_state):
        return made().set_params(random_state=random_state).fit(*data)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bounds = [
            lower_bound(maker, D, neighbour, n_runs=60, random_state=0)
            for maker in (made(), made, fitted)
        ]
    assert bounds[0] == bounds[1] == bounds[2]
    assert bounds[0].epsilon <= 1.0
    assert lower_bound(made(), D, neighbour, n_runs=20).epsilon <= 1.0
