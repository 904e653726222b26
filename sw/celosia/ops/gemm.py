"""A matrix product as a program."""

from __future__ import annotations

import operator

from celosia.arch.config import TpuConfig
from celosia.graph import DType, TensorType, Value, parameter
from celosia.ops.formats import DTYPES, OUTPUTS
from celosia.ops.graphs import dense, program
from celosia.program import Program

__all__ = ["check_format", "check_output", "check_size", "check_zero_point", "matmul"]

#: No size is larger: products of sizes stay far from what 64 bits hold.
_MAX_SIZE = (1 << 31) - 1


def _integer(name: str, value: object, wanted: str) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be {wanted}, not {value!r}") from None


def check_size(name: str, value: object) -> int:
    """Return a size that is a positive integer; TypeError or ValueError otherwise."""
    size = _integer(name, value, "a positive integer")
    if size < 1:
        raise ValueError(f"{name} must be a positive integer, not {value!r}")
    if size > _MAX_SIZE:
        raise ValueError(f"{name} must be at most {_MAX_SIZE}, not {value!r}")
    return size


def check_zero_point(name: str, value: object) -> int:
    """Return a zero point that is an int8 value; TypeError or ValueError otherwise."""
    zero_point = _integer(name, value, "an integer from -128 to 127")
    if not -128 <= zero_point <= 127:
        raise ValueError(f"{name} must be from -128 to 127, not {value!r}")
    return zero_point


def check_format(config: TpuConfig, fmt: object) -> str:
    """Return an operand format that the chip has; ValueError otherwise."""
    if not isinstance(fmt, str) or fmt not in OUTPUTS:
        raise ValueError(f"format must be one of {', '.join(OUTPUTS)}, not {fmt!r}")
    if fmt not in config.formats:
        raise ValueError(f"format must be one that chip {config.name} has "
                         f"({', '.join(config.formats)}), not {fmt!r}")
    return fmt


def check_output(fmt: str, output: object) -> str:
    """Return a type of results that a format has, the raw sums for None; ValueError otherwise."""
    if output is None:
        return OUTPUTS[fmt][0]
    if output not in OUTPUTS[fmt]:
        raise ValueError(f"output of a product in {fmt} must be one of {', '.join(OUTPUTS[fmt])}, "
                         f"not {output!r}")
    return str(output)


def matmul(config: TpuConfig, m: int, k: int, n: int, format: str = "int8", *,
           transpose_a: bool = False, transpose_b: bool = False, bias: bool = False,
           scale: bool = False, relu: bool = False, output: str | None = None,
           zero_point: int = 0) -> Program:
    """Return the program of ``c = finish(a @ b + bias)``, all operands in external memory.

    Parameters
    ----------
    config
        The chip.
    m, k, n
        Sizes, each at least 1: ``a`` is (m, k), ``b`` is (k, n), ``c`` is (m, n).
    format
        Of the operands: ``int8`` (int8 in, int32 sums) or ``bf16`` (bfloat16 in, float32 sums).
    transpose_a, transpose_b
        ``a`` is stored (k, m), ``b`` is stored (n, k).
    bias
        Whether there is a buffer ``bias`` of n sums (int32 or float32).
    scale
        Of bf16: whether there is a buffer ``scale`` of n float32 factors of the sums; with it
        ``finish`` gets ``product * scale + bias``, rounded once.
    relu
        Whether negative results become zero, before they are rounded.
    output
        ``int32`` or ``int8`` of int8 operands, ``float32`` or ``bfloat16`` of bf16; None: the sums.
        ``int8`` results are requantised with a buffer ``scale`` of n words
        (`celosia.arch.numerics.requant_scale`), one for each column.
    zero_point
        Added to int8 results.

    Returns
    -------
    Program
        With buffers ``a``, ``b``, ``c``, and ``bias`` and ``scale`` where they are used.

    Raises
    ------
    TypeError
        If a size or the zero point is not an integer.
    ValueError
        If a size is below 1 or above 2**31 - 1, the zero point is not an int8 value, the chip lacks
        the format, the format lacks the output, or the operands do not fit memory.

    Notes
    -----
    The sums of one element are added in the order of k: within each tile of D the array's chain,
    then tile after tile, from +0 on.
    """
    sizes = [check_size(name, value) for name, value in (("M", m), ("K", k), ("N", n))]
    m, k, n = sizes
    fmt = check_format(config, format)
    out = check_output(fmt, output)
    zero_point = check_zero_point("zero_point", zero_point)
    if out != "int8" and zero_point:
        raise ValueError(f"zero_point must be 0 where the output is {out}, not {zero_point!r}")
    if scale and fmt != "bf16":
        raise ValueError("scale must be False for int8, whose int8 results always have one")
    operand, sums = (DTYPES[OUTPUTS[fmt][i]] for i in (1, 0))

    def param(name: str, dtype: DType, *shape: int) -> Value:
        return parameter(TensorType(dtype, shape), name)

    a = param("a", operand, *((k, m) if transpose_a else (m, k)))
    b = param("b", operand, *((n, k) if transpose_b else (k, n)))
    params = [a, b]
    offset = factors = None
    if bias:
        params.append(offset := param("bias", sums, n))
    if scale or out == "int8":
        params.append(factors := param("scale", DType.F32 if scale else DType.I32, n))
    c = dense(a, b, out, transpose_x=transpose_a, transpose_weights=transpose_b, bias=offset,
              scale=factors, relu=relu, zero_point=zero_point, label="matmul")
    return program(config, f"matmul {m}x{k}x{n} {fmt}", tuple(params), c, "c")
