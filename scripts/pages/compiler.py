"""Makes docs/compiler.md: one dense layer through every pass, with what each printed."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from celosia.arch.config import PRESETS
from celosia.arch.registers import MOST_MEMORY
from celosia.compiler.build import build, emitted
from celosia.compiler.codegen.blocks import Emitted
from celosia.compiler.fusion import fuse
from celosia.compiler.groups import Roots
from celosia.compiler.lowered import Cluster
from celosia.compiler.lowering import lower
from celosia.compiler.lowering.again import again
from celosia.compiler.memory import plan_arena
from celosia.compiler.pipeline import canonical, prepared
from celosia.compiler.residency import plan_on_chip
from celosia.compiler.selection import SelectionOptions, select_instructions
from celosia.graph import DType, Graph, TensorType, op, parameter, splat, to_text
from celosia.model.timing.predict import predict
from celosia.program.asm import disassemble
from pages.page import write_page
from pages.show import blocks_text, code_text, group_text, names_of, tensor_text, work_text

__all__ = ["main", "page"]

_CHIP = "core"

_PAGE = """# The compiler

Made by `scripts/docs` from `scripts/pages/compiler.py`, which runs what it shows.

A StableHLO program becomes a graph, the graph work on tensors, the work blocks of operations, and
these a program of the chip. Folders and files in the order in which a program passes through
them:

| where | what it does |
|---|---|
| `celosia/frontend/stablehlo/` | reads StableHLO with jaxlib alone; lists everything it cannot \
take |
| `celosia/graph/` | the typed graph: [graph.md](graph.md); `interpreter/` is its meaning, in \
NumPy |
| `celosia/compiler/spmd/` | of a program for several partitions, what each device runs: shardings \
propagated over the nodes, then the graph rewritten |
| `celosia/compiler/passes/`, `pipeline.py` | from any graph to the small canonical level: \
[passes.md](passes.md) |
| `celosia/compiler/placement.py` | what runs on the chip, what does not, and why: \
[coverage.md](coverage.md) |
| `celosia/compiler/groups.py`, `fusion.py`, `spaces.py` | which operations run together, over \
which rows and lanes |
| `celosia/compiler/lowering/` | work on tensors: clusters, copies, loops; `views.py` says how \
elements lie |
| `celosia/compiler/residency.py`, `memory.py` | which tensors stay on chip; which share bytes \
of external memory |
| `celosia/compiler/selection/` | the vector instructions of a cluster |
| `celosia/compiler/emit/` | operations with rows and addresses, in blocks, of those that repeat \
one period; tiles by a model of their cycles |
| `celosia/compiler/codegen/` | software pipelining, order, loops, stride registers, control flow: \
instructions |
| `celosia/compiler/verify/` | verifiers of every level below the graph, which run between passes \
where `CELOSIA_CHECK=1` |
| `celosia/compiler/build.py` | all of these, one after another |
| `celosia/compiled/`, `celosia/compiler/jit.py` | what can be called, saved, loaded and asked \
what it costs |

```python
import celosia

layer = celosia.jit(lambda x, w, b: jax.nn.relu(x @ w + b))
y = layer(x, w, b)                    # NumPy arrays in and out; compiled once for each shape
print(layer.lower(x, w, b).report())  # before it runs: where, why, cycles, bytes, memory

compiled = celosia.compile(Path("layer.mlir"), "core")   # StableHLO from any framework
compiled.save("layer.celosia")
```

On the command line: `celosia compile FILE.mlir`, `celosia report FILE.mlir`.

## One dense layer

`relu(x w + b)` of 64 rows, 48 inputs and 32 outputs in fp32, on `{chip}`. The importer gives the
graph

```
{graph}
```

### The canonical level

`celosia.compiler.canonical(graph, trace=print)`, and `celosia.compiler.pipeline.prepared` after it,
print a line for each pass that changed something:

```
{trace}
```

(Other passes come after the canonical level: a transposed product becomes one of swapped operands,
sums of products that loops carry are made after them, conversions to bf16 go to where the elements
are made, and out of loops; here they have nothing to do.)

```
{canonical}
```

### Fusion

The product, the bias and the relu run over the same 64 rows and 32 lanes, so they are one group.
The conversions to bf16 are in no group: a load rounds. What one group made and another one reads
is made again there where that takes fewer cycles than its load (`lowering/again.py`).

```
{groups}
```

### Lowering

The group becomes a cluster that reads tensors and writes one. Views say how: `b` is a row that
goes with every row of the space, so it is not repeated in memory.

```
{works}
```

### Memory

Parameters and results are in external memory, each at a multiple of 64 bytes. What lies between
pieces of work may stay on chip, or share bytes with others; here there is nothing between.

```
{homes}
```

### Selection

Bias and relu are one instruction of the vector unit. {result} is the product's result.

```
{code}
```

### Emission

The weights and the activations fit the unified buffer. Sums are made in blocks; a block has three
stages: loads, products, and vector work with stores. The block sizes are those of the least
estimated cycles (`emit/tiling.py`). Emitters say how their loops nest. Of blocks that repeat, only
one period is made, and how far its rows and addresses move (`emit/fold.py`): a loop from here to
the instructions.

```
{blocks}
```

### Code

`celosia.compiler.codegen` runs the stages of neighbouring blocks beside each other, finds the order
in which the units overlap, and rolls up what repeats. Every instruction says what it came from; a
fault shows it.

```
{program}
```

`celosia.model.timing.predict` counts its cycles without running it: {cycles:,}, the array busy in
{busy:,} of them.

## What a program may be

Shapes are static. Elements are bool, i8, u8, i16, u16, i32, u32, bf16 and f32; a bool is 0 or -1
in external memory, short unsigned integers and i16 are words. `while` is a loop of the scalar
unit: a counted one where the number of turns is known, else its condition is read by `read`. What
a turn of a loop changes is changed in place. `dynamic_slice` is an address in a scalar register.
A tensor that all who use it can reach on chip stays there: small ones in the accumulators,
operands of products in the unified buffer.

Products are bf16 with fp32 sums, in ascending order of the depth within a block of it. Functions
keep the bounds of [numerics.md](numerics.md). Where something is known of their operands, or of who
uses what they make, they may have a shorter form that keeps the bound; the report says why. Sums
take products in, which then round once. `fast` (of `celosia.compile`, `celosia.jit` and the
commands; `CELOSIA_FAST=1`) gives that up for speed: divisions and roots are products with
reciprocals, and so on; `celosia.compiler.selection` says how exact that is. The option
`merge=False` keeps every operation as it is, bit for bit the graph's.

Operations on bf16 are those of fp32, rounded: `select` too, so that what it chooses is 0 where it
was subnormal and 0x7fc0 where it was another NaN. What only moves elements changes no bit.
"""


def _layer() -> Graph:
    f32 = DType.F32
    x, w, b = (parameter(TensorType(f32, shape), name) for shape, name in (
        ((64, 48), "x"), ((48, 32), "w"), ((32,), "b")))
    y = op("dot", x, w, dtype=f32, contract=[(1, 0)])
    y = op("add", y, op("broadcast", b, shape=(64, 32), dims=(1,)))
    return Graph("layer", [x, w, b], [op("maximum", y, splat(0, y.type))])


def page(current: str = "") -> str:
    """Return the page."""
    config = PRESETS[_CHIP]
    graph = _layer()
    lines: list[str] = []

    def trace(line: str) -> None:
        lines.append(line.rsplit(",", 1)[0])

    simple = canonical(graph, trace=trace)
    level = prepared(simple, config, trace=trace)
    groups = fuse(config, level, Roots(level, {})).groups
    lowered = lower(config, *again(config, level))
    fixed = [*lowered.inputs, *lowered.outputs, *lowered.constants]
    placed = plan_on_chip(config, lowered.works, fixed)
    plan_arena(lowered.works, fixed, MOST_MEMORY)
    (cluster,) = (work for work in lowered.works if isinstance(work, Cluster))
    code = select_instructions(config, cluster, SelectionOptions())
    (blocks,) = emitted(config, lowered.works, placed)
    assert isinstance(blocks, Emitted)
    program = build(simple, config).program
    expected = predict(program, config)
    assert cluster.result is not None
    return _PAGE.format(
        chip=_CHIP, graph=to_text(graph).strip(), trace="\n".join(lines),
        canonical=to_text(level).strip(), groups="\n".join(map(group_text, groups)),
        works="\n".join(map(work_text, lowered.works)),
        homes="\n".join(tensor_text(tensor) for tensor in fixed), code=code_text(code),
        result=names_of(code)[code.inputs[cluster.result]], blocks=blocks_text(blocks),
        program=disassemble(program).strip(), cycles=expected.cycles,
        busy=expected.busy["mxu"])


def main(argv: Sequence[str] | None = None) -> int:
    """Write docs/compiler.md, or with ``--check`` say that it is stale."""
    return write_page("compiler.md", page, argv)


if __name__ == "__main__":
    sys.exit(main())
