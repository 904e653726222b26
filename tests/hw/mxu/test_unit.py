import random
from dataclasses import replace

import numpy as np
import pytest

from celosia.arch.registers import Activity
from celosia_hw.memory.ports import READ_LATENCY
from hw.mxu.mxu_bench import Reference, config, linear, matmul, simulate

# Every class of bf16: zeros, subnormals, smallest and largest normals, infinities, NaNs.
CORNERS = np.array([0x0000, 0x8000, 0x0001, 0x807F, 0x0080, 0x8080, 0x00FF, 0x3F80, 0xBF80, 0x7F7F,
                    0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0x7F81, 0xFFFF, 0x1F80, 0x2000, 0x5F80],
                   np.uint16)


def memories(cfg, seed, corners=False):
    rng = np.random.default_rng(seed)
    ub = rng.integers(0, 1 << 16, (cfg.ub_rows, cfg.dim)).astype(np.uint16)
    acc = rng.integers(0, 1 << 32, (cfg.acc_rows, cfg.dim)).astype(np.uint32)
    if cfg.bf16:  # exponents near each other, so that sums round, cancel and carry
        near = (ub & 0x80FF) | (rng.integers(0x3B, 0x43, ub.shape) << 8).astype(np.uint16)
        ub = np.where(rng.random(ub.shape) < 0.7, near, ub)
        acc = np.where(rng.random(acc.shape) < 0.7, (acc & 0x807FFFFF) | 0x3F000000, acc)
        ub = np.where(rng.random(ub.shape) < (0.5 if corners else 0.05),
                      rng.choice(CORNERS, ub.shape), ub)
    else:
        ub &= 0xFF
    return ub.astype(np.uint16), acc.astype(np.uint32)


def random_commands(cfg, count, seed):
    rng = random.Random(seed)
    formats = [value for value, name in enumerate(("int8", "bf16")) if getattr(cfg, name)]

    def stream(rows, counts):
        top = rows // 4
        if rng.random() < 0.3:
            return linear(rng.randrange(rows - counts[0] * counts[1] * counts[2]))
        return {"base": rng.randrange(top), "linear": 0, "s0": rng.choice((0, 1, 1, 2)),
                "s1": rng.choice((0, 1, 3)), "s2": rng.choice((0, 1, 5))}

    commands = []
    for i in range(count):
        counts = rng.choice(((1, 1, 1), (rng.randint(1, 3 * cfg.dim), 1, 1),
                             (rng.randint(1, 4), rng.randint(1, 3), rng.randint(1, 2))))
        load = i == 0 or rng.random() < 0.75
        commands.append(matmul(
            stream(cfg.acc_rows, counts), stream(cfg.ub_rows, counts),
            rng.randrange(cfg.ub_rows // 2) if load else None, counts=counts,
            fmt=rng.choice(formats), accumulate=rng.randint(0, 1),
            transpose=int(load and rng.random() < 0.5),
            wrows=rng.choice((cfg.dim, rng.randint(1, cfg.dim))) if load else 0,
            w_step=rng.choice((0, 1, 1, 7))))
    return commands


def check(cfg, commands, ub, acc, **options):
    reference = Reference(cfg.dim, ub, acc)
    for command in commands:
        reference.run(command)
    trace = simulate(cfg, commands, ub, acc, **options)
    np.testing.assert_array_equal(trace.acc, reference.acc)
    return trace


@pytest.mark.parametrize("hold_back", [0.0, 0.1, 0.9])
@pytest.mark.parametrize(("dim", "int8", "bf16", "lanes"), [
    (2, True, False, 2), (4, True, False, 4), (2, False, True, 2), (2, True, True, 2),
    (4, True, True, 4), (4, True, False, 2), (4, True, True, 2), (4, False, True, 1),
    (4, True, True, 1)])
def test_random_commands(dim, int8, bf16, lanes, hold_back):
    cfg = config(dim, int8=int8, bf16=bf16, lanes=lanes)
    ub, acc = memories(cfg, seed=dim)
    commands = random_commands(cfg, 20 if dim == 2 else 10, seed=dim)
    check(cfg, commands, ub, acc, hold_back=hold_back, seed=1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("dim", "bf16", "lanes"), [
    (2, False, 2), (4, True, 4), (4, False, 2), (4, True, 1)])
def test_rows_of_loads_under_way_are_followed(dim, bf16, lanes, seed):
    """No row of activations or weights is read before it is written, and no other one waits."""
    cfg = config(dim, bf16=bf16, lanes=lanes)
    ub, acc = memories(cfg, seed=seed)
    commands = random_commands(cfg, 8, seed=10 + seed)
    middle = random.Random(seed).randrange(20, 60)
    check(cfg, commands, ub, acc, hold_back=0.2, seed=seed,
          written=(range(middle, 100), range(5, middle)))
    trace = check(cfg, commands, ub, acc, seed=seed, written=(range(3), range(200, 256)))
    assert trace.started[0] < 60


@pytest.mark.parametrize("seed", range(3))
def test_corner_values(seed):
    cfg = config(2, int8=False, bf16=True)
    ub, acc = memories(cfg, seed, corners=True)
    commands = [matmul(0, 0, seed * 32 + 2 * i, rows=48, fmt=1, accumulate=i > 1, wrows=2)
                for i in range(5)]
    check(cfg, commands, ub, acc)


@pytest.mark.parametrize("lanes", [4, 2])
def test_tiles_of_one_side_follow_without_a_gap(lanes):
    cfg = config(4, lanes=lanes)
    ub, acc = memories(cfg, 3)
    # No row of weights is in the bank of the activations that are read with it.
    commands = [matmul(4 * (i % 4), 4 * i, 16 * i + 1, rows=4, accumulate=i & 1, wrows=4,
                       transpose=(i >> 1) & 1) for i in range(8)]
    trace = check(cfg, commands, ub, acc)
    first = trace.started[0]
    assert trace.started == list(range(first, first + 32))
    latency = READ_LATENCY + 2 * cfg.dim + 2
    assert trace.written == [cycle + latency for cycle in trace.started]
    assert trace.done == [first + 4 * i + 3 + latency - 1 for i in range(8)]
    assert trace.activity[first + 1:first + 33] == [Activity.BUSY] * 32


def test_long_tiles_hide_the_load_and_short_ones_wait_for_it():
    cfg = config(4)
    ub, acc = memories(cfg, 4)
    rows = [9, 5, 2, 1, 6]
    commands = [matmul(0, 8 * i, 16 * i + 1, rows=n, wrows=4) for i, n in enumerate(rows)]
    trace = check(cfg, commands, ub, acc)
    starts = np.array(trace.started)[np.cumsum([0, *rows[:-1]])] - trace.started[0]
    assert starts.tolist() == [0, 9, 14, 18, 22]  # max(rows, D) each


def test_first_row_starts_a_tile_after_the_first_weight():
    cfg = config(4)
    ub, acc = memories(cfg, 4)
    trace = check(cfg, [matmul(0, 0, 16, rows=1, wrows=1)], ub, acc)
    # Taken in cycle 0, in the queue in 1, weights found in 2 .. 5 and asked for in 3 .. 6.
    assert trace.started == [7]
    assert trace.activity[1:3] == [Activity.IDLE, Activity.WAIT_UNIT]
    assert trace.activity[9:] == [Activity.WAIT_UNIT] * (len(trace.activity) - 9)


@pytest.mark.parametrize(("dim", "lanes", "cycles"), [(2, 2, 4), (2, 1, 6), (4, 1, 8)])
def test_accumulation_onto_one_row_waits_for_each_write(dim, lanes, cycles):
    cfg = config(dim, bf16=True, lanes=lanes)
    ub, acc = memories(cfg, 5)
    same_row = {"base": 3, "linear": 0, "s0": 0, "s1": 0, "s2": 0}
    commands = [matmul(same_row, 0, 100, rows=6, fmt=1, accumulate=1, wrows=2),
                matmul(3, 9, rows=1, fmt=1, accumulate=1)]
    trace = check(cfg, commands, ub, acc)
    assert np.diff(trace.started).tolist() == [cycles] * 6


@pytest.mark.parametrize("lanes", [2, 1])
def test_setting_one_row_does_not_wait(lanes):
    cfg = config(2, lanes=lanes)
    ub, acc = memories(cfg, 6)
    same_row = {"base": 3, "linear": 0, "s0": 0, "s1": 0, "s2": 0}
    trace = check(cfg, [matmul(same_row, 0, 100, rows=6, wrows=2)], ub, acc)
    assert np.diff(trace.started).tolist() == [1] * 5


@pytest.mark.parametrize("reset_at", [3, 6, 8, 11, 17, 23])
def test_reset_in_mid_run(reset_at):
    cfg = config(4, bf16=True)
    ub, acc = memories(cfg, 8)
    commands = [matmul(4 * i, 8 * i, 16 * i, rows=5, fmt=i & 1, accumulate=1, wrows=4,
                       transpose=i & 1) for i in range(3)]
    check(cfg, commands, ub, acc, reset_at=reset_at)


def test_weights_wait_for_activations_of_their_bank():
    for banks, gap in ((4, 1), (1, 3)):
        cfg = replace(config(2), banks=banks)
        ub, acc = memories(cfg, 7)
        commands = [matmul(8 * i, 8 * i, 100 + 4 * i, rows=8, wrows=2) for i in range(3)]
        trace = check(cfg, commands, ub, acc)
        assert np.diff(trace.started).tolist() == ([1] * 7 + [gap]) * 2 + [1] * 7
        assert trace.activity.count(Activity.BUSY) == 24
