"""Each operation that training programs use, alone on the chip."""

import numpy as np
import pytest
from pages.coverage import snippets

import celosia
from celosia.compiler.errors import CompileError
from celosia.frontend import import_stablehlo
from celosia.graph import DType, interpret
from sw.frontend.stablehlo_reference import evaluate

SNIPPETS = {f"{each.name} {i}": each for i, each in enumerate(snippets()) if not each.form}
REFUSED = {f"{each.name} ({each.form})": each for each in snippets() if each.form}
#: StableHLO's interpreter runs one device alone, without devices' numbers, or has no such
#: operation; of a generator's bits it has its own.
NOT_EVALUATED = {"stablehlo.all_reduce", "stablehlo.all_gather", "stablehlo.partition_id",
                 "sdy.manual_computation", "sdy.sharding_constraint", "stablehlo.composite",
                 "stablehlo.rng_bit_generator", "stablehlo.cholesky",
                 "stablehlo.triangular_solve", "mhlo.copy", "mhlo.erf"}
#: Positive arguments, so that a result is a number.
POSITIVE = {"stablehlo.log", "stablehlo.log_plus_one", "stablehlo.sqrt", "stablehlo.rsqrt",
            "stablehlo.power"}


def inputs_of(snippet):
    """Return arguments: floats of about 1, small integers (also as indices), all bits of words."""
    rng = np.random.default_rng(7)

    def make(type):
        if type.dtype is DType.BOOL:
            return rng.random(type.shape) < 0.5
        if type.dtype is DType.U32:
            return rng.integers(0, 2**32, type.shape, np.uint32)
        if type.dtype.is_integer:
            low = 0 if type.shape == () or type.shape[-1] == 1 else -5
            return rng.integers(low, 6, type.shape, type.dtype.numpy)
        x = rng.uniform(-1, 1, type.shape)
        if snippet.name in POSITIVE:
            x = np.abs(x) + 0.1
        return np.asarray(x, np.float32).astype(type.dtype.numpy)

    arrays = [make(value.type) for value in import_stablehlo(snippet.text).params]
    if snippet.name == "stablehlo.clamp":
        arrays[0], arrays[2] = np.float32(-0.5), np.float32(0.25)
    if snippet.name == "stablehlo.remainder":
        arrays[1] += 7  # StableHLO's interpreter ends the process where a divisor is 0
    if snippet.name == "stablehlo.shift_left":
        arrays[1] %= 40
    return [np.asarray(array) for array in arrays]


def agree(found, wanted, rtol):
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if a.dtype.kind in "iub":
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol, rtol)


@pytest.fixture(scope="module")
def devices():
    with celosia.open("model", "core") as model, celosia.open("rtl", "core") as rtl:
        yield model, rtl


@pytest.mark.parametrize("name", SNIPPETS)
def test_operation(name, devices):
    snippet = SNIPPETS[name]
    inputs = inputs_of(snippet)
    compiled = celosia.compile(snippet.text, "core", strict=True)
    model, rtl = (compiled.run(device, *inputs) for device in devices)
    for a, b in zip(model, rtl, strict=True):
        assert a.tobytes() == b.tobytes()
    # Two ULP of fp32 for each function, sums in other orders; erfc and erf_inv are made of several.
    agree(model, interpret(import_stablehlo(snippet.text), inputs), 3e-6)
    if snippet.name not in NOT_EVALUATED:
        product = snippet.name in ("stablehlo.dot_general", "stablehlo.convolution")
        # StableHLO's interpreter does not round the operands of products to bf16.
        agree(model, evaluate(snippet.text, inputs), 2e-2 if product else 3e-6)


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_chip_lacks_is_refused_before_anything_runs(name):
    with pytest.raises(CompileError, match="strict=True allows no operation on the host"):
        celosia.compile(REFUSED[name].text, "core", strict=True)
