"""Programs of JAX, compiled."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from celosia.compiled import Compiled
from celosia.compiled.steps import ChipStep
from celosia.compiler import api
from celosia.compiler.spmd import Spmd, partition
from celosia.frontend import import_stablehlo
from celosia.frontend.stablehlo.meshes import Meshes
from celosia.frontend.stablehlo.reader import read_module, set_replicas
from celosia.frontend.stablehlo.small import stored_type
from celosia.graph import DType, TensorType, fingerprint
from celosia.graph.calls import functions
from celosia.graph.operations.callback import CALLS
from celosia.graph.sharding import DeviceGroups, Sharding
from celosia.pjrt.settings import Settings

__all__ = ["DeviceProgram", "Programs"]

#: Of the clock in which costs are said.
_HERTZ = 100e6
#: Bytes of a module that is kept: for profiles, which show it.
_MOST_MODULE = 1 << 20


class Sums(NamedTuple):
    """Arguments and results, by their numbers, that devices have as sums that are not formed.

    For each the groups of devices whose arrays add up to it.
    """

    arguments: Mapping[int, DeviceGroups] = MappingProxyType({})
    results: Mapping[int, DeviceGroups] = MappingProxyType({})

    @classmethod
    def of(cls, module: Any) -> Sums:
        """Return what the shardings of a module say, for those that they say it of."""
        main = _main(module)
        meshes = Meshes(op.operation for op in module.body.operations
                        if op.operation.name == "sdy.mesh")
        found = [dict(enumerate(map(meshes.parts_of_attributes, main.attributes[name])))
                 if name in main.attributes else {} for name in ("arg_attrs", "res_attrs")]
        return cls(*({i: groups for i, groups in each.items() if groups} for each in found))


class DeviceProgram:
    """A program that any of the chips can run.

    Attributes
    ----------
    name
        As JAX calls it: "jit_step".
    module, fingerprint
        Its bytecode, b"" where that is large; a hash of it.
    compiled
        The program: what each device runs.
    spmd
        How arrays are cut among devices.
    types
        Elements of its results, as JAX has them.
    sums
        Which arguments and results devices have as sums that are not formed.
    donated
        Numbers of the parameters whose memory may be written over.
    outputs, results
        Its results, without those that only keep effects in it; shape and elements of each.
    hidden
        Results that only keep effects in it, the last ones.
    on_host
        Operations of it that the host runs, and how often each occurs.
    """

    def __init__(self, name: str, fingerprint: str, compiled: Compiled, spmd: Spmd,
                 types: Sequence[np.dtype], module: bytes = b"", sums: Sums | None = None):
        self.name, self.fingerprint, self.compiled = name, fingerprint, compiled
        self.module, self.sums = module, sums or Sums()
        self.spmd, self.hidden = spmd, len(spmd.graph.outputs) - len(types)
        # A run may end when JAX has dropped its program already.
        self._functions = functions(node.attrs["number"] for node in spmd.graph.walk()
                                    if node.op in CALLS)
        self.donated = tuple(i for i, value in enumerate(spmd.graph.params)
                             if value.node.attrs["donated"])
        self.outputs = compiled.outputs[:len(types)]
        self.results = [(each.type.shape, dtype)
                        for each, dtype in zip(self.outputs, types, strict=True)]
        self.on_host = Counter(
            operation for work in compiled.works if work.where == "host"
            for operation in work.operations)

    @property
    def digest(self) -> str:
        """What another process must have, too, to run it with this one; "": it cannot be said."""
        # The numbers of functions of the host are those of a process.
        return "" if self._functions else fingerprint(self.spmd.graph)

    @property
    def code_bytes(self) -> int:
        """Bytes of instructions."""
        return sum(len(step.program.code(0)) for step in self.compiled.steps
                   if isinstance(step, ChipStep))

    @property
    def cost(self) -> dict[str, int | float | bool | list[int]]:
        """What a run is expected to cost on each chip, by the names that XLA has for it.

        "flops" are two for each product that the program asks for; "optimal_seconds" are at
        100 MHz; "cycles" are of the cycle model.
        """
        found = [each for each in self.compiled.predictions if each is not None]
        cycles = sum(each.cycles for each in found)
        read, written = (sum(getattr(each, name) for each in found)
                         for name in ("bytes_read", "bytes_written"))
        return {
            "flops": 2.0 * sum(work.macs for work in self.compiled.works),
            "bytes accessed": float(read + written), "bytes accessed output": float(written),
            "optimal_seconds": cycles / _HERTZ, "cycles": float(cycles),
        }

    @property
    def memory(self) -> dict[str, int]:
        """Bytes of a chip's memory that it has, and those of the host (none)."""
        compiled = self.compiled
        arguments = sum(each.type.nbytes for each in compiled.inputs)
        outputs = sum(each.type.nbytes for each in compiled.outputs)
        # Results that are written over donated arguments have the buffers of these.
        given = {each.name for step in compiled.steps if isinstance(step, ChipStep)
                 for each in step.inputs}
        aliased = sum(each.type.nbytes for step in compiled.steps if isinstance(step, ChipStep)
                      for each in step.outputs if each.name in given)
        arena = compiled.arena_bytes
        return {"code": self.code_bytes, "arguments": arguments, "outputs": outputs,
                "aliased": aliased, "temporaries": max(arena - arguments - outputs + aliased, 0),
                "host_code": 0, "host_arguments": 0, "host_outputs": 0, "host_aliased": 0,
                "host_temporaries": 0, "peak": arena + self.code_bytes}

    @property
    def stub(self) -> str:
        """A module from which JAX reads how arguments and results are cut among devices."""
        spmd = self.spmd
        given = spmd.graph.outputs[:len(self.outputs)]
        outputs = [_mlir_type(value.type) for value in given]
        arguments = ", ".join(f"%arg{i}: {_mlir_type(value.type)}"
                              for i, value in enumerate(spmd.graph.params))
        results = [_hlo(sharding, self.sums.results.get(i, ()))
                   for i, sharding in enumerate(spmd.results[:len(given)])]
        cut = results[0] if len(results) == 1 else f"{{{', '.join(results)}}}"
        # XLA takes no tuple of no shardings.
        cuts = [f'  mhlo.spmd_output_sharding = "{cut}",'] if results else []
        parameters = ", ".join(f'"{_hlo(sharding, self.sums.arguments.get(i, ()))}"'
                               for i, sharding in enumerate(spmd.arguments))
        lines = [f"    %{i} = stablehlo.constant dense<{_zero(value.type)}> : {type}"
                 for i, (value, type) in enumerate(zip(given, outputs, strict=True))]
        names = ", ".join(f"%{i}" for i in range(len(outputs)))
        leave = f"    return {names} : {', '.join(outputs)}" if outputs else "    return"
        return "\n".join((
            # As a string: a name like jit_scatter-add is no bare identifier.
            f"module @{json.dumps(self.name, ensure_ascii=False)} attributes {{",
            f"  mhlo.num_partitions = {spmd.partitions} : i32,",
            f"  mhlo.num_replicas = {spmd.replicas} : i32,",
            *cuts,
            f"  mhlo.spmd_parameters_shardings = [{parameters}]}} {{",
            f"  func.func @main({arguments}) -> ({', '.join(outputs)}) {{",
            *lines, leave, "  }", "}"))


class Programs:
    """Compiles modules, and knows those of its programs that somebody has. Safe among threads.

    Attributes
    ----------
    compiled
        How many modules were compiled; those that were known do not count.
    """

    def __init__(self, settings: Settings):
        self.settings = settings
        self.compiled = 0
        self._known: WeakValueDictionary[bytes, DeviceProgram] = WeakValueDictionary()
        self._lock = threading.Lock()

    def get(self, module: bytes, *, replicas: int = 1, narrows: bool = False) -> DeviceProgram:
        """Return the program of a StableHLO module; errors as of `celosia.compile`.

        Parameters
        ----------
        module
            Its bytecode.
        replicas
            Devices that run it, where it does not say so itself.
        narrows
            As of `celosia.frontend.import_stablehlo`.
        """
        digest = hashlib.sha256(b"%d %d " % (replicas, narrows) + module).digest()
        with self._lock:
            program = self._known.get(digest)
            if program is None:
                program = self._known[digest] = self._compile(
                    module, digest.hex(), replicas, narrows)
                self.compiled += 1
        return program

    def _compile(self, module: bytes, fingerprint: str, replicas: int,
                 narrows: bool) -> DeviceProgram:
        read = read_module(module, "<jax>")
        if replicas > 1:
            set_replicas(read, replicas)
        name = read.operation.attributes["sym_name"].value
        types, sums = _results(read), Sums.of(read)
        spmd = partition(import_stablehlo(read, filename=name, narrows=narrows))
        settings = self.settings
        compiled = api.compile(spmd.graph, settings.config, strict=settings.strict,
                               fast=settings.fast, name=name, filename=name)
        narrowed = [each.type.dtype.numpy if type is None else type
                    for each, type in zip(compiled.outputs, types, strict=False)]
        return DeviceProgram(name, fingerprint, compiled, spmd, narrowed,
                             module if len(module) <= _MOST_MODULE else b"", sums)


def _results(module: Any) -> list[np.dtype | None]:
    """Return the elements of each result that a module's program has by itself.

    None stands for those that are as the graph has them.
    """
    return [stored_type(type) for type in _main(module).type.results]


def _main(module: Any) -> Any:
    [main] = [op for op in module.body.operations if op.operation.name == "func.func"
              and op.operation.attributes["sym_name"].value == "main"]
    return main


def _hlo(sharding: Sharding, groups: DeviceGroups) -> str:
    """Return how an array is cut as HLO has it; the groups of devices that have it as sums."""
    if not groups:
        return sharding.hlo
    size, tiles = len(groups[0]), len(set(sharding.tiles))
    if size == sharding.devices:
        return "{unreduced}"
    place = {device: i for group in groups for i, device in enumerate(group)}
    order = sorted(range(sharding.devices), key=lambda device: (
        sharding.tiles[device], place[device], device))
    copies = sharding.devices // tiles // size
    extents, last = [*(sharding.parts or (1,)), size], "unreduced"
    if copies > 1:
        extents, last = [*extents, copies], "unreduced, replicated"
    return (f"{{devices=[{','.join(map(str, extents))}]{','.join(map(str, order))} "
            f"last_tile_dims={{{last}}}}}")


def _mlir_type(type: TensorType) -> str:
    extents = "".join(f"{extent}x" for extent in type.shape)
    name = {"bool": "i1", "c64": "complex<f32>"}.get(type.dtype.value, type.dtype.value)
    return f"tensor<{extents}{name.replace('u', 'ui')}>"


def _zero(type: TensorType) -> str:
    if type.dtype is DType.BOOL:
        return "false"
    if type.dtype.is_complex:
        return "(0.0,0.0)"
    return "0.0" if type.dtype.is_float else "0"
