"""Collective operations as programs of golden chips."""

import numpy as np

from celosia.arch.encoding import encode, insn
from celosia.arch.isa import DmaFormat, RecvOp
from celosia.collectives.schedule import Payload
from celosia.model import Machine, Pod, PodProgram

SOURCE, TARGET, PROGRAM = 0x1000, 0x40000, 0x100000
FORMATS = {"int8": DmaFormat.I8, "int32": DmaFormat.W32, "float32": DmaFormat.W32,
           "bfloat16": DmaFormat.BF16}


def run(config, exchange, arrays, count, op=RecvOp.SET):
    """Return the array that each chip has of ``count`` elements at the end."""
    topology, dtype = exchange.topology, arrays[0].dtype
    fmt = FORMATS[dtype.name]
    machines, programs = [], []
    for chip, array in enumerate(arrays):
        insns = [*exchange.emit(config, chip, op, [Payload(SOURCE, fmt)], [Payload(TARGET, fmt)],
                                tag=4090), insn("halt")]
        machine = Machine(config)
        machine.acc[:] = 0xDEAD0000 + chip
        machine.memory.write(SOURCE, array.tobytes())
        machine.memory.write(PROGRAM, b"".join(map(encode, insns)))
        machines.append(machine)
        programs.append(PodProgram(PROGRAM, len(insns), [(SOURCE, PROGRAM - 1)]))
    links = {(chip, 2 * dim): topology.peer(chip, 2 * dim) for chip in range(topology.chips)
             for dim, extent in enumerate(topology.extents) if extent > 1}
    results = Pod(machines, links).run(programs)
    assert not any(result.cause for result in results), results
    return [np.frombuffer(machine.memory.read(TARGET, count * dtype.itemsize).tobytes(), dtype)
            for machine in machines]


def equal(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a.view(np.uint8), b.ravel().view(np.uint8))


def drawn(dtype, chips, words):
    rng = np.random.default_rng(words)
    if dtype in ("int8", "int32"):
        info = np.iinfo(dtype)
        return [rng.integers(info.min, info.max, words, dtype) for _ in range(chips)]
    return [rng.standard_normal(words).astype(dtype) for _ in range(chips)]
