"""Operations in forms that JAX does not make, against StableHLO's own interpreter."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from stablehlo_reference import agree, type_text

from celosia.frontend import import_stablehlo
from celosia.graph import DType, TensorType, interpret

RNG = np.random.default_rng(5)
PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.mlir"))

REDUCER = """({{
  ^bb0(%a: tensor<{0}>, %b: tensor<{0}>):
    %r = stablehlo.{1} %a, %b : tensor<{0}>
    stablehlo.return %r : tensor<{0}>
  }})"""


def reducer(name, dtype="f32"):
    return REDUCER.format(dtype, name)


def comparator(direction, kind, count=1, dtype="f32"):
    type = f"tensor<{dtype}>"
    names = ", ".join(f"%{each}{i}: {type}" for i in range(count) for each in "ab")
    return f"""({{
  ^bb0({names}):
    %r = stablehlo.compare {direction}, %a0, %b0, {kind} : ({type}, {type}) -> tensor<i1>
    stablehlo.return %r : tensor<i1>
  }})"""


def random(type):
    if type.dtype is DType.BOOL:
        return RNG.random(type.shape) < 0.5
    if type.dtype.is_integer:
        info = np.iinfo(type.dtype.numpy)
        return RNG.integers(info.min, info.max, type.shape, type.dtype.numpy, endpoint=True)
    return RNG.standard_normal(type.shape).astype(np.float32).astype(type.dtype.numpy)


def T(text):  # noqa: N802
    """Return the type that prints so: "f32[2,3]"."""
    dtype, _, extents = text.removesuffix("]").partition("[")
    return TensorType(DType(dtype), tuple(map(int, filter(None, extents.split(",")))))


def program(op, operands, results):
    """Return a function of one operation: ``{}`` in op is the list of its operands."""
    operands, results = ([T(each) for each in types.split()] for types in (operands, results))
    names = [f"%x{i}" for i in range(len(operands))]
    params = ", ".join(f"{name}: {type_text(type)}"
                       for name, type in zip(names, operands, strict=True))
    outs = ", ".join(map(type_text, results))
    ins = ", ".join(map(type_text, operands))
    body = op.replace("$", ", ".join(names))
    count = len(results)
    returned = ", ".join(f"%y#{i}" for i in range(count)) if count > 1 else "%y"
    text = f"""func.func @main({params}) -> ({outs}) {{
  %y{f':{count}' if count > 1 else ''} = "stablehlo.{body} : ({ins}) -> ({outs})
  return {returned} : {outs}
}}"""
    return text, operands


def case(op, operands, results):
    return op, operands, results


CASES = {
    "not": case('not"($)', "u8[5]", "u8[5]"),
    "negate u32": case('negate"($)', "u32[5]", "u32[5]"),
    "sign i8": case('sign"($)', "i8[9]", "i8[9]"),
    "shift i8": case('shift_right_arithmetic"($)', "i8[40] i8[40]", "i8[40]"),
    "shift u16": case('shift_left"($)', "u16[9] u16[9]", "u16[9]"),
    "bf16 add": case('add"($)', "bf16[20] bf16[20]", "bf16[20]"),
    "bf16 divide": case('divide"($)', "bf16[20] bf16[20]", "bf16[20]"),
    "bf16 to f32": case('convert"($)', "bf16[20]", "f32[20]"),
    "f32 to bf16": case('convert"($)', "f32[20]", "bf16[20]"),
    "i32 to bf16": case('convert"($)', "i32[20]", "bf16[20]"),
    "i32 to f32": case('convert"($)', "i32[20]", "f32[20]"),
    "u32 to f32": case('convert"($)', "u32[20]", "f32[20]"),
    "i32 to i8": case('convert"($)', "i32[20]", "i8[20]"),
    "i8 to u32": case('convert"($)', "i8[20]", "u32[20]"),
    "bool to i8": case('convert"($)', "bool[9]", "i8[9]"),
    "bitcast down": case('bitcast_convert"($)', "f32[3]", "bf16[3,2]"),
    "bitcast up": case('bitcast_convert"($)', "u8[3,4]", "i32[3]"),
    "bool add": case('add"($)', "bool[9] bool[9]", "bool[9]"),
    "bool multiply": case('multiply"($)', "bool[9] bool[9]", "bool[9]"),
    "clamp": case('clamp"($)', "f32[9] f32[9] f32[9]", "f32[9]"),
    "clamp scalars": case('clamp"($)', "i32[] i32[9] i32[]", "i32[9]"),
    "select by scalar": case('select"($)', "bool[] i32[9] i32[9]", "i32[9]"),
    "broadcast": case(
        'broadcast_in_dim"($) {broadcast_dimensions = array<i64: 2, 0>}', "f32[3,1]",
        "f32[4,2,3]"),
    "reverse": case('reverse"($) {dimensions = array<i64: 2, 0>}', "f32[3,2,4]", "f32[3,2,4]"),
    "pad": case(
        'pad"($) {edge_padding_low = array<i64: -2, 1>, edge_padding_high = array<i64: 3, -4>,'
        ' interior_padding = array<i64: 2, 1>}', "f32[4,5] f32[]", "f32[11,6]"),
    "concatenate": case(
        'concatenate"($) {dimension = 1 : i64}', "f32[2,3] f32[2,0] f32[2,4]",
        "f32[2,7]"),
    "dot_general": case(
        'dot_general"($) {dot_dimension_numbers = #stablehlo.dot<'
        'lhs_batching_dimensions = [2, 0], rhs_batching_dimensions = [1, 3], '
        'lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2]>}',
        "f32[2,5,3,4] f32[6,3,5,2]", "f32[3,2,4,6]"),
    "dot i8": case(
        'dot_general"($) {dot_dimension_numbers = #stablehlo.dot<'
        'lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}',
        "i8[3,70] i8[4,70]", "i32[3,4]"),
    "mirrored convolution": case(
        'convolution"($) {window_strides = array<i64: 2, 1>, padding = dense<[[1, 0], [2, 1]]> : '
        'tensor<2x2xi64>, lhs_dilation = array<i64: 1, 2>, rhs_dilation = array<i64: 1, 1>, '
        'window_reversal = array<i1: true, false>, dimension_numbers = '
        '#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, '
        'feature_group_count = 1 : i64, batch_group_count = 1 : i64}',
        "f32[2,5,4,3] f32[3,2,3,4]", "f32[2,2,9,4]"),
    "batch groups": case(
        'convolution"($) {dimension_numbers = #stablehlo.conv<[f, 0, b, 1]x[i, 0, 1, o]->'
        '[0, 1, b, f]>, feature_group_count = 1 : i64, batch_group_count = 3 : i64}',
        "f32[2,5,6,4] f32[2,2,3,9]", "f32[4,2,2,9]"),
    "feature groups": case(
        'convolution"($) {dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, '
        'feature_group_count = 2 : i64, batch_group_count = 1 : i64, '
        'rhs_dilation = array<i64: 2>}', "f32[2,6,9] f32[4,3,3]", "f32[2,4,5]"),
    "reduce or": case(
        'reduce"($) <{dimensions = array<i64: 1>}> ' + reducer("or", "i1"),
        "bool[3,4] bool[]", "bool[3]"),
    "reduce add of bools": case(
        'reduce"($) <{dimensions = array<i64: 1>}> ' + reducer("add", "i1"),
        "bool[3,4] bool[]", "bool[3]"),
    "reduce xor": case(
        'reduce"($) <{dimensions = array<i64: 0>}> ' + reducer("xor", "i32"),
        "i32[3,4] i32[]", "i32[4]"),
    "reduce nothing": case(
        'reduce"($) <{dimensions = array<i64: 0>}> ' + reducer("add"),
        "f32[0,4] f32[]", "f32[4]"),
    "reduce no dimension": case(
        'reduce"($) <{dimensions = array<i64>}> ' + reducer("maximum"),
        "f32[3] f32[]", "f32[3]"),
    "reduce multiply of two words": case(
        'reduce"($) <{dimensions = array<i64: 0>}> ' + reducer("multiply", "i64"),
        "i64[2,5] i64[]", "i64[5]"),
    "reduce_window": case(
        'reduce_window"($) <{window_dimensions = array<i64: 2, 3>, window_strides = '
        'array<i64: 2, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, '
        'padding = dense<[[2, 1], [0, 2]]> : tensor<2x2xi64>}> ' + reducer("minimum"),
        "f32[5,6] f32[]", "f32[5,6]"),
    "reduce_window of two words": case(
        'reduce_window"($) <{window_dimensions = array<i64: 2>, window_strides = '
        'array<i64: 2>}> ' + reducer("maximum", "i64"),
        "i64[8] i64[]", "i64[4]"),
    "select_and_scatter": case(
        'select_and_scatter"($) <{window_dimensions = array<i64: 3, 2>, window_strides = '
        'array<i64: 2, 2>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> '
        + comparator("GE", "FLOAT").removesuffix(")") + ", " + reducer("add").removeprefix("("),
        "f32[6,6] f32[3,3] f32[]", "f32[6,6]"),
    "gather": case(
        'gather"($) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 3], '
        'collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = '
        '[2], start_index_map = [3, 1], index_vector_dim = 0>, slice_sizes = '
        'array<i64: 1, 1, 2, 3>}', "f32[4,5,3,6] i8[2,3,4]", "f32[3,2,4,3]"),
    "gather scalars": case(
        'gather"($) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], '
        'start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}',
        "i32[7] i32[5]", "i32[5]"),
    "scatter add": case(
        'scatter"($) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], '
        'inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = '
        '[1], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ' + reducer("add"),
        "f32[3,4,5] i8[6,3,1] f32[6,5,3]", "f32[3,4,5]"),
    "scatter of two words": case(
        'scatter"($) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], '
        'scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> '
        + reducer("minimum", "i64"), "i64[6] i32[9,1] i64[9]", "i64[6]"),
    "scatter windows": case(
        'scatter"($) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = '
        '[0, 1], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1>}> '
        + reducer("maximum", "i32"), "i32[4,5] u8[3,2] i32[2,2,3]", "i32[4,5]"),
    "sort": case(
        'sort"($) <{dimension = 0 : i64, is_stable = true}> ' + comparator("GT", "FLOAT", 2),
        "f32[9,2] f32[9,2]", "f32[9,2] f32[9,2]"),
    "sort integers": case(
        'sort"($) <{dimension = -1 : i64}> '
        + comparator("LT", "SIGNED", dtype="i32"), "i32[3,8]", "i32[3,8]"),
    "dynamic_slice": case(
        'dynamic_slice"($) {slice_sizes = array<i64: 2, 3>}',
        "f32[4,5] i8[] i8[]", "f32[2,3]"),
    "dynamic_update_slice": case(
        'dynamic_update_slice"($)', "f32[4,5] f32[2,2] i32[] i32[]",
        "f32[4,5]"),
}


@pytest.mark.parametrize("name", CASES)
def test_operation(name):
    text, operands = program(*CASES[name])
    for _ in range(3):
        inputs = [random(type) for type in operands]
        if name == "select_and_scatter":
            # StableHLO's interpreter adds the initial value twice.
            inputs[2] = np.zeros_like(inputs[2])
        elif "gather" in name or "scatter" in name:
            # Indices most of which are inside, and some not.
            inputs[1] = (np.abs(inputs[1].astype(np.int64)) % 6).astype(inputs[1].dtype)
        agree(text, inputs)


def test_dot_of_old():
    # StableHLO's interpreter has no dot.
    text, operands = program('dot"($)', "f32[3,4] f32[4,5]", "f32[3,5]")
    a, b = map(random, operands)
    np.testing.assert_allclose(interpret(import_stablehlo(text), [a, b], precision="highest")[0],
                               a @ b, 1e-5, 1e-6)


def test_if():
    text = """func.func @main(%p: tensor<i1>, %x: tensor<3xf32>) -> tensor<3xf32> {
      %y = "stablehlo.if"(%p) ({
        %a = stablehlo.add %x, %x : tensor<3xf32>
        stablehlo.return %a : tensor<3xf32>
      }, {
        stablehlo.return %x : tensor<3xf32>
      }) : (tensor<i1>) -> tensor<3xf32>
      return %y : tensor<3xf32>
    }"""
    for p in (False, True):
        agree(text, [np.array(p), np.ones(3, np.float32)])


def test_bf16_is_exact():
    # Every pattern but that of signalling NaNs goes through text as it is.
    bits = np.arange(0, 1 << 16, 37, dtype=np.uint16)
    for count in (bits.size, 90):
        values = bits[:count]
        inside = "0x" + values.tobytes().hex()
        text = f"""func.func @main() -> tensor<{count}xbf16> {{
          %c = stablehlo.constant dense<"{inside}"> : tensor<{count}xbf16>
          return %c : tensor<{count}xbf16>
        }}"""
        graph = import_stablehlo(text)
        found = graph.outputs[0].node.attrs["value"].numpy
        np.testing.assert_array_equal(found.view(np.uint16), values)
        assert found.dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program(path):
    """Training steps that JAX 0.10 made, whatever JAX is installed."""
    graph = import_stablehlo(path)
    inputs = []
    for value in graph.params:
        if value.dtype.is_float:
            inputs.append(np.abs(random(value.type)) * np.float32(0.3))
        else:
            inputs.append(RNG.integers(0, 3, value.shape).astype(value.dtype.numpy))
    agree(path.read_text(), inputs, rtol=1e-3, atol=1e-5)


def test_there_are_programs():
    assert len(PROGRAMS) == 4
