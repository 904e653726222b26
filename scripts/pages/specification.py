"""Programs of every operation of StableHLO's specification, for each type of elements that it has.

Whether an operation has a type, its verifier says.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

__all__ = ["ELEMENTS", "OPERATIONS", "programs"]

#: Elements, as MLIR has them; those of a kind in one column: see `celosia.frontend`.
ELEMENTS = ("i1", "i4", "i8", "i16", "i32", "ui32", "i64", "f8E4M3FN", "f16", "bf16", "f32", "f64",
            "complex<f32>", "complex<f64>")

_UNARY = """abs cbrt ceil cosine count_leading_zeros exponential exponential_minus_one floor
is_finite imag log log_plus_one logistic negate not popcnt real round_nearest_afz
round_nearest_even rsqrt sign sine sqrt tan tanh""".split()
_BINARY = """add and atan2 divide maximum minimum multiply or power remainder shift_left
shift_right_arithmetic shift_right_logical subtract xor""".split()
#: Of complex numbers these give real ones.
_REAL = ("abs", "imag", "real")


def _part(element: str) -> str:
    return element.removeprefix("complex<").removesuffix(">")


def _t(element: str, *shape: int) -> str:
    return f"tensor<{''.join(f'{each}x' for each in shape)}{element}>"


def _program(given: str, result: str, *lines: str) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"func.func @main({given}) -> {result} {{\n{body}\n  return %r : {result}\n}}\n"


def _op(name: str, types: str, result: str, attributes: str = "", region: str = "",
        lines: tuple[str, ...] = ()) -> str:
    """Return a program of one operation on arguments of these types."""
    each = types.split("; ") if types else []
    given = ", ".join(f"%x{i}: {type}" for i, type in enumerate(each))
    names = ", ".join(f"%x{i}" for i in range(len(each)))
    properties = f" <{{{attributes}}}>" if attributes else ""
    body = f" ({region})" if region else ""
    return _program(given, result, *lines, f'%r = "stablehlo.{name}"({names}){properties}{body} : '
                                           f"({', '.join(each)}) -> {result}")


def _region(element: str, count: int, *lines: str, given: str = "") -> str:
    names = ", ".join(f"%{chr(97 + i)}: {_t(element)}" for i in range(count))
    head = f"^bb0({given or names}):\n    " if given or count else ""
    return "{\n    " + head + "\n    ".join(lines) + "\n  }"


def _joined(element: str, name: str = "add") -> str:
    return _region(element, 2, f"%s = stablehlo.{name} %a, %b : {_t(element)}",
                   f"stablehlo.return %s : {_t(element)}")


def _less(element: str, direction: str = "LT") -> str:
    return _region(element, 2, f"%s = stablehlo.compare {direction}, %a, %b : ({_t(element)}, "
                               f"{_t(element)}) -> {_t('i1')}", f"stablehlo.return %s : {_t('i1')}")


def _unary(name: str, e: str) -> str:
    result = "i1" if name == "is_finite" else _part(e) if name in _REAL else e
    return _op(name, _t(e, 2, 3), _t(result, 2, 3))


def _binary(name: str, e: str) -> str:
    return _op(name, f"{_t(e, 2, 3)}; {_t(e, 2, 3)}", _t(e, 2, 3))


def _same(name: str, attributes: str, e: str) -> str:
    return _op(name, _t(e, 2, 3), _t(e, 2, 3), attributes)


def _known(name: str, e: str, types: str, result: str, *numbers: str, attributes: str = "",
           operands: str) -> str:
    """Return a program of an operation whose shape is an operand: a constant."""
    given = types.split("; ") if types else []
    lines = [f"%s{i} = stablehlo.constant dense<{value}> : {type}"
             for i, (value, _, type) in enumerate(each.partition(" : ") for each in numbers)]
    params = ", ".join(f"%x{i}: {type}" for i, type in enumerate(given))
    all_types = [*given, *(each.partition(" : ")[2] for each in numbers)]
    properties = f" <{{{attributes}}}>" if attributes else ""
    return _program(params, result, *lines, f'%r = "stablehlo.{name}"({operands}){properties} : '
                                            f"({', '.join(all_types)}) -> {result}")


_GATHER = ("dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
           "start_index_map = [0], index_vector_dim = 1>")
_CONVOLUTION = ("batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = "
                "#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>")
_NORM = "epsilon = 1.0e-3 : f32, feature_index = 1 : i64"
_CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
_GROUP = "replica_groups = dense<0> : tensor<1x1xi64>"
_TOKEN = "!stablehlo.token"


def _summed(e: str) -> str:
    """Return the type that sums of products are asked for in."""
    return "i32" if e in ("i4", "i8", "i16") else e


def _dot(e: str) -> str:
    return _op("dot_general", f"{_t(e, 2, 3)}; {_t(e, 3, 4)}", _t(_summed(e), 2, 4),
               "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
               "rhs_contracting_dimensions = [0]>")


def _convolution(e: str) -> str:
    return _op("convolution", f"{_t(e, 1, 6, 2)}; {_t(e, 3, 2, 4)}", _t(_summed(e), 1, 4, 4),
               _CONVOLUTION)


def _constant(e: str) -> str:
    number = "true" if e == "i1" else "1" if e[0] in "iu" else "1.0"
    number = f"({number}, 2.0)" if e.startswith("complex") else number
    return _program("", _t(e, 2), f"%r = stablehlo.constant dense<{number}> : {_t(e, 2)}")


def _convert(e: str) -> str:
    return _op("convert", _t(e, 2, 3), _t("i32" if e == "f32" else "f32", 2, 3))


def _bitcast(e: str) -> str:
    bits = int("".join(c for c in _part(e)[:4] if c.isdigit())[:2] or 0)
    bits = {"bf16": 16, "f8E4M3FN": 8}.get(e, bits)
    return _op("bitcast_convert", _t(e, 2, 3),
               _t(e if e.startswith("complex") or e == "i1" else f"ui{bits}", 2, 3))


def _fft(e: str) -> str:
    result = f"complex<{e}>" if e in ("f32", "f64") else e
    kind = "RFFT" if result != e else "FFT"
    return _op("fft", _t(e, 2, 8), _t(result, 2, 5 if kind == "RFFT" else 8),
               f"fft_length = array<i64: 8>, fft_type = #stablehlo<fft_type {kind}>")


def _of_branches(name: str, e: str) -> str:
    index = "i1" if name == "if" else "i32"
    region = _region(e, 0, f"stablehlo.return %x1 : {_t(e, 2, 3)}")
    return _program(f"%x0: {_t(index)}, %x1: {_t(e, 2, 3)}", _t(e, 2, 3),
                    f'%r = "stablehlo.{name}"(%x0) ({region}, {region}) : ({_t(index)}) -> '
                    f"{_t(e, 2, 3)}")


def _while(e: str) -> str:
    params = f"%n: {_t('i32')}, %v: {_t(e, 2, 3)}"
    types = f"{_t('i32')}, {_t(e, 2, 3)}"
    cond = _region(e, 0, f"%s = stablehlo.compare LT, %n, %x0 : ({_t('i32')}, {_t('i32')}) -> "
                         f"{_t('i1')}", f"stablehlo.return %s : {_t('i1')}", given=params)
    body = _region(e, 0, f"%s = stablehlo.add %n, %x0 : {_t('i32')}",
                   f"stablehlo.return %s, %v : {types}", given=params)
    return _program(f"%x0: {_t('i32')}, %x1: {_t(e, 2, 3)}", _t(e, 2, 3),
                    f'%q, %r = "stablehlo.while"(%x0, %x1) ({cond}, {body}) : ({types}) -> '
                    f"({types})")


def _composite(e: str) -> str:
    inner = (f"func.func private @same(%x: {_t(e, 2, 3)}) -> {_t(e, 2, 3)} {{\n"
             f"  return %x : {_t(e, 2, 3)}\n}}\n")
    return _same("composite", 'name = "own.same", decomposition = @same', e) + inner


def _norm(name: str, e: str) -> str:
    x, of_feature = _t(e, 2, 3), _t(e, 3)
    names = {"batch_norm_training": "%x, %a, %a", "batch_norm_grad": "%x, %a, %a, %a, %x"}.get(
        name, "%x, %a, %a, %a, %a")
    types = ", ".join(x if each == "%x" else of_feature for each in names.split(", "))
    alone = name == "batch_norm_inference"
    results = x if alone else f"({x}, {of_feature}, {of_feature})"
    return _program(f"%x: {x}, %a: {of_feature}", x,
                    f"%r{'' if alone else ', %m, %v'} = \"stablehlo.{name}\"({names}) "
                    f"<{{{_NORM}}}> : ({types}) -> {results}")


def _tuple(name: str, e: str) -> str:
    x = _t(e, 2, 3)
    return _program(f"%x0: {x}", x, f'%p = "stablehlo.tuple"(%x0) : ({x}) -> tuple<{x}>',
                    f'%r = "stablehlo.get_tuple_element"(%p) <{{index = 0 : i32}}> : '
                    f"(tuple<{x}>) -> {x}")


def _queue(name: str, e: str) -> str:
    """Return a program of what goes by a token."""
    token = f'%t = "stablehlo.after_all"() : () -> {_TOKEN}'
    x = _t(e, 2, 3)
    text, back = {
        "infeed": (f'%r, %q = "stablehlo.infeed"(%t) : ({_TOKEN}) -> ({x}, {_TOKEN})', ""),
        "recv": (f'%r, %q = "stablehlo.recv"(%t) <{{{_CHANNEL}}}> : ({_TOKEN}) -> ({x}, {_TOKEN})',
                 ""),
        "outfeed": (f'%q = "stablehlo.outfeed"(%x0, %t) : ({x}, {_TOKEN}) -> {_TOKEN}', "%x0"),
        "send": (f'%q = "stablehlo.send"(%x0, %t) <{{{_CHANNEL}}}> : ({x}, {_TOKEN}) -> {_TOKEN}',
                 "%x0"),
        "after_all": ("", "%x0"),
    }[name]
    lines = [token, *([text] if text else [])]
    program = _program(f"%x0: {x}", x, *lines)
    return program.replace("return %r", "return %x0") if back else program


def _async(e: str) -> str:
    x = _t(e, 2, 3)
    region = _region(e, 0, f"%s = stablehlo.slice %v [0:2, 0:3] : ({x}) -> {x}",
                     f"stablehlo.return %s : {x}", given=f"%v: {x}")
    return _program(f"%x0: {x}", x,
                    f'%f = "stablehlo.async_start"(%x0) ({region}) : ({x}) -> '
                    f"!stablehlo.future<{x}>",
                    f'%r = "stablehlo.async_done"(%f) : (!stablehlo.future<{x}>) -> {x}')


def _quantized(name: str, e: str) -> str:
    small = "!quant.uniform<i8:f32, 5.000000e-01>"
    one, other = (e, small) if name == "uniform_quantize" else (small, e)
    return _op(name, _t(one, 2, 3), _t(other, 2, 3))


_I32 = _t("i32", 1)
#: Each operation, and what makes its program of a type.
OPERATIONS = {
    **{name: partial(_unary, name) for name in _UNARY},
    **{name: partial(_binary, name) for name in _BINARY},
    "after_all": partial(_queue, "after_all"),
    "all_gather": partial(_same, "all_gather", f"all_gather_dim = 0 : i64, {_GROUP}"),
    "all_reduce": lambda e: _op("all_reduce", _t(e, 2, 3), _t(e, 2, 3), _GROUP, _joined(e)),
    "all_to_all": partial(_same, "all_to_all", "split_dimension = 0 : i64, concat_dimension = 0 : "
                          f"i64, split_count = 1 : i64, {_GROUP}"),
    "async_done": _async, "async_start": _async,
    **{name: partial(_norm, name) for name in (
        "batch_norm_grad", "batch_norm_inference", "batch_norm_training")},
    "bitcast_convert": _bitcast,
    "broadcast_in_dim": lambda e: _op("broadcast_in_dim", _t(e, 3), _t(e, 2, 3),
                                      "broadcast_dimensions = array<i64: 1>"),
    "case": partial(_of_branches, "case"),
    "cholesky": lambda e: _op("cholesky", _t(e, 3, 3), _t(e, 3, 3), "lower = true"),
    "clamp": lambda e: _op("clamp", f"{_t(e)}; {_t(e, 2, 3)}; {_t(e)}", _t(e, 2, 3)),
    "collective_broadcast": partial(_same, "collective_broadcast", _GROUP),
    "collective_permute": partial(_same, "collective_permute",
                                  "source_target_pairs = dense<0> : tensor<1x2xi64>"),
    "compare": lambda e: _op("compare", f"{_t(e, 2, 3)}; {_t(e, 2, 3)}", _t("i1", 2, 3),
                             "comparison_direction = #stablehlo<comparison_direction EQ>"),
    "complex": lambda e: _op("complex", f"{_t(e, 2, 3)}; {_t(e, 2, 3)}",
                             _t(f"complex<{e}>", 2, 3)),
    "composite": _composite,
    "concatenate": lambda e: _op("concatenate", f"{_t(e, 2, 3)}; {_t(e, 1, 3)}", _t(e, 3, 3),
                                 "dimension = 0 : i64"),
    "constant": _constant,
    "convert": _convert, "convolution": _convolution,
    "custom_call": partial(_same, "custom_call", 'call_target_name = "Sharding"'),
    "dot_general": _dot,
    "dynamic_broadcast_in_dim": lambda e: _known(
        "dynamic_broadcast_in_dim", e, _t(e, 3), _t(e, 2, 3), "[2, 3] : tensor<2xi32>",
        attributes="broadcast_dimensions = array<i64: 1>", operands="%x0, %s0"),
    "dynamic_conv": lambda e: _known(
        "dynamic_conv", e, f"{_t(e, 1, 6, 2)}; {_t(e, 3, 2, 4)}",
        _t(_summed(e), 1, 4, 4), "0 : tensor<1x2xi32>",
        attributes=_CONVOLUTION, operands="%x0, %x1, %s0"),
    "dynamic_gather": lambda e: _known(
        "dynamic_gather", e, f"{_t(e, 3, 4)}; {_t('i32', 2)}", _t(e, 2, 4),
        "[1, 4] : tensor<2xi32>", attributes=_GATHER, operands="%x0, %x1, %s0"),
    "dynamic_iota": lambda e: _known("dynamic_iota", e, "", _t(e, 6), "6 : tensor<1xi32>",
                                     attributes="iota_dimension = 0 : i64", operands="%s0"),
    "dynamic_pad": lambda e: _known(
        "dynamic_pad", e, f"{_t(e, 3)}; {_t(e)}", _t(e, 5), *["1 : tensor<1xi32>"] * 2,
        "0 : tensor<1xi32>", operands="%x0, %x1, %s0, %s1, %s2"),
    "dynamic_reshape": lambda e: _known("dynamic_reshape", e, _t(e, 2, 3), _t(e, 6),
                                        "6 : tensor<1xi32>", operands="%x0, %s0"),
    "dynamic_slice": lambda e: _op("dynamic_slice", f"{_t(e, 5)}; {_t('i32')}", _t(e, 2),
                                   "slice_sizes = array<i64: 2>"),
    "dynamic_update_slice": lambda e: _op("dynamic_update_slice",
                                          f"{_t(e, 5)}; {_t(e, 2)}; {_t('i32')}", _t(e, 5)),
    "fft": _fft,
    "gather": lambda e: _op("gather", f"{_t(e, 3, 4)}; {_t('i32', 2)}", _t(e, 2, 4),
                            f"{_GATHER}, slice_sizes = array<i64: 1, 4>"),
    "get_dimension_size": lambda e: _op("get_dimension_size", _t(e, 2, 3), _t("i32"),
                                        "dimension = 1 : i64"),
    "get_tuple_element": partial(_tuple, "get_tuple_element"),
    "if": partial(_of_branches, "if"),
    "infeed": partial(_queue, "infeed"),
    "iota": lambda e: _op("iota", "", _t(e, 2, 3), "iota_dimension = 1 : i64"),
    "map": lambda e: _op("map", f"{_t(e, 2, 3)}; {_t(e, 2, 3)}", _t(e, 2, 3),
                         "dimensions = array<i64: 0, 1>", _joined(e)),
    "optimization_barrier": partial(_same, "optimization_barrier", ""),
    "outfeed": partial(_queue, "outfeed"),
    "pad": lambda e: _op("pad", f"{_t(e, 3)}; {_t(e)}", _t(e, 6),
                         "edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 0>, "
                         "interior_padding = array<i64: 1>"),
    "partition_id": lambda e: _op("partition_id", "", _t(e)),
    "recv": partial(_queue, "recv"),
    "reduce": lambda e: _op("reduce", f"{_t(e, 2, 3)}; {_t(e)}", _t(e, 2),
                            "dimensions = array<i64: 1>", _joined(e)),
    "reduce_precision": partial(_same, "reduce_precision",
                                "exponent_bits = 5 : i32, mantissa_bits = 2 : i32"),
    "reduce_scatter": lambda e: _op("reduce_scatter", _t(e, 2, 3), _t(e, 2, 3),
                                    f"scatter_dimension = 0 : i64, {_GROUP}", _joined(e)),
    "reduce_window": lambda e: _op("reduce_window", f"{_t(e, 6)}; {_t(e)}", _t(e, 4),
                                   "window_dimensions = array<i64: 3>", _joined(e)),
    "replica_id": lambda e: _op("replica_id", "", _t(e)),
    "reshape": lambda e: _op("reshape", _t(e, 2, 3), _t(e, 6)),
    "reverse": partial(_same, "reverse", "dimensions = array<i64: 0>"),
    "rng": lambda e: _known("rng", e, f"{_t(e)}; {_t(e)}", _t(e, 3), "3 : tensor<1xi64>",
                            attributes="rng_distribution = #stablehlo<rng_distribution UNIFORM>",
                            operands="%x0, %x1, %s0"),
    "rng_bit_generator": lambda e: _program(
        f"%x: {_t('ui32', 4)}", _t(e, 2, 3),
        '%s, %r = "stablehlo.rng_bit_generator"(%x) <{rng_algorithm = #stablehlo<rng_algorithm '
        f"PHILOX>}}> : ({_t('ui32', 4)}) -> ({_t('ui32', 4)}, {_t(e, 2, 3)})"),
    "scatter": lambda e: _op(
        "scatter", f"{_t(e, 3, 4)}; {_t('i32', 2)}; {_t(e, 2, 4)}", _t(e, 3, 4),
        "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
        "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>",
        _joined(e)),
    "select": lambda e: _op("select", f"{_t('i1', 2, 3)}; {_t(e, 2, 3)}; {_t(e, 2, 3)}",
                            _t(e, 2, 3)),
    "select_and_scatter": lambda e: _op(
        "select_and_scatter", f"{_t(e, 4)}; {_t(e, 2)}; {_t(e)}", _t(e, 4),
        "window_dimensions = array<i64: 2>, window_strides = array<i64: 2>",
        f"{_less(e, 'GE')}, {_joined(e)}"),
    "send": partial(_queue, "send"),
    "slice": lambda e: _op("slice", _t(e, 6), _t(e, 2), "start_indices = array<i64: 1>, "
                           "limit_indices = array<i64: 5>, strides = array<i64: 2>"),
    "sort": lambda e: _op("sort", _t(e, 6), _t(e, 6), "dimension = 0 : i64", _less(e)),
    "transpose": lambda e: _op("transpose", _t(e, 2, 3), _t(e, 3, 2),
                               "permutation = array<i64: 1, 0>"),
    "triangular_solve": lambda e: _op(
        "triangular_solve", f"{_t(e, 3, 3)}; {_t(e, 3, 2)}", _t(e, 3, 2),
        "left_side = true, lower = true, unit_diagonal = false, "
        "transpose_a = #stablehlo<transpose NO_TRANSPOSE>"),
    "tuple": partial(_tuple, "tuple"),
    "uniform_dequantize": partial(_quantized, "uniform_dequantize"),
    "uniform_quantize": partial(_quantized, "uniform_quantize"),
    "while": _while,
}


def programs() -> Iterator[tuple[str, str, str]]:
    """Yield each operation, a type of elements, and a program of it on the function main."""
    for name in sorted(OPERATIONS):
        for element in ELEMENTS:
            yield f"stablehlo.{name}", element, OPERATIONS[name](element)
