"""Several classes: one softmax fit beside one private logistic fit a class.

    OMP_NUM_THREADS=1 python benchmarks/several_classes.py

Generated rows in which a softmax model is right. One-vs-rest takes each person into K
fits, which share the budget; it is charged as if they composed like Gaussian releases,
which flatters it, and runs in the private metric, which a softmax fit cannot. Its
probabilities are scaled to add up to one. What is printed, in Markdown, is the mean
training log-loss above that of a softmax fit without privacy, and the share of wrong
labels. One row more or less, delta = 1e-6.
"""

import argparse
import sys
import warnings

import numpy as np
from _peers import gaussian_mu
from scipy.optimize import brentq
from scipy.special import log_expit, log_softmax, logsumexp
from sklearn.linear_model import LogisticRegression

from skdp.exceptions import NotForReleaseWarning
from skdp.linear_model import ObjPertLogisticRegression

DELTA = 1e-6
CLASSES, EPSILONS = (3, 10), (0.5, 1.0, 4.0)
N_ROWS, N_COLUMNS = 20_000, 20


def make_rows(n_classes, seed):
    """Return rows of unit norm, and labels of a softmax model."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_ROWS, N_COLUMNS))
    theta = 2.0 * rng.standard_normal((N_COLUMNS, n_classes)) / np.sqrt(N_COLUMNS)
    scores = X @ theta + rng.standard_normal(n_classes)
    y = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def share(epsilon, n_fits):
    """Return the epsilon of each of so many fits, composed like Gaussian releases."""
    mu = gaussian_mu(epsilon, DELTA) / np.sqrt(n_fits)
    return brentq(lambda each: gaussian_mu(each, DELTA) - mu, 1e-3 * epsilon, epsilon)


def exact():
    return LogisticRegression(C=1e3, tol=1e-8, max_iter=1000)


def private(n_classes, epsilon, seed):
    return ObjPertLogisticRegression(
        epsilon=epsilon, delta=DELTA, classes=range(n_classes), random_state=seed
    )


def scores(model, X):
    return X @ model.coef_.T + model.intercept_


def together(model, X, y):
    """Return the log-probabilities of one fit to all classes."""
    return log_softmax(scores(model.fit(X, y), X), axis=1)


def one_by_one(models, X, y):
    """Return the log-probabilities of one fit a class, scaled to add up to one."""
    fits = [model.fit(X, (y == k).astype(int)) for k, model in enumerate(models)]
    logs = log_expit(np.hstack([scores(model, X) for model in fits]))
    return logs - logsumexp(logs, axis=1, keepdims=True)


def measure(n_classes, epsilon, seed):
    """Return log-loss and errors of each way: {name: (loss, error)}."""
    X, y = make_rows(n_classes, seed)
    each = share(epsilon, n_classes)
    seeds = range(1000 * seed, 1000 * seed + n_classes)
    ways = {
        "softmax, no privacy": together(exact(), X, y),
        "one-vs-rest, no privacy": one_by_one([exact() for _ in seeds], X, y),
        "softmax": together(private(n_classes, epsilon, seed), X, y),
        "one-vs-rest": one_by_one([private(2, each, s) for s in seeds], X, y),
    }
    rows = np.arange(len(y))
    return {
        name: (-logs[rows, y].mean(), np.mean(np.argmax(logs, axis=1) != y))
        for name, logs in ways.items()
    }


def lines(classes, epsilons, n_seeds):
    """Yield the lines of a Markdown table."""
    names = ["one-vs-rest, no privacy", "softmax", "one-vs-rest"]
    yield f"| K | eps | {' | '.join(names)} |"
    yield "| ---: | ---: |" + " ---: |" * len(names)
    for n_classes in classes:
        for epsilon in epsilons:
            found = [measure(n_classes, epsilon, seed) for seed in range(n_seeds)]
            best = np.mean([ways["softmax, no privacy"] for ways in found], axis=0)
            cells = []
            for name in names:
                loss, error = np.mean([ways[name] for ways in found], axis=0) - best
                cells.append(f"{loss:.4f}, {error:+.1%}")
            yield f"| {n_classes} | {epsilon:g} | {' | '.join(cells)} |"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--classes", type=int, nargs="+", default=CLASSES)
    parser.add_argument("--eps", type=float, nargs="+", default=EPSILONS)
    options = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotForReleaseWarning)
        for line in lines(options.classes, options.eps, options.seeds):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
