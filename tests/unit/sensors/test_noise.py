# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Random numbers of sensors: the published generator, true distributions, keys, independence."""

import math

import numpy as np
import pytest
from numba import njit

from mvsim_core.sensors import noise
from mvsim_core.sensors.noise import (
    DROPOUT,
    READING,
    KeyedGenerator,
    name_word,
    normals,
    normals_kernel,
    philox_kernel,
    seed_word,
    uniform_kernel,
    walk_kernel,
)


@njit
def philox(counter, key):
    return philox_kernel(counter, key[0], key[1])


def words(*values):
    return tuple(np.uint64(value) for value in values)


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [  # the known answers of Random123's kat_vectors for philox4x32, 10 rounds
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_it_is_philox(counter, key, expected):
    assert philox(words(*counter), words(*key)) == expected


def draw(seed=1, name="r1/laser", tick=3, purpose=READING, count=8):
    out = np.zeros(count)
    normals_kernel(*words(seed_word(seed), name_word(name)), tick, purpose, out, 0, count)
    return out


def test_numbers_are_normal():
    count = 1_000_000
    x = np.sort(draw(count=count))
    exact = np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in x[::100]])
    # Kolmogorov-Smirnov: beyond 1.95 / sqrt(n) once in a thousand seeds
    assert np.abs(exact - np.arange(0, count, 100) / count).max() < 1.95 / math.sqrt(count)
    for power, moment, spread in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96), (6, 15, 10170)):
        assert np.mean(x**power) == pytest.approx(moment, abs=4 * math.sqrt(spread / count))
    beyond = np.count_nonzero(np.abs(x) > 3.7) / count  # beyond the ziggurat's tail of 3.654
    assert beyond == pytest.approx(2.156e-4, rel=0.3)


def test_each_part_of_the_key_matters_and_nothing_else():
    first = draw().tolist()
    assert draw().tolist() == first
    for change in ({"seed": 2}, {"name": "r1/laser2"}, {"tick": 4}, {"purpose": DROPOUT}):
        assert np.abs(draw(**change) - first).min() > 0
    assert draw(tick=3 + 2**32).tolist() != first
    assert draw(seed=-1).tolist() == draw(seed=2**64 - 1).tolist()
    # A number does not depend on how many are drawn.
    for count in range(1, 8):
        assert draw(count=count).tolist() == first[:count]
    assert normals(1, name_word("r1/laser"), 3, 8).tolist() == first


def test_the_numbers_are_the_same_on_every_machine():
    # Part of what users may rely on: seed and name give the same noise in every release.
    assert name_word("r1/laser1") == 0xA03D964CD93049A5
    assert draw(name="r1/laser1")[:2].tolist() == [0.940334852413627, 1.2090199186466781]


def test_neighbouring_ticks_names_and_seeds_are_independent():
    n = 2000
    by_tick = np.array([draw(tick=k, count=4) for k in range(n)])
    by_name = np.array([draw(name=f"r{k}/laser", count=4) for k in range(n)])
    by_seed = np.array([draw(seed=k, count=4) for k in range(n)])
    for series in (by_tick, by_name, by_seed):
        for x in series.T:
            assert x.std() == pytest.approx(1.0, abs=4 / math.sqrt(2 * n))
            assert abs(np.mean(x[1:] * x[:-1])) < 4 / math.sqrt(n)
        assert np.abs(np.corrcoef(series.T) - np.eye(4)).max() < 4 / math.sqrt(n)


def test_uniform_numbers():
    name = np.uint64(name_word("a"))
    x = np.array([uniform_kernel(np.uint64(0), name, k, DROPOUT) for k in range(4000)])
    assert 0 < x.min() < 0.002
    assert 0.998 < x.max() < 1
    assert x.mean() == pytest.approx(0.5, abs=4 / math.sqrt(12 * 4000))


def test_a_walk_can_be_taken_in_one_go():
    keys = words(7, name_word("a/imu"))
    sigma, steps, at_once = np.array([1.0, 2.0]), np.zeros(2), np.zeros(2)
    for k in range(100):
        walk_kernel(*keys, k, k + 1, sigma, steps)
    walk_kernel(*keys, 0, 100, sigma, at_once)
    assert steps.tobytes() == at_once.tobytes()
    assert np.abs(at_once).min() > 0


def test_the_generator_for_arrays_is_positioned_by_the_same_key():
    generator = KeyedGenerator(name_word("a"))
    first = generator.at(1, 5).random(3).tolist()
    generator.at(1, 6).standard_normal(1001, dtype=np.float32)
    assert generator.at(1, 5).random(3).tolist() == first
    others = [generator.at(2, 5), generator.at(1, 6), generator.at(1, 5, DROPOUT)]
    assert all(other.random(3).tolist() != first for other in others)
    assert KeyedGenerator(name_word("b")).at(1, 5).random(3).tolist() != first


def test_purposes_differ():
    purposes = [value for key, value in vars(noise).items() if key.isupper() and key[0] != "_"]
    assert len(purposes) == len(set(purposes)) > 5
