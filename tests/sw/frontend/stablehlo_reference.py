"""StableHLO's own interpreter, which comes with jaxlib: the judge of single operations."""

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from celosia.frontend import import_stablehlo
from celosia.frontend.stablehlo.attributes import array_of
from celosia.frontend.stablehlo.reader import legalise_chlo, read_module
from celosia.graph import DType, TensorType, interpret

NAMES = {DType.BOOL: "i1", DType.U8: "ui8", DType.U16: "ui16", DType.U32: "ui32"}


def type_text(type: TensorType) -> str:
    element = NAMES.get(type.dtype, str(type.dtype))
    return f"tensor<{'x'.join([*map(str, type.shape), element])}>"


def attribute(array):
    """Return an array as an attribute of MLIR; for use in a context."""
    type = TensorType(DType.of(array.dtype), array.shape)
    if type.dtype is DType.BOOL:
        elements = str(np.asarray(array).tolist()).lower()
    else:
        elements = f'"0x{np.ascontiguousarray(array).tobytes().hex()}"'
    return ir.Attribute.parse(f"dense<{elements}> : {type_text(type)}")


def evaluate(text, inputs):
    """Return what a program of StableHLO gives."""
    module = read_module(text, "<text>")
    legalise_chlo(module)
    with module.context, ir.Location.unknown():
        return [array_of(each) for each in
                stablehlo.eval_module(module, [attribute(array) for array in inputs])]


def agree(text, inputs, rtol=1e-5, atol=1e-6):
    """Assert that the graph of a program gives what StableHLO's interpreter gives."""
    graph = import_stablehlo(text)
    found = interpret(graph, inputs, precision="highest")
    wanted = evaluate(text, inputs)
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if a.dtype.kind in "iub":
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol, atol)
    return graph
