"""The walk over a module: functions inlined, regions closed, every problem collected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from celosia.frontend.errors import FrontendError, Unsupported, too_wide
from celosia.frontend.narrow import narrow
from celosia.frontend.stablehlo import (
    callbacks,
    calls,
    collective,
    complexes,
    contract,
    control,
    elementwise,
    indexed,
    linalg,
    normalisation,
    random,
    reduce,
    remainder,
    scatters,
    shape,
    shardings,
    small,
)
from celosia.frontend.stablehlo.attributes import tensor_type
from celosia.frontend.stablehlo.frames import RegionFrame, ValueFrame
from celosia.frontend.stablehlo.meshes import Meshes
from celosia.frontend.stablehlo.parts import ComplexValue, Imported, flat, flat_types, grouped
from celosia.frontend.stablehlo.reader import (
    aliases_of,
    called,
    fix_shapes,
    legalise_chlo,
    operations_of,
    read_module,
    restore_chlo,
    source_of,
)
from celosia.frontend.stablehlo.translation import TRANSLATORS, Here
from celosia.graph import (
    SOURCED,
    DType,
    Graph,
    GraphError,
    Node,
    Source,
    TensorType,
    Value,
    check,
    parameter,
)
from celosia.graph import op as graph_op
from celosia.graph.constants import Constants
from celosia.graph.sharding import DeviceGroups, Sharding, UnevenSharding

__all__ = ["Importer", "import_stablehlo"]

_Any = TypeVar("_Any", Value, Imported)
#: Modules that fill the table of translators.
_PARTS = (callbacks, calls, collective, contract, control, elementwise, indexed, linalg,
          normalisation, random, reduce, remainder, scatters, shape, shardings)
#: Operations whose shapes are operands.
_OF_SHAPES = frozenset(f"stablehlo.{name}" for name in (
    "dynamic_broadcast_in_dim", "dynamic_conv", "dynamic_gather", "dynamic_iota", "dynamic_pad",
    "dynamic_reshape", "real_dynamic_slice"))


def import_stablehlo(program: Any, *, filename: str | None = None,
                     narrows: bool = False) -> Graph:
    """Return the graph of a StableHLO program.

    Parameters
    ----------
    program
        Text, MLIR bytecode, a portable artifact, or the path of a file with any of them; or a
        module of jaxlib's, which is changed.
    filename
        What to call the program in errors and sources that have no file of their own.
    narrows
        Have signed 64-bit integers in 32 bits, also in what the program takes and gives, and
        64-bit floats that it takes: see `celosia.frontend.narrow`.

    Returns
    -------
    Graph
        Of the public function "main", or of the only public one: calls inlined, checked by
        `celosia.graph.SOURCED`. One that calls functions of the host for their effects has one
        more result, the last: what keeps them in it. Of a program for several partitions with its
        shardings, and manual computations of Shardy (`jax.shard_map`, `jax.pmap`) as operations:
        what each device runs makes `celosia.compiler.spmd` of it.

    Raises
    ------
    FrontendError
        If it is no StableHLO, or has operations or types without counterpart: one error with
        all of them and their places. Nothing is returned then.
    """
    if isinstance(program, Path):
        filename = filename or str(program)
        program = program.read_bytes()
    filename = filename or "<stablehlo>"
    module = read_module(program, filename) if isinstance(program, (str, bytes)) else program
    restore_chlo(module, elementwise.CLIENT_FUNCTIONS)
    names = {op.name for op in operations_of(module.operation)}
    if any(name.startswith("chlo.") and name not in TRANSLATORS for name in names):
        legalise_chlo(module, elementwise.CLIENT_FUNCTIONS)
    if not names.isdisjoint(_OF_SHAPES):
        fix_shapes(module)
    return Importer(module, filename, narrows).run()


class Importer:
    """One import, as `celosia.frontend.stablehlo.translation.Import` and to its end.

    Attributes
    ----------
    problems
        What has no counterpart so far, in order.
    """

    def __init__(self, module: Any, filename: str, narrows: bool = False):
        self.filename, self.narrows = filename, narrows
        self._aliased = aliases_of(module)
        self._sources: dict[Any, Source] = {}
        self.constants = Constants()
        self.problems: dict[str, None] = {}
        self.functions: dict[str, Any] = {}
        self.replicas = self._count(module, "mhlo.num_replicas")
        self.partitions = self._count(module, "mhlo.num_partitions")
        meshes = []
        for op in module.body.operations:
            if op.operation.name == "func.func":
                self.functions[op.attributes["sym_name"].value] = op.operation
            elif op.operation.name == "sdy.mesh":
                meshes.append(op.operation)
            else:
                self.refuse(op.operation, f"{op.operation.name} must be a function")
        known = Meshes(meshes, self.partitions)
        if self.replicas == 1:
            self.partitions = known.devices
        elif self.partitions > 1:
            self.refuse(module.operation, f"program must be for several replicas or partitions, "
                                          f"not {self.replicas} x {self.partitions}")
        self.devices = self.replicas * self.partitions
        self.meshes: Meshes | None = known if self.partitions > 1 else None
        self._types: dict[Any, TensorType] = {}
        self._seen: set[str] = set()
        self._surveyed: set[str] = set()
        self._stack: list[str] = []

    @staticmethod
    def _count(module: Any, name: str) -> int:
        attributes = module.operation.attributes
        return int(attributes[name].value) if name in attributes else 1

    def run(self) -> Graph:
        """Return the program; `FrontendError` if anything has no counterpart."""
        main = self._main()
        region = RegionFrame(main.attributes["sym_name"].value, self.constants)
        frame = ValueFrame(region)
        block = main.regions[0].blocks[0]
        donations = self._donations(main, len(block.arguments))
        for i, (argument, donated) in enumerate(zip(block.arguments, donations, strict=True)):
            source = self._source(argument.location)
            type = self.type_of(argument.type, source)
            if type is not None and self._refuses(type):
                self.problem(source, f"parameter: {too_wide(type)}")
                type = None
            frame.values[argument] = None
            if type is None:
                continue
            try:
                sharding = self._sharding(main, "arg_attrs", i, type)
            except (Unsupported, UnevenSharding) as error:
                self.problem(source, f"parameter: {error}")
                continue
            value = parameter(type, source.name, donated=donated, sharding=sharding,
                              source=source)
            region.params.append(value)
            found = (complexes.parted(partial(graph_op, source=source), value)
                     if type.dtype.is_complex else value)
            if (sums := self._sums(main, "arg_attrs", i)) and sharding is not None:
                [found] = grouped([shardings.given_in_parts(part, sums, sharding, entering=True)
                                   for part in flat([found])], [type])
            frame.values[argument] = found
        outputs = self._outputs(main, self._walk(block, frame))
        if self.problems:
            raise FrontendError(f"{self.filename} has what the graph cannot express:",
                                list(self.problems))
        if region.ticket is not None:
            outputs.append(region.ticket)
        graph = Graph(region.name, region.params, outputs, replicas=self.replicas,
                      partitions=self.partitions)
        graph = narrow(graph, exact=not self.narrows)
        try:
            check(graph, SOURCED)
        except GraphError as error:
            raise FrontendError(f"{self.filename} has what the graph cannot express:",
                                error.problems) from None
        return graph

    def _outputs(self, main: Any, results: Sequence[Imported | None]) -> list[Value]:
        """Return what the program gives, cut as it must be; what has no counterpart is left out."""
        outputs = []
        for i, value in enumerate(results):
            if value is None:
                continue
            [first, *_] = flat([value])
            try:
                sharding = self._sharding(main, "res_attrs", i, value.type)
            except (Unsupported, UnevenSharding) as error:
                self.problem(first.node.source, f"result: {error}")
                continue
            if sharding is not None:
                sums = self._sums(main, "res_attrs", i)
                [value] = grouped([self._cut(part, sharding, sums) for part in flat([value])],
                                  [value.type])
            if isinstance(value, ComplexValue):
                value = complexes.joined(partial(graph_op, source=first.node.source), value)
            outputs.append(value)
            if self._refuses(value.type):
                self.problem(first.node.source, f"result: {too_wide(value.type)}")
        return outputs

    @staticmethod
    def _cut(value: Value, sharding: Sharding, sums: DeviceGroups) -> Value:
        """Return a result cut as it must be."""
        found = Node("shard", (value,), {"sharding": sharding}, (), value.node.source).result
        return (shardings.given_in_parts(found, sums, sharding, entering=False) if sums
                else found)

    def _refuses(self, type: TensorType) -> bool:
        """Whether elements have more bits than may be where they are not constant."""
        return type.dtype is DType.F64 and not self.narrows

    def _sharding(self, main: Any, name: str, i: int, type: TensorType) -> Sharding | None:
        """Return how an argument or result of a type must be cut; None if that is not said."""
        if self.meshes is None or name not in main.attributes:
            return None
        found = self.meshes.of_attributes(main.attributes[name][i], type.rank)
        if found is not None:
            found.tile(type.shape)
        return found

    def _sums(self, main: Any, name: str, i: int) -> DeviceGroups:
        """Return the devices whose arrays add up to an argument or result; none: they do not."""
        if self.meshes is None or name not in main.attributes:
            return ()
        return self.meshes.parts_of_attributes(main.attributes[name][i])

    def _main(self) -> Any:
        if "main" in self.functions:
            return self.functions["main"]
        public = [op for op in self.functions.values() if "sym_visibility" not in op.attributes
                  or op.attributes["sym_visibility"].value != "private"]
        if len(public) != 1:
            names = ", ".join(self.functions) or "none"
            raise FrontendError(f"{self.filename} must have a function to run", [
                f"function must be main or the only public one, not one of {names}"])
        return public[0]

    def _donations(self, main: Any, count: int) -> list[bool]:
        if "arg_attrs" not in main.attributes:
            return [i in self._aliased for i in range(count)]
        return [i in self._aliased or "tf.aliasing_output" in each or "jax.buffer_donor" in each
                for i, each in enumerate(main.attributes["arg_attrs"])]

    # What translators use

    def inline(self, name: str, here: Here) -> Sequence[Value]:
        """Return the results of a function for the operands at hand."""
        if name in self._stack:
            raise Unsupported(f"function must not call itself: {name}")
        self._stack.append(name)
        try:
            frame = ValueFrame(here.frame.region, None, here.source)
            block = self.functions[name].regions[0].blocks[0]
            self._bind(frame, block, here.operands)
            return self._results(self._walk(block, frame))
        finally:
            self._stack.pop()

    def block(self, block: Any, here: Here) -> Sequence[Value]:
        """Return the results of a block that runs once, in place."""
        frame = ValueFrame(here.frame.region, here.frame, here.source)
        self._bind(frame, block, here.operands)
        return self._results(self._walk(block, frame))

    @staticmethod
    def _bind(frame: ValueFrame, block: Any, values: Sequence[Value]) -> None:
        types = [tensor_type(argument.type) for argument in block.arguments]
        frame.values.update(zip(block.arguments, grouped(values, types), strict=True))

    def region(self, name: str, region: Any, here: Here, *, of_device: bool = False,
               known: Mapping[int, Value] = MappingProxyType({}),
               ticket: Value | None = None, carried: bool = False) -> RegionFrame:
        """Return a region of the operation at hand; see `Import`."""
        made = RegionFrame(name, self.constants,
                           of_device=of_device or here.frame.region.of_device)
        frame = ValueFrame(made, here.frame, here.source)
        [block] = region.blocks
        for i, argument in enumerate(block.arguments):
            if i in known:
                frame.values[argument] = made.capture(known[i])
                continue
            type = tensor_type(argument.type)
            if self._refuses(type):
                raise Unsupported(too_wide(type, " where they are not constant"))
            params = [parameter(part, source=here.source) for part in flat_types([type])]
            made.params += params
            [frame.values[argument]] = grouped(params, [type])
        if ticket is not None and carried:
            made.ticket = parameter(ticket.type, source=here.source)
            made.params.append(made.ticket)
        elif ticket is not None:
            made.ticket = made.capture(ticket)
        made.outputs = self._results(self._walk(block, frame))
        return made

    def _results(self, values: Sequence[Imported | None]) -> Sequence[Value]:
        found = [value for value in values if value is not None]
        if len(found) != len(values):
            raise _Reported
        return flat(found)

    # Problems

    def _source(self, location: Any) -> Source:
        """Return a location; many operations have one in common, whose text is long."""
        key = location.attr
        if key not in self._sources:
            self._sources[key] = source_of(location, self.filename)
        return self._sources[key]

    def refuse(self, op: Any, message: str) -> None:
        """Take note of an operation without counterpart."""
        self.problem(self._source(op.location), message)

    def problem(self, source: Source, message: str) -> None:
        """Take note of a problem."""
        self.problems.setdefault(f"{source}: {message}")

    def type_of(self, type: Any, source: Source) -> TensorType | None:
        """Return a type; None if it has no counterpart, which is noted once for each."""
        if type not in self._types:
            try:
                self._types[type] = tensor_type(type)
            except Unsupported as error:
                if str(error) not in self._seen:
                    self._seen.add(str(error))
                    self.problem(source, str(error))
                return None
        return self._types[type]

    # The walk

    def _walk(self, block: Any, frame: ValueFrame) -> Sequence[Imported | None]:
        for operation in block.operations:
            op = operation.operation
            if op.name in control.RETURNS:
                return [frame.find(value) for value in op.operands]
            results = self._translate(op, frame)
            frame.values.update(zip(op.results, results, strict=True))
        return ()

    def _translate(self, op: Any, frame: ValueFrame) -> Sequence[Imported | None]:
        source = called(self._source(op.location), frame.caller)
        operands = [frame.find(value) for value in op.operands]
        types = [self.type_of(result.type, source) for result in op.results]
        # Where these are missing, what made them so is a problem already.
        known = [value for value in operands if value is not None]
        wanted = [type for type in types if type is not None]
        of_parts = (any(isinstance(value, ComplexValue) for value in known)
                    or any(type.dtype.is_complex for type in wanted))
        if op.name not in TRANSLATORS and not (of_parts and op.name in complexes.COMPLEX):
            self.problem(source, f"{op.name}: operation has no counterpart")
            self._survey(op)
        elif len(known) < len(operands) or len(wanted) < len(types):
            self._survey(op)
        else:
            try:
                if of_parts and op.name not in control.FLAT:
                    here = Here(self, frame, op, (), wanted, source)
                    return self._fitting(complexes.translate(here, known), wanted)
                here = Here(self, frame, op, flat(known), flat_types(wanted), source)
                if small.has_small(here):
                    return self._fitting(small.translate(here), here.types)
                return grouped(self._results_of(here), wanted)
            except _Reported:
                pass
            except Unsupported as error:
                self.problem(source, f"{op.name}: {error}")
            except GraphError as error:
                message = error.problems[0].removeprefix(f"{source}: ")
                self.problem(source, f"{op.name}: {message}")
        # Stand-ins, so that what uses the results is looked at, too.
        return [None if type is None or self._refuses(type) else
                grouped([parameter(part, source=source) for part in flat_types([type])], [type])[0]
                for type in types]

    def _results_of(self, here: Here) -> Sequence[Value]:
        """Return the results of an operation, which must have the types that it says."""
        found = TRANSLATORS[here.op.name](here)
        return self._fitting((found,) if isinstance(found, Value) else tuple(found), here.types)

    @staticmethod
    def _fitting(results: Sequence[_Any], types: Sequence[TensorType]) -> Sequence[_Any]:
        for value, type in zip(results, types, strict=True):
            if value.type != type:
                raise Unsupported(f"result must be {type}, not {value.type}")
        return results

    def _survey(self, op: Any) -> None:
        """Note what is unknown inside an operation that cannot be walked, or that it calls."""
        for inner in (op, *operations_of(op)):
            if inner is not op and inner.name not in (*TRANSLATORS, *control.RETURNS):
                self.refuse(inner, f"{inner.name}: operation has no counterpart")
            callee = control.callee_of(inner)
            if callee is not None and callee not in self._surveyed:
                self._surveyed.add(callee)
                self._survey(self.functions[callee])


class _Reported(Exception):
    """Something inside failed, and is a problem already."""
