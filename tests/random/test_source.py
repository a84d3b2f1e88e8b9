"""Where the bytes come from: the operating system, or a seed and then it shows."""

import multiprocessing
import pickle
import random

import joblib
import numpy as np
import pytest

from skdp.random import (
    SeededSource,
    SystemSource,
    as_random_source,
    discrete_gaussian,
    discrete_laplace,
    k_norm_vector,
    standard_normal,
    uniform,
)

SAMPLERS = {
    "uniform": lambda source: uniform(8, source),
    "standard_normal": lambda source: standard_normal(8, source),
    "k_norm_vector": lambda source: k_norm_vector(8, 2.0, source),
    "discrete_gaussian": lambda source: discrete_gaussian(8, 2**60, source),
    "discrete_laplace": lambda source: discrete_laplace(8, 1e9, source),
}
every_sampler = pytest.mark.parametrize(
    "draw", SAMPLERS.values(), ids=list(SAMPLERS.keys())
)


def test_none_is_the_operating_system_and_fit_for_release():
    source = as_random_source(None)
    assert isinstance(source, SystemSource)
    assert not source.seeded


@pytest.mark.parametrize(
    "random_state",
    [0, np.int64(7), 2**80, np.random.default_rng(1), np.random.RandomState(1)],
    ids=["int", "numpy int", "long int", "Generator", "RandomState"],
)
def test_anything_else_is_seeded(random_state):
    source = as_random_source(random_state)
    assert isinstance(source, SeededSource)
    assert source.seeded
    assert len(source.bytes(13)) == 13


@pytest.mark.parametrize(
    "random_state",
    [True, np.True_, "0", 0.0, 1.5, [1], np.random, np.array([0])],
    ids=repr,
)
def test_what_is_no_source_is_a_type_error_that_names_the_parameter(random_state):
    with pytest.raises(TypeError, match=r"random_state is not a source.*Allowed"):
        as_random_source(random_state)


def test_a_negative_seed_is_a_value_error_that_names_the_parameter():
    with pytest.raises(ValueError, match="random_state must not be negative"):
        as_random_source(-1)


@every_sampler
def test_the_same_seed_gives_the_same_draws_and_another_seed_others(draw):
    first, again, other = (draw(as_random_source(seed)) for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@every_sampler
def test_a_source_hands_out_each_byte_once(draw):
    source = as_random_source(0)
    assert not np.array_equal(draw(source), draw(source))


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_of_the_caller_advances(make):
    generator, twin = make(3), make(3)
    assert as_random_source(generator).bytes(8) == twin.bytes(8)
    assert as_random_source(generator).bytes(8) == twin.bytes(8)


@every_sampler
def test_global_seeds_have_no_effect_on_system_entropy(draw):
    outcomes = []
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002
        random.seed(0)
        outcomes.append(draw(as_random_source(None)))
    assert not np.array_equal(*outcomes)


@every_sampler
def test_system_entropy_needs_no_other_generator(draw, monkeypatch):
    """With every callable of numpy.random and random broken, None still works."""

    def broken(*_args, **_kwargs):
        raise AssertionError("a predictable generator was used")

    with monkeypatch.context() as patch:
        for module in (np.random, random):
            for name in dir(module):
                if not name.startswith("_") and callable(getattr(module, name)):
                    patch.setattr(module, name, broken)
        draw(as_random_source(None))


def test_a_system_source_holds_nothing_that_could_be_pickled():
    source = as_random_source(None)
    source.bytes(32)
    assert pickle.dumps(source) == pickle.dumps(SystemSource())
    copy = pickle.loads(pickle.dumps(source))
    assert copy.bytes(16) != source.bytes(16)


def _send(source, draw, pipe):
    pipe.send(np.asarray(draw(source)).tolist())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@every_sampler
def test_forked_processes_draw_different_numbers(draw):
    source = as_random_source(None)
    draw(source)
    context = multiprocessing.get_context("fork")
    outcomes = []
    for _ in range(3):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_send, args=(source, draw, sender))
        process.start()
        outcomes.append(tuple(receiver.recv()))
        process.join()
    outcomes.append(tuple(np.asarray(draw(source)).tolist()))
    assert len(set(outcomes)) == 4


def test_loky_workers_draw_different_numbers():
    source = as_random_source(None)
    draws = joblib.Parallel(n_jobs=2, backend="loky")(
        joblib.delayed(discrete_gaussian)(4, 1e12, source) for _ in range(6)
    )
    assert len({tuple(draw.tolist()) for draw in draws}) == 6


def test_many_short_draws_never_repeat():
    """1000 vectors of 8 draws at scale 2**60: a repeat has probability < 1e-100."""
    draws = {tuple(discrete_gaussian(8, 2**60, SystemSource())) for _ in range(1000)}
    assert len(draws) == 1000
