"""Custom calls to a platform's library, replaced by functions of StableHLO."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from celosia.frontend.stablehlo.attributes import tensor_type
from celosia.frontend.stablehlo.reader import operations_of
from celosia.graph import TensorType

__all__ = ["Written", "replace_calls"]

_CALL, _ELEMENT, _INNER = "stablehlo.custom_call", "stablehlo.get_tuple_element", "func.call"
#: Given the target of a call, its configuration and the types of its operands, returns a module
#: with the function ``main`` in its place, as text; None if the call stays.
Written = Callable[[str, str, Sequence[TensorType]], str | None]


def replace_calls(module: Any, targets: Collection[str], written: Written) -> None:
    """Replace custom calls in place, also those whose results are one tuple.

    Parameters
    ----------
    module
        A module of jaxlib's.
    targets
        What calls are replaced.
    written
        Says by what; asked once for calls that are alike.
    """
    functions: dict[Any, str | None] = {}
    for op in list(operations_of(module.operation)):
        target = str(op.attributes["call_target_name"].value) if op.name == _CALL else ""
        if target not in targets:
            continue
        config = op.attributes["backend_config"] if "backend_config" in op.attributes else ""
        types = [tensor_type(each.type) for each in op.operands]
        key = (target, str(config), *((each.shape, each.dtype) for each in types))
        if key not in functions:
            text = written(target, getattr(config, "value", ""), types)
            functions[key] = _put(module, f"{target}.{len(functions)}", text) if text else None
        if name := functions[key]:
            _replace(module, op, name)


def _put(module: Any, name: str, text: str) -> str:
    """Put the functions of a module into another one, and return what the main one is called."""
    from jaxlib.mlir import ir
    with module.context:
        made = ir.Module.parse(text)
        for op in operations_of(made.operation):
            for attribute, kind in (("sym_name", ir.StringAttr), ("callee", ir.FlatSymbolRefAttr)):
                if attribute in op.attributes:
                    inner = f"{name}.{op.attributes[attribute].value}"
                    op.attributes[attribute] = kind.get(inner)
        with ir.InsertionPoint(module.body):
            for op in made.body.operations:
                op.operation.attributes["sym_visibility"] = ir.StringAttr.get("private")
                op.operation.clone()
    return f"{name}.main"


def _replace(module: Any, op: Any, name: str) -> None:
    """Replace a custom call by a call of a function that has its results, a tuple's apart."""
    from jaxlib.mlir import ir
    [main] = [each for each in module.body.operations
              if each.attributes["sym_name"].value == name]
    with module.context, ir.InsertionPoint(op):
        call = ir.Operation.create(_INNER, list(main.type.results), list(op.operands),
                                   {"callee": ir.FlatSymbolRefAttr.get(name)}, loc=op.location)
    if [each.type for each in op.results] == list(main.type.results):
        for old, new in zip(op.results, call.results, strict=True):
            old.replace_all_uses_with(new)
    else:
        for use in list(op.results[0].uses):
            element = use.owner.operation
            assert element.name == _ELEMENT, element.name
            index = int(element.attributes["index"].value)
            element.results[0].replace_all_uses_with(call.results[index])
            element.erase()
    op.erase()
