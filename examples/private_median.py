"""A private median, and other quantiles, on a public grid of candidates.

A candidate is as good as the number of rows below it is close to the share wanted. One
row more or less moves that by at most the larger of the share and its complement: one
half for the median. No bound on the data is needed; the grid only decides how finely
the answer can be told, and rows outside it count like all others.

    python examples/private_median.py
"""

import numpy as np

from skdp.model_selection import PrivateSelector

AGES = range(121)


class QuantileScore:
    """Minus the distance between rows at or below a candidate and a share of all."""

    def __init__(self, share):
        self.share = share

    def __call__(self, candidate, X, y=None):
        # a multiple of the share's last binary place, so computed without rounding
        return -abs(int(np.sum(X[:, 0] <= candidate)) - self.share * len(X))

    @property
    def sensitivity(self):
        return max(self.share, 1 - self.share)


def main():
    ages = np.random.default_rng(0).gamma(9.0, 4.5, size=(2_000, 1)).round()
    print("| share | exact | epsilon 0.1 | epsilon 1 | sensitivity |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for share in (0.25, 0.5, 0.75):
        score = QuantileScore(share)
        chosen = []
        for epsilon in (0.1, 1.0):
            selector = PrivateSelector(
                AGES, score, epsilon=epsilon, sensitivity=score.sensitivity
            )
            chosen.append(selector.fit(ages).best_candidate_)
        exact = np.quantile(ages, share, method="inverted_cdf")
        cells = f"{exact:.0f} | {chosen[0]} | {chosen[1]} | {score.sensitivity}"
        print(f"| {share} | {cells} |")

    median = QuantileScore(0.5)
    selector = PrivateSelector(AGES, median, sensitivity=median.sensitivity).fit(ages)
    reach = selector.mechanism_.utility_bound(len(AGES), failure=0.05)
    print(f"\nthe median at epsilon = 1: {selector.best_candidate_}")
    print(f"off by at most {reach:.0f} rows more than need be, 19 times in 20")
    print(selector.privacy_spent_)


if __name__ == "__main__":
    main()
