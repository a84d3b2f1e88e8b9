"""What each loss costs, and how private regressions compare at equal privacy.

    OMP_NUM_THREADS=1 python benchmarks/linear_losses.py
    OMP_NUM_THREADS=1 python benchmarks/linear_losses.py --quick

The first table is made of public constants alone: the noise of each loss over that of
one Gaussian release of a gradient, and the default ridge in units of the squared row
norm. The second fits every regressor with its defaults on generated tables and prints
the mean squared error above that of least squares, over the variance of y: 0 is as good
as without privacy, 1 as bad as a constant. One row more or less, delta = 1e-6.
"""

import argparse
import sys
from dataclasses import dataclass
from functools import partial

import numpy as np

from skdp.accounting import ApproximateDP
from skdp.linear_model import AdaSSPRegressor, ASAPRegressor, ObjPertRegressor
from skdp.losses import (
    ClippedPoissonLoss,
    HuberLoss,
    LogCoshLoss,
    LogisticLoss,
    PseudoHuberLoss,
    SmoothedHingeLoss,
    SmoothedQuantileLoss,
    SoftmaxLoss,
)
from skdp.mechanisms import (
    GaussianMechanism,
    ObjectivePerturbation,
    SoftmaxPerturbation,
)

DELTA = 1e-6
LOSSES = {
    "logistic": LogisticLoss(),
    "softmax, 3 classes": SoftmaxLoss(3),
    "softmax, 10 classes": SoftmaxLoss(10),
    "smoothed hinge": SmoothedHingeLoss(),
    "log-cosh": LogCoshLoss(),
    "pseudo-Huber": PseudoHuberLoss(),
    "Huber": HuberLoss(),
    "quantile 0.5": SmoothedQuantileLoss(quantile=0.5, width=0.02),
    "quantile 0.9": SmoothedQuantileLoss(quantile=0.9, width=0.02),
    "Poisson": ClippedPoissonLoss(),
}
REGRESSORS = {
    "log-cosh": ObjPertRegressor,
    "pseudo-Huber": lambda **kw: ObjPertRegressor(loss="pseudo-huber", **kw),
    "Huber": lambda **kw: ObjPertRegressor(loss="huber", **kw),
    "AdaSSP": AdaSSPRegressor,
    "draw": lambda **kw: ASAPRegressor(loss="huber", **kw),
}


@dataclass(frozen=True)
class Table:
    """Generated rows within the unit ball, and targets around a line in [-1, 1]."""

    n: int
    d: int
    outliers: float = 0.0

    @property
    def name(self):
        return f"{self.d} | {self.n} | {self.outliers:.0%}"

    def rows(self, seed):
        """Return X, y, and y before the outliers came."""
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((self.n, self.d))
        X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
        theta = rng.standard_normal(self.d)
        line = X @ (theta / np.linalg.norm(theta)) * 0.3 * np.sqrt(self.d)
        clean = 0.2 + np.clip(line + 0.1 * rng.standard_normal(self.n), -0.8, 0.8)
        return X, np.where(rng.random(self.n) < self.outliers, -1.0, clean), clean


TABLES = [
    Table(2_000, 5),
    Table(20_000, 5),
    Table(20_000, 5, outliers=0.05),
    Table(20_000, 30),
    Table(200_000, 30),
]


def price(loss, epsilon):
    """Return noise over that of a Gaussian release, and ridge over R^2."""
    target = ApproximateDP(epsilon, DELTA)
    if isinstance(loss, SoftmaxLoss):
        calibrate = partial(SoftmaxPerturbation.calibrate, n_classes=loss.n_classes)
    else:
        calibrate = partial(ObjectivePerturbation.calibrate, loss=loss)
    found = calibrate(target, radius=1.0, n_coefficients=10)
    least = GaussianMechanism.calibrate(target, l2_sensitivity=1.0, n_features=10)
    steepest = loss.constants(1.0).lipschitz
    return found.noise_law.scale / steepest / least.noise_law.scale, found.alpha


def excess(make, table, epsilon, seed):
    """Return the squared error above that of least squares, over the variance of y."""
    X, y, clean = table.rows(seed)
    Z = np.column_stack([X, np.ones(len(X))])
    best = clean - Z @ np.linalg.lstsq(Z, clean, rcond=None)[0]
    model = make(bounds_y=(-1.0, 1.0), epsilon=epsilon, delta=DELTA).fit(X, y)
    error = clean - model.predict(X)
    return (np.mean(error**2) - np.mean(best**2)) / np.var(clean)


def print_prices(epsilons):
    columns = [f"{what}, eps={e:g}" for what in ("noise", "ridge") for e in epsilons]
    print("| loss | " + " | ".join(columns) + " |")
    print("| --- |" + " ---: |" * len(columns))
    for name, loss in LOSSES.items():
        prices = [price(loss, epsilon) for epsilon in epsilons]
        cells = [f"{noise:.3f}" for noise, _ in prices]
        cells += [f"{ridge:.3g}" for _, ridge in prices]
        print(f"| {name} | " + " | ".join(cells) + " |")


def print_excess(tables, epsilons, n_seeds):
    print("| d | n | outliers | eps | " + " | ".join(REGRESSORS) + " |")
    print("| --- | --- | --- | --- |" + " ---: |" * len(REGRESSORS))
    for table in tables:
        for epsilon in epsilons:
            cells = []
            for make in REGRESSORS.values():
                scores = [excess(make, table, epsilon, seed) for seed in range(n_seeds)]
                cells.append(f"{np.mean(scores):.2g}")
            print(f"| {table.name} | {epsilon:g} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one small table")
    options = parser.parse_args()
    print_prices([1.0] if options.quick else [0.1, 1.0, 4.0])
    print()
    if options.quick:
        print_excess(TABLES[:1], [1.0], 1)
    else:
        print_excess(TABLES, [0.1, 1.0], 10)
    return 0


if __name__ == "__main__":
    sys.exit(main())
