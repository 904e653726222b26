"""Functions of TensorFlow as StableHLO, by TensorFlow's own bridge to XLA."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportAttributeAccessIssue=false

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from celosia.frontend.errors import FrontendError
from celosia.frontend.frameworks import is_framework
from celosia.frontend.stablehlo.attributes import name_of
from celosia.frontend.stablehlo.reader import operations_of, read_module
from celosia.graph import Source

__all__ = ["module_of", "variables_of"]

#: The bridge is asked for the operations of this platform: it has the most.
_PLATFORM = "CPU"
#: Operations that have functions as attributes: of what these are called in the module, the call's
#: name comes first, or nothing.
_CALLS = {"PartitionedCall": ("f",), "StatefulPartitionedCall": ("f",)}
_BODIES = {**dict.fromkeys(("While", "StatelessWhile"), ("body", "cond")),
           **dict.fromkeys(("If", "StatelessIf"), ("then_branch", "else_branch"))}
_CONVOLUTION, _LOOP = "stablehlo.convolution", "stablehlo.while"
_PRODUCTS = (_CONVOLUTION, "stablehlo.dot_general", "stablehlo.dot")
#: What the bridge says of an operation that it does not have.
_UNKNOWN = re.compile(r"(\w+) \((No registered .*?)\)\{\{node ([^}]+)\}\}", re.DOTALL)
#: What it says of a table that a function looks up, or another resource that is no variable.
_NO_VARIABLE = "variable.var()"
_NODE = re.compile(r"\{\{node ([^}]+)\}\}")
_NAME = re.compile(r'loc\((?:fused\[)?"((?:[^"\\]|\\.)*)"(?!:)')


def module_of(concrete: Any, specs: Sequence[Any], captured: Sequence[Any], name: str) -> Any:
    """Return a function for shapes as a module of StableHLO.

    Its parameters are the arguments, then what the function has captured; its results those of the
    function, then new values of variables (`celosia.frontend.stablehlo.reader.aliases_of`).
    Operations are where the user's file has them.

    Parameters
    ----------
    concrete
        A concrete function, of ``tf.function(jit_compile=True)``.
    specs
        Shapes and elements of its arguments, all of them known.
    captured
        Values of what it has captured.
    name
        What to call it in errors.

    Raises
    ------
    FrontendError
        If the bridge cannot lower it: with all the operations and their lines that it names.
    """
    import tensorflow as tf
    from tensorflow.python.eager import context
    places = _Places(concrete.graph)
    try:
        with tf.init_scope():
            code = context.context().get_compiler_ir(
                device_name=None, platform_name=_PLATFORM, function_name=concrete.name,
                flat_args=list(specs), captured_inputs=list(captured),
                stage="stablehlo_serialized")
    except (ValueError, tf.errors.OpError) as error:
        raise FrontendError(f"{name} has what TensorFlow's bridge to XLA cannot lower:",
                            _unlowered(str(error), places)) from error
    module = read_module(code, name)
    _name(module, name, concrete)
    _place(module, places)
    _widen_products(module)
    return module


def variables_of(concrete: Any) -> list[Any | None]:
    """Return for each captured input of a function the variable that it is; None if it is none.

    Nobody looks at a value: ``handle`` would tell `celosia.tensorflow` that somebody does.
    """
    known = {vars(each)["_handle"]._id: each for each in concrete.graph.variables}
    return [known.get(getattr(each, "_id", None)) for each in concrete.captured_inputs]


def _unlowered(said: str, places: _Places) -> list[str]:
    """Return the problems that the bridge tells of, which stops at the first kind of them."""
    problems = []
    for kind, why, node in _UNKNOWN.findall(said):
        wanted = re.search(r"Requested Attributes: ([^)]*)", why)
        problems.append(f"{places.source(node)}: {kind} is no operation of XLA"
                        f"{f' with {wanted[1]}' if wanted else ''}")
    if problems or _NO_VARIABLE in said:
        problems += [f"{places.source(name)}: {kind} is no operation of XLA"
                     for name, kind in places.operations() if not _is_known(kind)]
    if not problems:
        text = said.partition("The op is created at")[0].removeprefix("Failed getting HLO text: '")
        node = _NODE.search(said)
        where = f"{places.source(node[1])}: " if node else ""
        problems.append(where + " ".join(text.split()))
    return list(dict.fromkeys(problems))


def _is_known(kind: str) -> bool:
    """Whether TensorFlow's bridge has operations of a type."""
    from tensorflow.python.framework import kernels
    return any(each.device_type == f"XLA_{_PLATFORM}_JIT"
               for each in kernels.get_registered_kernels_for_op(kind).kernel)


def _name(module: Any, name: str, concrete: Any) -> None:
    """Call a module, its arguments and the variables of it what the user calls them."""
    from jaxlib.mlir import ir
    names = [each.op.name for each in concrete.inputs[:len(concrete.inputs)
                                                      - len(concrete.captured_inputs)]]
    names += ["captured" if each is None else each.name for each in variables_of(concrete)]
    [main] = [each for each in module.body.operations
              if each.attributes["sym_name"].value == "main"]
    with module.context:
        module.operation.attributes["sym_name"] = ir.StringAttr.get(name)
        for argument, each in zip(main.regions[0].blocks[0].arguments, names, strict=True):
            argument.set_location(ir.Location.name(each))


def _place(module: Any, places: _Places) -> None:
    """Give operations the lines of the user's file; TensorFlow says where it made them itself."""
    from jaxlib.mlir import ir
    known: dict[str, Any] = {}
    with module.context:
        for op in operations_of(module.operation):
            found = _NAME.match(str(op.location))
            if found is None:
                continue
            if found[1] not in known:
                known[found[1]] = _location(ir, found[1], places.frames(found[1]))
            if known[found[1]] is not None:
                op.location = known[found[1]]


def _location(ir: Any, name: str, frames: Sequence[tuple[str, int, str]]) -> Any:
    """Return a name, a place and its callers as a location of MLIR; None without a place."""
    calls = [ir.Location.name(function, ir.Location.file(file, line, 0))
             for file, line, function in frames]
    if not calls:
        return None
    return ir.Location.name(name, ir.Location.callsite(calls[0], calls[1:]) if calls[1:]
                            else calls[0])


def _widen_products(module: Any) -> None:
    """Have products keep 16 bits of significands, at least, in a program with convolutions or with
    products in loops, which recurrent layers are.

    Where float32 is rounded to bf16's 8 bits, small networks of them come to other accuracies than
    on a CPU, by 1 % and more in a few epochs. Dense ones do not, and have the most products.
    """
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    every = [op for op in operations_of(module.operation) if op.name in _PRODUCTS]
    if not any(op.name == _CONVOLUTION or _in_loop(op) for op in every):
        return
    with module.context:
        high = ir.ArrayAttr.get([stablehlo.PrecisionAttr.get("HIGH")] * 2)
        for op in every:
            said = (op.attributes["precision_config"] if "precision_config" in op.attributes
                    else ())
            if all(name_of(each) == "DEFAULT" for each in said):
                op.attributes["precision_config"] = high


def _in_loop(op: Any) -> bool:
    """Whether a loop repeats an operation."""
    while (op := op.parent) is not None:
        if op.name == _LOOP:
            return True
    return False


class _Places:
    """Lines of the user's file by the names that operations have in a module."""

    def __init__(self, graph: Any):
        self._made: dict[str, list[Any]] = {}
        for path, op in _operations(graph, "", set()):
            self._made.setdefault(path, []).append(op)

    def frames(self, name: str) -> tuple[tuple[str, int, str], ...]:
        """Return the user's calls, `_user_frames`, if all operations of a name have one place."""
        found = {calls[:1]: calls for calls in map(_user_frames, self._made.get(name, ()))}
        return next(iter(found.values())) if len(found) == 1 else ()

    def operations(self) -> list[tuple[str, str]]:
        """Return name and type of each operation that TensorFlow's bridge has to lower."""
        return [(name, op.type) for name, made in self._made.items() for op in made
                if op.type not in ("Placeholder", *_CALLS)]

    def source(self, name: str) -> Source:
        """Return what to call an operation in errors."""
        for file, line, _ in self.frames(name)[:1]:
            return Source(file, line, 0, name)
        return Source(name=name)


def _operations(graph: Any, prefix: str, seen: set[str]) -> Iterator[tuple[str, Any]]:
    """Yield the operations of a function and of those that it calls, by their names in a module."""
    for op in graph.get_operations():
        yield prefix + op.name, op
        for table, within in ((_CALLS, f"{prefix}{op.name}/"), (_BODIES, "")):
            for attribute in table.get(op.type, ()):
                called = op.get_attr(attribute).name
                inner = getattr(graph._get_function(called), "graph", None)
                if inner is not None and within + called not in seen:
                    seen.add(within + called)
                    yield from _operations(inner, within, seen)


def _user_frames(op: Any) -> tuple[tuple[str, int, str], ...]:
    """Return file, line and function of the calls that are no framework's, the innermost first."""
    return tuple((frame.filename, frame.lineno, frame.name)
                 for frame in reversed(op.traceback or ()) if not is_framework(frame.filename))
