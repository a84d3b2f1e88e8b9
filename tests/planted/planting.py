"""A register of planted bugs, and how one is planted for a while."""

import contextlib
from unittest import mock

import skdp.accounting._reported_perturbation as joint
import skdp.mechanisms._exponential as exponential
import skdp.mechanisms._gaussian as gaussian
import skdp.mechanisms._reported_calibration as reported
import skdp.mechanisms._ridge as ridge

__all__ = ["PLANTED", "bug", "planted", "scaled"]

#: name -> (check that must catch it, function that lists the patches)
PLANTED = {}


def bug(name, caught_by):
    """Register a function returning (object, attribute, wrapper of the original)."""

    def register(patches):
        PLANTED[name] = (caught_by, patches)
        return patches

    return register


@contextlib.contextmanager
def planted(name):
    """Plant one bug for the length of a with block."""
    _, patches = PLANTED[name]
    with contextlib.ExitStack() as stack:
        _forget()
        stack.callback(_forget)
        for owner, attribute, wrap in patches():
            original = getattr(owner, attribute)
            stack.enter_context(mock.patch.object(owner, attribute, wrap(original)))
        yield


def _forget():
    """Empty the caches through which a bug could outlive its block, or be missed."""
    for cached in (
        ridge.plan_gaussian,
        ridge.calibrated_mu,
        gaussian.calibrated_gaussian,
        exponential.cached_coefficient,
        joint.joint_law,
        reported.shared_mu,
    ):
        cached.cache_clear()


def scaled(factor):
    """Wrap a draw so that it is multiplied."""

    def wrap(draw):
        return lambda *args: factor * draw(*args)

    return wrap
