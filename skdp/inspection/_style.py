"""Colours and lines that the pictures of privacy losses have in common.

The colours are those of the lookup page.
"""

from typing import Any

import numpy as np
from scipy.special import expit, logit

from skdp._typing import FloatArray

__all__ = ["ACCENT", "INK", "SOFT", "WORST", "certainty", "certainty_axis", "tidy"]

#: What is shown, texts, lines beside it, and the worst case.
ACCENT, INK, SOFT, WORST = "#0b6b68", "#1c2430", "#85898f", "#c1440e"


def tidy(ax: Any) -> Any:
    """Take away the frame where nothing is read off it."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def certainty(loss: FloatArray, prior: FloatArray | float = 0.5) -> FloatArray:
    """Return how sure an attacker can become whose odds grow by e^loss."""
    out: FloatArray = expit(logit(prior) + loss)
    return out


def certainty_axis(ax: Any) -> Any:
    """Write above an axis of losses what they mean to one who tossed a coin."""
    top = ax.secondary_xaxis("top", functions=(_percent, _loss))
    top.set_xlabel("how sure an attacker becomes at most, from 50 %", color=SOFT)
    top.tick_params(colors=SOFT)
    top.spines["top"].set_visible(False)
    top.xaxis.set_major_formatter("{x:.0f} %")
    return top


def _percent(loss: FloatArray) -> FloatArray:
    out: FloatArray = 100.0 * expit(np.asarray(loss))
    return out


def _loss(percent: FloatArray) -> FloatArray:
    # an axis may reach a little beyond what is possible
    out: FloatArray = logit(np.clip(np.asarray(percent) / 100.0, 1e-9, 1.0 - 1e-9))
    return out
