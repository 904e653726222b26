import itertools
import re

import ml_dtypes
import numpy as np
import pytest

from celosia import ops
from celosia.arch.config import PRESETS, TpuConfig, preset
from celosia.ops.formats import OUTPUTS

#: Little of everything, so that small products are cut along every side.
TIGHT = TpuConfig("tight", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=32, bus_bytes=8,
                  window=4, ibuf=16)
CHIPS = {"tight": TIGHT, **{name: PRESETS[name] for name in ("nano", "edge", "core")}}


def bits(array):
    return np.ascontiguousarray(array).view(np.uint8)


def operands(rng, fmt, m, k, n):
    if fmt == "int8":
        return (rng.integers(-128, 128, (m, k), dtype=np.int8),
                rng.integers(-128, 128, (k, n), dtype=np.int8))
    return (rng.standard_normal((m, k)).astype(ml_dtypes.bfloat16),
            rng.standard_normal((k, n)).astype(ml_dtypes.bfloat16))


def check(run, config, m, k, n, fmt, seed=0, *, transpose_a=False, transpose_b=False, bias=False,
          relu=False, output=None, data=None, scaled=False):
    rng = np.random.default_rng(seed)
    a, b = operands(rng, fmt, m, k, n) if data is None else data
    zero_point = 5 if output == "int8" else 0
    program = ops.matmul(config, m, k, n, fmt, transpose_a=transpose_a, transpose_b=transpose_b,
                         bias=bias, scale=scaled, relu=relu, output=output, zero_point=zero_point)
    inputs = {"a": a.T.copy() if transpose_a else a, "b": b.T.copy() if transpose_b else b}
    given = scale = None
    if bias:
        given = (rng.integers(-4000, 4000, n).astype(np.int32) if fmt == "int8"
                 else rng.standard_normal(n).astype(np.float32))
        inputs["bias"] = given
    if output == "int8":
        scale = ops.scale_words(rng.uniform(1e-4, 1e-2, n), n)
        inputs["scale"] = scale
    if scaled:
        inputs["scale"] = scale = rng.standard_normal(n).astype(np.float32)
    wanted = ops.reference_matmul(a, b, config.dim, bias=given, scale=scale, relu=relu,
                                  zero_point=zero_point, output=output)
    result = run(config, program, inputs)["c"]
    np.testing.assert_array_equal(bits(result), bits(wanted))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("seed", range(12))
def test_matmul_of_random_shape_equals_numpy(run, chip, seed):
    config = CHIPS[chip]
    rng = np.random.default_rng((seed, config.dim))
    sizes = [1, 2, 3, config.dim - 1, config.dim, config.dim + 1, 2 * config.dim, 17, 31, 61,
             int(rng.integers(1, 150))]
    m, k, n = (int(rng.choice(sizes)) for _ in range(3))
    fmt = str(rng.choice(config.formats))
    flags = dict(zip(("transpose_a", "transpose_b", "bias", "relu"),
                     map(bool, rng.integers(0, 2, 4)), strict=True))
    check(run, config, m, k, n, fmt, seed, output=str(rng.choice(OUTPUTS[fmt])), **flags)


@pytest.mark.parametrize("fmt", OUTPUTS)
def test_matmul_with_every_combination_of_options(run, fmt):
    for flags in itertools.product((False, True), repeat=4):
        names = ("transpose_a", "transpose_b", "bias", "relu")
        for output in OUTPUTS[fmt]:
            check(run, TIGHT, 7, 13, 10, fmt, output=output,
                  **dict(zip(names, flags, strict=True)))


@pytest.mark.parametrize("output", OUTPUTS["bf16"])
@pytest.mark.parametrize("bias", [False, True])
def test_sums_of_bf16_are_scaled_before_the_bias_and_rounded_once(run, bias, output):
    check(run, TIGHT, 9, 21, 30, "bf16", bias=bias, scaled=True, relu=True, output=output)


def test_a_zero_times_a_negative_factor_has_its_sign(run):
    a, b = np.zeros((3, 5), ml_dtypes.bfloat16), np.ones((5, 2), ml_dtypes.bfloat16)
    scale = np.array([2, -2], np.float32)
    result = run(TIGHT, ops.matmul(TIGHT, 3, 5, 2, "bf16", scale=True),
                 {"a": a, "b": b, "scale": scale})["c"]
    assert np.signbit(result).tolist() == [[False, True]] * 3
    wanted = ops.reference_matmul(a, b, TIGHT.dim, scale=scale)
    np.testing.assert_array_equal(bits(result), bits(wanted))


@pytest.mark.parametrize("k", [8, 13, 21])
def test_an_infinity_in_a_transposed_operand_stays_in_its_row(run, k):
    config = TIGHT
    rng = np.random.default_rng(k)
    a, b = operands(rng, "bf16", 11, k, 6)
    a[3, k - 1], a[7, 0], a[9, 2] = np.inf, np.nan, -np.inf
    for _ in range(2):
        check(run, config, 11, k, 6, "bf16", transpose_a=True, data=(a, b))


@pytest.mark.parametrize(("m", "k", "n"), [
    (1, 1, 1), (1, 500, 1), (500, 1, 1), (1, 1, 500), (3, 700, 5), (600, 3, 9), (2, 9, 600),
])
@pytest.mark.parametrize("transpose_a", [False, True])
def test_matmul_longer_than_the_memories_on_one_side(run, m, k, n, transpose_a):
    check(run, TIGHT, m, k, n, "int8", bias=True, output="int8", transpose_a=transpose_a)


def test_matmul_whose_rows_and_depth_exceed_the_memories_of_nano(run):
    config = preset("nano")
    assert 300 * 2100 > config.ub_rows * config.dim
    check(run, config, 300, 2100, 9, "int8", transpose_b=True)


def test_matmul_in_loops_equals_numpy(run):
    # More operations than are ever unrolled, on each of the three levels.
    program = ops.matmul(TIGHT, 80, 60, 50, "int8")
    assert any(insn.instruction.mnemonic == "loop" for insn in program.insns)
    check(run, TIGHT, 80, 60, 50, "int8", bias=True, output="int8", relu=True)


def test_matmul_of_infinities_nan_zeros_and_subnormals_equals_numpy(run):
    rng = np.random.default_rng(3)
    config = preset("core")
    a, b = (rng.integers(0, 1 << 16, shape, dtype=np.uint16).view(ml_dtypes.bfloat16)
            for shape in ((19, 40), (40, 23)))
    check(run, config, 19, 40, 23, "bf16", data=(a, b), bias=True)
    tiny = ml_dtypes.bfloat16(2.0**-64)
    check(run, config, 19, 40, 23, "bf16", relu=True,
          data=((rng.standard_normal((19, 40)) * tiny).astype(ml_dtypes.bfloat16),
                (rng.standard_normal((40, 23)) * tiny).astype(ml_dtypes.bfloat16)))


def test_requantised_sums_saturate_at_both_ends_and_at_the_zero_point(run):
    config = preset("nano")
    a = np.array([[127] * 4, [-128] * 4, [1, 0, 0, 0]], np.int8)
    b = np.array([[127, 1, -1]] * 4, np.int8)
    scale = ops.scale_words([1.0, 0.25, 0.25], 3)
    for relu, low in ((False, -128), (True, -20)):
        program = ops.matmul(config, 3, 4, 3, relu=relu, output="int8", zero_point=-20)
        result = run(config, program, {"a": a, "b": b, "scale": scale})["c"]
        assert result.tolist() == [[127, 107, max(low, -128)], [low, max(low, -128), 108],
                                   [107, -20, -20]]


def test_zero_point_of_a_numpy_type_is_the_integer():
    config = preset("nano")
    programs = [ops.matmul(config, 3, 4, 3, relu=True, output="int8", zero_point=zero_point)
                for zero_point in (-3, np.int8(-3), np.int64(-3))]
    assert programs[0].insns == programs[1].insns == programs[2].insns


def test_large_programs_stay_small():
    # 12,544 weight tiles for each of several blocks of rows, in a few loops.
    program = ops.matmul(preset("nano"), 500, 392, 256, output="int8")
    assert len(program.insns) < 5_000


def test_program_has_a_source_for_each_instruction_and_the_chip_it_is_for():
    program = ops.matmul(preset("edge"), 9, 9, 9)
    assert program.fingerprint == preset("edge").fingerprint
    assert len(program.sources) == len(program.insns)
    assert set(program.sources) == {"dot (matmul)", "end"}


@pytest.mark.parametrize(("changes", "kind", "message"), [
    ({"m": 0}, ValueError, "M must be a positive integer, not 0"),
    ({"k": -3}, ValueError, "K must be a positive integer, not -3"),
    ({"n": 2.0}, TypeError, "N must be a positive integer, not 2.0"),
    ({"m": True}, TypeError, "M must be a positive integer, not True"),
    ({"format": "fp8"}, ValueError, "format must be one of int8, bf16, not 'fp8'"),
    ({"format": "bf16"}, ValueError, "format must be one that chip nano has (int8), not 'bf16'"),
    ({"output": "float32"}, ValueError,
     "output of a product in int8 must be one of int32, int8, not 'float32'"),
    ({"zero_point": 3}, ValueError, "zero_point must be 0 where the output is int32, not 3"),
    ({"zero_point": 128, "output": "int8"}, ValueError,
     "zero_point must be from -128 to 127, not 128"),
    ({"zero_point": 1.5, "output": "int8"}, TypeError,
     "zero_point must be an integer from -128 to 127, not 1.5"),
    ({"zero_point": "1"}, TypeError, "zero_point must be an integer from -128 to 127, not '1'"),
    ({"m": 1 << 70}, ValueError, f"M must be at most 2147483647, not {1 << 70}"),
    ({"n": 1 << 31}, ValueError, "N must be at most 2147483647, not 2147483648"),
    ({"n": np.ones(2, int)}, TypeError, "N must be a positive integer, not array([1, 1])"),
    ({"m": 1 << 20, "k": 1 << 12}, ValueError,
     ("the program must fit 4294963200 bytes of external memory, not need 4311760896: 4311760896 "
      "for arguments, results and constants, 0 for what lies between; most is needed at dot "
      "(matmul) for\n"
      "   4,294,967,296  a i8[1048576, 4096]\n"
      "      16,777,216  result0 i32[1048576, 4] of dot (matmul)\n"
      "          16,384  b i8[4096, 4]\n"
      "it fits with a batch of 524288 in place of 1048576: 2155888640 bytes\n"
      "it fits with a cut over 2 devices along the batch (jax.sharding.NamedSharding): 2155888640 "
      "bytes")),
])
def test_wrong_arguments_are_refused(changes, kind, message):
    arguments = {"m": 4, "k": 4, "n": 4} | changes
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        ops.matmul(preset("nano"), **arguments)
