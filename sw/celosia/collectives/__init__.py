"""Several chips that run one program: what they exchange, and how they meet.

In the order in which one builds on another: `celosia.graph.sharding` (which part of an array a
device has), topology (chips in a ring or torus), schedule (which chip sends what to which, as
data), group (what the collective operations compute), interconnect (how devices exchange
arrays: here in the host's memory, later by links between chips), run (a program on all devices at
once)::

    spmd = partition(import_stablehlo(module))  # of jax.jit(jax.shard_map(...)), for four devices
    compiled = celosia.compile(spmd.graph)
    tiles = [sharding.cut(array) for sharding, array in zip(spmd.arguments, arrays)]
    executables = [compiled.load(celosia.open("model")) for _ in range(spmd.devices)]
    results = run_spmd(executables, list(zip(*tiles)))
    whole = [sharding.join(each) for sharding, each in zip(spmd.results, zip(*results))]
"""

from typing import TYPE_CHECKING

from celosia.arch.names import on_demand

if TYPE_CHECKING:
    from celosia.collectives.group import ReplicaGroup
    from celosia.collectives.interconnect import Cancelled, HostInterconnect, Interconnect
    from celosia.collectives.run import interpret_spmd, run_spmd
    from celosia.collectives.topology import Topology

__all__ = ["Cancelled", "HostInterconnect", "Interconnect", "ReplicaGroup", "Topology",
           "interpret_spmd", "run_spmd"]

#: Module to the names above that it has. A board, which has but wires, wants no compiler.
_NAMES = {
    "group": ("ReplicaGroup",),
    "interconnect": ("Cancelled", "HostInterconnect", "Interconnect"),
    "run": ("interpret_spmd", "run_spmd"),
    "topology": ("Topology",),
}

__getattr__, __dir__ = on_demand(__name__, _NAMES)
