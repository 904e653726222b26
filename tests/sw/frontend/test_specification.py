"""Every operation of StableHLO's specification with each type: the programs of docs/coverage.md."""

import re

import numpy as np
import pytest
from jaxlib.mlir.dialects import _stablehlo_ops_gen
from pages.specification import ELEMENTS, OPERATIONS
from stablehlo_reference import evaluate

from celosia.frontend import FrontendError, import_stablehlo
from celosia.frontend.stablehlo.reader import read_module
from celosia.graph import DType, interpret

RNG = np.random.default_rng(11)
#: Operations of the dialect that are not the specification's.
NOT_SPECIFIED = """broadcast create_token cross-replica-sum dot einsum real_dynamic_slice return
set_dimension_size torch_index_select unary_einsum""".split()
#: What StableHLO's interpreter does not have, or only with several devices.
ALONE = """all_gather all_reduce all_to_all batch_norm_grad batch_norm_inference batch_norm_training
cholesky complex collective_broadcast collective_permute custom_call dynamic_conv fft map
partition_id reduce_precision reduce_scatter replica_id rng_bit_generator
triangular_solve""".split()
#: Types of which arguments cannot be handed to that interpreter.
SMALL = ("i4", "f8E4M3FN", "complex<f32>")


def test_no_operation_is_left_out():
    found = {each.OPERATION_NAME.removeprefix("stablehlo.")
             for each in vars(_stablehlo_ops_gen).values() if hasattr(each, "OPERATION_NAME")}
    assert found - set(NOT_SPECIFIED) == set(OPERATIONS)


def argument(type, element):
    if type.dtype is DType.BOOL:
        return RNG.random(type.shape) < 0.5
    if type.dtype.is_integer:
        low = 0 if element.startswith("f8") or not type.dtype.is_signed else -5
        return RNG.integers(low, 6, type.shape).astype(type.dtype.numpy)
    if type.dtype.is_complex:
        return (RNG.standard_normal(type.shape) + 1j * RNG.standard_normal(type.shape)).astype(
            np.complex64)
    return (np.abs(RNG.standard_normal(type.shape)) + 0.1).astype(np.float32).astype(
        type.dtype.numpy)


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_what_is_not_refused_means_what_the_specification_says(name):
    for element in ELEMENTS:
        text = OPERATIONS[name](element)
        try:
            read_module(text, name)
        except FrontendError:
            continue  # it has no such type
        compare(name, element, text)


def compare(name, element, text):
    try:
        graph = import_stablehlo(text)
    except FrontendError as error:
        problem = error.problems[0]
    else:
        problem = ""
    if problem:
        assert re.match(r"<stablehlo>:\d+:\d+: .* must ", problem), problem
        return
    inputs = [argument(value.type, element) for value in graph.params]
    if name in ("divide", "remainder"):
        inputs[1] = np.where(inputs[1] == 0, inputs[1].dtype.type(1), inputs[1])
    if name == "select_and_scatter":
        inputs[2] = np.zeros_like(inputs[2])  # that interpreter adds it twice
    found = interpret(graph, inputs, precision="highest")
    if name in ALONE or element in SMALL:
        return
    wanted = evaluate(text, inputs)
    rounding = {"f16": 2e-3, "bf16": 2e-2}.get(element, 1e-5)
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if a.dtype.kind in "iub":
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rounding,
                                       rounding)
