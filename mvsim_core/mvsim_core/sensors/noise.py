# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Random numbers of sensors as a function of seed, sensor name and tick.

There is no stream with a position: any number can be had at any time, in any order, on any
machine. So a reading that is not requested changes none of the later ones, and one sensor more
changes no other's noise.

The generator is Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
SC 2011). Its key is derived from the seed of the world and the name of the sensor; its counter
holds the tick, what the numbers are for, and the index of the number. Normal numbers come from
these by the ziggurat method (Marsaglia & Tsang 2000) with 256 layers. Large arrays come from
numpy's Philox, which is positioned by the same triple (`KeyedGenerator`).
"""

from __future__ import annotations

import hashlib
import math
from functools import cache

import numpy as np
import numpy.typing as npt
from numba import njit

from mvsim_core.state.arrays import FloatArray

Words = tuple[np.uint64, np.uint64, np.uint64, np.uint64]
WordArray = npt.NDArray[np.uint64]

# What numbers are for. Two purposes of one sensor share no number.
READING, DROPOUT, BIAS_WALK, ANGLE, RAY_DROPOUT, TURN_ON, PICTURE, RIGHT_PICTURE = range(8)

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_32, _9, _8, _1, _0 = np.uint64(32), np.uint64(9), np.uint64(8), np.uint64(1), np.uint64(0)
_LAYER, _SIGN = np.uint64(0xFF), np.uint64(0x100)
#: From a word of 32 bits to (0, 1), neither end included.
_PER_WORD = 2.0**-32

#: Where the tail of the ziggurat begins, and the area of each of its layers.
_TAIL, _AREA = 3.6541528853610088, 4.92867323399e-3
_LAYERS = 256
#: Numbers within a layer: what is left of a word after 8 bits for the layer and 1 for the sign.
_STEPS = 2.0**23


def _ziggurat() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return per layer: steps that are surely inside, width of a step, density at its edge."""
    edges = np.zeros(_LAYERS)
    edges[-1] = _TAIL
    for i in range(_LAYERS - 2, 0, -1):
        density = _AREA / edges[i + 1] + math.exp(-0.5 * edges[i + 1] ** 2)
        edges[i] = math.sqrt(-2.0 * math.log(density))
    density = np.exp(-0.5 * edges**2)
    base = _AREA / density[-1]  # width of a rectangle with the area of the lowest layer
    inside, width = np.zeros(_LAYERS), edges / _STEPS
    inside[0], width[0] = _TAIL / base * _STEPS, base / _STEPS
    inside[2:] = edges[1:-1] / edges[2:] * _STEPS
    return inside, width, density


_INSIDE, _WIDTH, _DENSITY = _ziggurat()


def name_word(name: str) -> int:
    """Return 64 bits that stand for a sensor's name; the same on every machine.

    Args:
        name: Name of the sensor that is unique in the world, such as ``r1/laser1``.
    """
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")


def seed_word(seed: int) -> int:
    """Return the 64 bits of any integer that serves as a seed."""
    return seed % 2**64


@njit(cache=True, nogil=True, inline="always")
def philox_kernel(counter: Words, key0: np.uint64, key1: np.uint64) -> Words:
    """Return four words of 32 bits for a counter of four such words and a key of two."""
    c0, c1, c2, c3 = counter
    for _ in range(10):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1, c2, c3 = (p1 >> _32) ^ c1 ^ key0, p1 & _LOW, (p0 >> _32) ^ c3 ^ key1, p0 & _LOW
        key0, key1 = (key0 + _W0) & _LOW, (key1 + _W1) & _LOW
    return c0, c1, c2, c3


@njit(cache=True, nogil=True, inline="always")
def key_kernel(seed: np.uint64, name: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the key of a sensor: the words of its seed, enciphered with those of its name."""
    seed, name = np.uint64(seed), np.uint64(name)
    words = philox_kernel((seed & _LOW, seed >> _32, _0, _0), name & _LOW, name >> _32)
    return words[0], words[1]


@njit(cache=True, nogil=True)
def _outside(
    i: int, place: tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64], word: np.uint64
) -> float:
    """Return the i-th normal number when its first word fell outside the sure part of a layer."""
    purpose, tick0, tick1, key0, key1 = place
    attempt = _0
    while True:
        # Further words of this number have counters of their own, so that no number depends on
        # how many words another one took.
        attempt += _1
        counter = (np.uint64(i), purpose + (attempt << _8), tick0, tick1)
        u0, u1, u2, _ = philox_kernel(counter, key0, key1)
        a, b = (float(u1) + 0.5) * _PER_WORD, (float(u2) + 0.5) * _PER_WORD
        layer = int(word & _LAYER)
        sign = -1.0 if word & _SIGN else 1.0
        step = float(word >> _9) + 0.5
        x: float = step * float(_WIDTH[layer])
        if step < _INSIDE[layer]:
            return sign * x
        if layer == 0:
            beyond, y = -math.log(a) / _TAIL, -math.log(b)
            if 2.0 * y > beyond * beyond:
                return sign * (_TAIL + beyond)
            continue  # the word stays: only its tail is drawn again
        low, high = _DENSITY[layer], _DENSITY[layer - 1]
        if low + a * (high - low) < math.exp(-0.5 * x * x):
            return sign * x
        word = u0


@njit(cache=True, nogil=True, inline="always")
def _normal(
    i: int, place: tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64], word: np.uint64
) -> float:
    """Return the i-th normal number, made of ``word`` as 99 % of them are."""
    layer = np.int64(word & _LAYER)
    step = float(np.int64(word >> _9)) + 0.5  # signed: these convert faster
    x: float = step * float(_WIDTH[layer])
    if step < _INSIDE[layer]:
        return -x if word & _SIGN else x
    return _outside(i, place, word)


@njit(cache=True, nogil=True)
def normals_kernel(  # noqa: PLR0913 (what the numbers depend on, and where they go)
    seed: np.uint64,
    name: np.uint64,
    tick: int,
    purpose: int,
    out: FloatArray,
    first: int,
    count: int,
) -> None:
    """Write standard normal numbers to ``out[first : first + count]``.

    Args:
        seed: Of the world, as `seed_word` gives it.
        name: Of the sensor, as `name_word` gives it.
        tick: When it measures.
        purpose: One of the constants of this module.
        out: (n,) output.
        first: Where to begin in it.
        count: How many.
    """
    key0, key1 = key_kernel(seed, name)
    tick0, tick1 = np.uint64(tick) & _LOW, np.uint64(tick) >> _32
    use = np.uint64(purpose)
    place = (use, tick0, tick1, key0, key1)
    whole = count // 4
    for block in range(whole):
        w0, w1, w2, w3 = philox_kernel((np.uint64(block), use, tick0, tick1), key0, key1)
        i = 4 * block
        out[first + i] = _normal(i, place, w0)
        out[first + i + 1] = _normal(i + 1, place, w1)
        out[first + i + 2] = _normal(i + 2, place, w2)
        out[first + i + 3] = _normal(i + 3, place, w3)
    if count > 4 * whole:
        words = philox_kernel((np.uint64(whole), use, tick0, tick1), key0, key1)
        for j in range(count - 4 * whole):
            out[first + 4 * whole + j] = _normal(4 * whole + j, place, words[j])


@njit(cache=True, nogil=True)
def uniform_kernel(seed: np.uint64, name: np.uint64, tick: int, purpose: int) -> float:
    """Return one number of (0, 1); arguments as in `normals_kernel`."""
    key0, key1 = key_kernel(seed, name)
    at = np.uint64(tick)
    words = philox_kernel((_0, np.uint64(purpose), at & _LOW, at >> _32), key0, key1)
    return (float(words[0]) + 0.5) * _PER_WORD


@njit(cache=True, nogil=True)
def walk_kernel(
    seed: np.uint64,
    name: np.uint64,
    begin: int,
    end: int,
    sigma: FloatArray,
    walk: FloatArray,
) -> None:
    """Advance random walks from step ``begin`` to step ``end``.

    Args:
        seed: As in `normals_kernel`.
        name: As in `normals_kernel`.
        begin: Steps taken already.
        end: Steps to be taken in all.
        sigma: (n,) standard deviation of one step.
        walk: (n,) where the walks are, which is changed.
    """
    step = np.zeros(walk.size)
    for k in range(begin + 1, end + 1):
        normals_kernel(seed, name, k, BIAS_WALK, step, 0, walk.size)
        for j in range(walk.size):
            walk[j] += sigma[j] * step[j]


class KeyedGenerator:
    """A numpy generator that is positioned for each tick and keeps nothing between them.

    Args:
        name: Name of the sensor, as `name_word` gives it.
    """

    __slots__ = ("_bits", "_generator", "_state")

    def __init__(self, name: int) -> None:
        """Make the generator."""
        self._bits = np.random.Philox(key=np.array([0, name], dtype=np.uint64))
        self._generator = np.random.Generator(self._bits)
        self._state = self._bits.state

    def at(self, seed: int, tick: int, purpose: int = READING) -> np.random.Generator:
        """Return it at the begin of the numbers of a seed, tick and purpose."""
        place = self._state["state"]
        place["key"][0] = seed_word(seed)
        place["counter"][:] = (0, purpose, tick, 0)
        self._bits.state = self._state
        return self._generator


def normals(seed: int, name: int, tick: int, count: int) -> npt.NDArray[np.float64]:
    """Return (count,) standard normal numbers of a reading."""
    out = np.zeros(count)
    words = np.array((seed_word(seed), name), dtype=np.uint64)
    normals_kernel(words[0], words[1], tick, READING, out, 0, count)
    return out


@cache
def warm() -> None:
    """Compile or load all kernels of this module that are called from Python."""
    normals(0, 0, 0, 1)
    words = np.zeros(2, np.uint64)
    uniform_kernel(words[0], words[1], 0, READING)
    walk_kernel(words[0], words[1], 0, 0, np.zeros(6), np.zeros(6))
