"""In place of `celosia.compiler.build.build`: programs for graphs that only pass parameters on.

Each output must be a parameter. One that is donated stays in its buffer; any other is copied, in
words, bytes or bf16 as the chip stores its type.
"""

import sys
from types import SimpleNamespace

from celosia.arch.isa import DmaFormat
from celosia.compiled.parts import Argument, WorkInfo
from celosia.compiler import cache
from celosia.compiler.lowered import External, Tensor, storage
from celosia.graph import DType
from celosia.program.asm import assemble

#: Buffer type of each format; floats that lie in words are float32.
_NAMES = {DmaFormat.I8: "int8", DmaFormat.BF16: "bfloat16", DmaFormat.W32: "int32"}
#: Options that `build` was called with, in order.
calls: list[dict] = []


def use(monkeypatch, folder):
    """Compile with this, into an empty cache in a folder."""
    cache.clear()
    calls.clear()
    monkeypatch.setenv("CELOSIA_CACHE", str(folder))
    monkeypatch.setitem(sys.modules, "celosia.compiler.build", sys.modules[__name__])


def build(graph, config, options, places=None, begin=0):
    calls.append(dict(options))
    lines = [f".name {options.get('program', 'copy')}"]
    copies, works = [], []
    inputs, outputs, tensors = [], [], []

    def buffer(name, value, kind):
        fmt = storage(config, value.dtype)
        type = "float32" if value.dtype is DType.F32 else _NAMES[fmt]
        lines.append(f".buffer {name}, {type}{list(value.shape)}, {kind}")
        tensors.append(Tensor(name, value.shape, value.dtype, fmt))
        return Argument(name, value.type)

    for i, value in enumerate(graph.params):
        inputs.append(buffer(f"in{i}", value, "input"))
    for i, value in enumerate(graph.outputs):
        source = graph.params.index(value)
        if value.node.attrs["donated"]:
            outputs.append(inputs[source])
            continue
        outputs.append(buffer(f"out{i}", value, "output"))
        fmt = storage(config, value.dtype)
        rows, columns = (1, 1, *value.shape)[-2:]
        memory = "acc" if fmt is DmaFormat.W32 else "ub"
        pitch = columns * (4, 1, 2)[(DmaFormat.W32, DmaFormat.I8, DmaFormat.BF16).index(fmt)]
        where = f"fmt={fmt.name.lower()}, rows={rows}, cols={columns}, pitch={pitch}"
        copies += [f'.source "copy {i}"', f"load {memory}[0], @in{source}, {where}",
                   f"store {memory}[0], @out{i}, {where}"]
        works.append(WorkInfo("move", f"copy {i}", ("parameter",), "chip", "copies of streams",
                              bytes=2 * rows * pitch, bytes_read=rows * pitch))
    program = assemble("\n".join([*lines, *copies, *options.get("more", ()), "halt", ""]), config)
    for tensor in tensors:
        tensor.home = External(program.buffer(tensor.name).offset)
    tensors += options.get("tensors", ())
    return SimpleNamespace(program=program, inputs=tuple(inputs), outputs=tuple(outputs),
                           works=tuple(works),
                           tensors={each: (0, max(len(works) - 1, 0)) for each in tensors
                                    if each.home is not None},
                           proofs=tuple(options.get("proofs", ())),
                           apart=tuple(options.get("apart", ())))
