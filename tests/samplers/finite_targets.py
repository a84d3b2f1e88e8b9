"""Finite targets for loops, their exact laws, and a source that counts."""

import numpy as np

from skdp.samplers import LoopTarget


class Finite:
    """Symbols 0, 1, ... proposed with ``proposal`` and accepted with ``a``."""

    def __init__(self, proposal, a):
        self.proposal = np.asarray(proposal, float)
        self.a = np.asarray(a, float)
        self.proposals = 0
        self.target = LoopTarget(self.propose, self.log_acceptance)

    @property
    def p(self):
        return float(self.proposal @ self.a)

    @property
    def law(self):
        return self.proposal * self.a / self.p

    def propose(self, n, source):
        self.proposals += n
        edges = np.cumsum(self.proposal)[:-1]
        u = source.generator.random(n)  # the tests are always seeded
        symbols = np.sum(u[:, None] > edges, axis=1)
        return symbols.astype(float)[:, None]

    def log_acceptance(self, x):
        return np.log(self.a)[x[:, 0].astype(int)]

    def run(self, loop, source):
        """Return the draw and the number of proposals it took."""
        before = self.proposals
        x = loop.draw(source)
        return int(x[0]), self.proposals - before


#: Acceptance 0.42194908 and a law known to seven digits.
REFERENCE = ([0.25] * 4, 0.8 * np.exp([0.0, -0.5, -1.0, -2.0]))


def squeeze_law(proposal, a, s, last):
    """Return f(k, y): the draw is y and the loop ends at step k.

    By the two states of the loop, nothing kept yet or a draw kept; step by step.
    """
    proposal, a = np.asarray(proposal, float), np.asarray(a, float)
    p = proposal @ a
    out = np.zeros((last + 1, a.size))
    kept = np.zeros(a.size)
    empty = 1.0
    for k in range(1, last + 1):
        # the stopping coin is the accepting coin: it stops where it accepts anything
        out[k] = kept * s + empty * proposal * np.minimum(s, a)
        kept = kept * (1.0 - s) + empty * proposal * np.maximum(a - s, 0.0)
        empty *= 1.0 - p
    return out
