"""A price for a digital good, set by the bids without giving any bid away.

McSherry and Talwar (2007): a seller with unlimited copies wants one price for all. At
price r everybody who bids at least r buys, so the revenue is r times their number.
Choosing the best price outright lets a single bid decide it, and so be found out, and
invites to bid falsely. Choosing by the exponential mechanism does neither: one bid
changes the revenue at any price by at most the largest price, always upwards, and the
probability of each price by a factor of at most e^epsilon.

    python examples/auction.py
"""

import numpy as np

from skdp.mechanisms import ExponentialMechanism, em_expected
from skdp.model_selection import PrivateSelector

PRICES = np.arange(1, 101) / 100
LARGEST = 1.0


def revenue(price, bids, y=None):
    """Return what is earned at a price; one more bid adds from 0 to 1."""
    return price * int(np.sum(bids[:, 0] >= price))


def expected_revenues(bids, epsilon):
    """Return expected revenues of two laws, and a guarantee. For the curator's eyes."""
    earned = np.array([revenue(price, bids) for price in PRICES])
    laws = [
        ExponentialMechanism(epsilon, LARGEST, monotone=True, selection=selection)
        for selection in ("exponential", "permute-and-flip")
    ]
    guaranteed, _ = em_expected(earned, laws[0].coefficient)
    return [float(law.pmf(earned) @ earned) for law in laws] + [guaranteed]


def main():
    bids = np.random.default_rng(4).random((1000, 1))
    best = max(revenue(price, bids) for price in PRICES)
    print(f"1,000 bids, 100 prices; the best price would earn {best:.1f}\n")
    print("| epsilon | exponential | permute-and-flip | guaranteed |")
    print("| --- | ---: | ---: | ---: |")
    for epsilon in (0.1, 1.0):
        cells = " | ".join(f"{x:.1f}" for x in expected_revenues(bids, epsilon))
        print(f"| {epsilon} | {cells} |")

    auction = PrivateSelector(
        PRICES, revenue, epsilon=0.1, sensitivity=LARGEST, monotone=True
    ).fit(bids)
    price = auction.best_candidate_
    print(f"\nprice set: {price:.2f}, earning {revenue(price, bids):.1f}")
    print(auction.privacy_spent_)


if __name__ == "__main__":
    main()
