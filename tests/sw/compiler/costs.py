"""What programs are and what they cost: instructions and cycles, kept in costs.json.

Results are tested elsewhere, by programs at random; but a choice among forms, sizes or orders that
are all right shows only in the code, and in what it costs. After a change of the compiler that is
meant to change them: ``PYTHONPATH=scripts python tests/sw/compiler/costs.py`` writes them anew, and
the difference is for review.
"""

import hashlib
import json
from functools import cache
from pathlib import Path

from moving import SMALL
from pages.coverage import snippets

import celosia
from celosia.bench.compiled import PROGRAMS as BENCH_PROGRAMS
from celosia.frontend import import_stablehlo
from celosia.graph import parse
from celosia.model.timing.predict import predict

FILE = Path(__file__).with_suffix(".json")

#: Name to chip, options and graph. Extents lie beside, on and beyond those of the chip.
GRAPHS = {
    "products": ("core", {}, """
        graph g(%0: f32[70,200], %1: f32[200,90], %2: f32[90,33]) {
          %3 = dot(%0, %1) dtype=f32 contract=[[1,0]] : f32[70,90]
          %4 = dot(%3, %2) dtype=f32 contract=[[1,0]] : f32[70,33]
          return %4
        }"""),
    "a large product": ("core", {}, """
        graph g(%0: bf16[600,700], %1: bf16[500,700]) {
          %2 = dot(%0, %1) dtype=f32 contract=[[1,1]] : f32[600,500]
          return %2
        }"""),
    "a product of a depth in eight parts": ("core", {}, """
        graph g(%0: bf16[128,4096], %1: bf16[4096,32]) {
          %2 = dot(%0, %1) dtype=f32 contract=[[1,0]] : f32[128,32]
          return %2
        }"""),
    "a product of bytes": ("edge", {}, """
        graph g(%0: i8[40,300], %1: i8[300,50]) {
          %2 = dot(%0, %1) dtype=i32 contract=[[1,0]] : i32[40,50]
          return %2
        }"""),
    "products of a batch": ("core", {}, """
        graph g(%0: f32[3,20,40], %1: f32[3,40,24]) {
          %2 = dot(%0, %1) dtype=f32 batch=[[0,0]] contract=[[2,1]] : f32[3,20,24]
          return %2
        }"""),
    "a product by columns": ("core", {}, """
        graph g(%0: f32[120,40], %1: f32[120,24]) {
          %2 = dot(%0, %1) dtype=f32 contract=[[0,0]] : f32[40,24]
          return %2
        }"""),
    "a vector by a matrix": ("core", {}, """
        graph g(%0: f32[130], %1: f32[130,70]) {
          %2 = dot(%0, %1) dtype=f32 contract=[[0,0]] : f32[70]
          return %2
        }"""),
    "a chain over rows": ("core", {}, """
        graph g(%0: f32[300,50], %1: f32[50]) {
          %2 = broadcast(%1) shape=[300,50] dims=[1] : f32[300,50]
          %3 = add(%0, %2) : f32[300,50]
          %4 = exp(%3) : f32[300,50]
          %5 = multiply(%4, %0) : f32[300,50]
          %6 = tanh(%5) : f32[300,50]
          return %6
        }"""),
    "softmax": ("core", {"fast": True}, """
        graph g(%0: f32[90,75]) {
          %1 = constant() value=f32[]{-inf} : f32[]
          %2 = reduce(%0, %1) dims=[1] reducer=maximum : f32[90]
          %3 = broadcast(%2) shape=[90,75] dims=[0] : f32[90,75]
          %4 = subtract(%0, %3) : f32[90,75]
          %5 = exp(%4) : f32[90,75]
          %6 = constant() value=f32[]{0.0} : f32[]
          %7 = reduce(%5, %6) dims=[1] reducer=add : f32[90]
          %8 = broadcast(%7) shape=[90,75] dims=[0] : f32[90,75]
          %9 = divide(%5, %8) : f32[90,75]
          return %9
        }"""),
    "sums of columns": ("core", {}, """
        graph g(%0: f32[150,40]) {
          %1 = constant() value=f32[]{0.0} : f32[]
          %2 = reduce(%0, %1) dims=[0] reducer=add : f32[40]
          %3 = reduce(%0, %1) dims=[0,1] reducer=add : f32[]
          return %2, %3
        }"""),
    "sums in the middle": ("core", {}, """
        graph g(%0: i32[6,30,20]) {
          %1 = constant() value=i32[]{0} : i32[]
          %2 = reduce(%0, %1) dims=[1] reducer=add : i32[6,20]
          return %2
        }"""),
    "transposes": ("core", {}, """
        graph g(%0: f32[70,45], %1: bf16[34,66], %2: i8[40,90]) {
          %3 = transpose(%0) permutation=[1,0] : f32[45,70]
          %4 = transpose(%1) permutation=[1,0] : bf16[66,34]
          %5 = transpose(%2) permutation=[1,0] : i8[90,40]
          return %3, %4, %5
        }"""),
    "slices with steps": ("core", {}, """
        graph g(%0: f32[60,90], %1: bf16[20,64], %2: i8[20,96]) {
          %3 = slice(%0) start=[3,5] limit=[60,88] stride=[2,3] : f32[29,28]
          %4 = slice(%1) start=[0,1] limit=[20,64] stride=[1,2] : bf16[20,32]
          %5 = slice(%2) start=[0,0] limit=[20,96] stride=[1,4] : i8[20,24]
          return %3, %4, %5
        }"""),
    "pads, joins, reversals": ("core", {}, """
        graph g(%0: f32[20,30], %1: f32[20,7]) {
          %2 = constant() value=f32[]{2.0} : f32[]
          %3 = pad(%0, %2) low=[1,2] high=[3,0] interior=[0,1] : f32[24,61]
          %4 = concatenate(%0, %1, %0) dim=1 : f32[20,67]
          %5 = reverse(%0) dims=[0,1] : f32[20,30]
          return %3, %4, %5
        }"""),
    "narrow tensors": ("core", {}, """
        graph g(%0: f32[500,3], %1: f32[500,3]) {
          %2 = multiply(%0, %1) : f32[500,3]
          %3 = constant() value=f32[]{0.0} : f32[]
          %4 = reduce(%2, %3) dims=[1] reducer=add : f32[500]
          return %2, %4
        }"""),
    "more than fits on the chip": ("nano", {}, """
        graph g(%0: i32[64,40], %1: i32[64,40]) {
          %2 = add(%0, %1) : i32[64,40]
          %3 = multiply(%2, %1) : i32[64,40]
          %4 = transpose(%3) permutation=[1,0] : i32[40,64]
          return %4
        }"""),
    "wide rows": ("core", {}, """
        graph g(%0: f32[3,5000]) {
          %1 = constant() value=f32[]{-inf} : f32[]
          %2 = reduce(%0, %1) dims=[1] reducer=maximum : f32[3]
          %3 = broadcast(%2) shape=[3,5000] dims=[0] : f32[3,5000]
          %4 = divide(%0, %3) : f32[3,5000]
          return %4
        }"""),
    "sums apart": ("core", {}, """
        graph g(%0: f32[3,4,5,20]) {
          %1 = constant() value=f32[]{0.0} : f32[]
          %2 = reduce(%0, %1) dims=[0,2] reducer=add : f32[4,20]
          %3 = broadcast(%2) shape=[3,4,5,20] dims=[1,3] : f32[3,4,5,20]
          %4 = subtract(%0, %3) : f32[3,4,5,20]
          %5 = reduce(%4, %1) dims=[1,2,3] reducer=add : f32[3]
          return %4, %5
        }"""),
    "a product with much beside it": ("core", {}, """
        graph g(%0: f32[300,64], %1: f32[64,90], %2: f32[300,90], %3: f32[300,90]) {
          %4 = dot(%0, %1) dtype=f32 contract=[[1,0]] : f32[300,90]
          %5 = add(%4, %2) : f32[300,90]
          %6 = multiply(%5, %3) : f32[300,90]
          return %5, %6
        }"""),
    "a layer": ("core", {}, """
        graph g(%0: f32[300,90], %1: f32[90,70], %2: f32[70]) {
          %3 = dot(%0, %1) dtype=f32 contract=[[1,0]] : f32[300,70]
          %4 = broadcast(%2) shape=[300,70] dims=[1] : f32[300,70]
          %5 = add(%3, %4) : f32[300,70]
          %6 = constant() value=f32[]{0.0} : f32[]
          %7 = broadcast(%6) shape=[300,70] : f32[300,70]
          %8 = maximum(%5, %7) : f32[300,70]
          %9 = reduce(%8, %6) dims=[0] reducer=add : f32[70]
          return %8, %9
        }"""),
    "long rows turned": ("core", {}, """
        graph g(%0: f32[40,300], %1: bf16[6,130,20], %2: i8[130,70], %3: f32[4,5,6,7]) {
          %4 = transpose(%0) permutation=[1,0] : f32[300,40]
          %5 = transpose(%1) permutation=[0,2,1] : bf16[6,20,130]
          %6 = transpose(%2) permutation=[1,0] : i8[70,130]
          %7 = transpose(%3) permutation=[0,2,3,1] : f32[4,6,7,5]
          return %4, %5, %6, %7
        }"""),
    "rows repeated": ("core", {}, """
        graph g(%0: f32[9,40], %1: bf16[9,40]) {
          %2 = broadcast(%0) shape=[9,40,5] dims=[0,1] : f32[9,40,5]
          %3 = broadcast(%1) shape=[9,40,5] dims=[0,1] : bf16[9,40,5]
          %4 = broadcast(%0) shape=[9,5,40] dims=[0,2] : f32[9,5,40]
          %5 = reshape(%0) shape=[90,4] : f32[90,4]
          return %2, %3, %4, %5
        }"""),
    "a wide convolution": ("core", {}, """
        graph g(%0: f32[4,12,12,20], %1: f32[3,3,20,24]) {
          %2 = convolution(%0, %1) dtype=f32 layout="b01f_01io->b01f" stride=[2,2]
              padding=[[1,1],[1,1]] x_dilation=[1,1] w_dilation=[1,1] : f32[4,6,6,24]
          return %2
        }"""),
    "a convolution of one image for many": ("core", {}, """
        graph g(%0: f32[12,12,20], %1: f32[3,3,20,24]) {
          %2 = broadcast(%0) shape=[4,12,12,20] dims=[1,2,3] : f32[4,12,12,20]
          %3 = convolution(%2, %1) dtype=f32 layout="b01f_01io->b01f" stride=[1,1]
              padding=[[0,0],[0,0]] x_dilation=[1,1] w_dilation=[1,1] : f32[4,10,10,24]
          return %3
        }"""),
    "a loop of products": ("core", {}, """
        graph g(%0: f32[40,70], %1: f32[70,70]) {
          %2 = constant() value=i32[]{0} : i32[]
          %3, %4, %5 = while(%2, %0, %1) : i32[], f32[40,70], f32[70,70] {
            cond(%6: i32[], %7: f32[40,70], %8: f32[70,70]) {
              %9 = constant() value=i32[]{20} : i32[]
              %10 = compare(%6, %9) direction=lt : bool[]
              return %10
            }
            body(%11: i32[], %12: f32[40,70], %13: f32[70,70]) {
              %14 = constant() value=i32[]{1} : i32[]
              %15 = add(%11, %14) : i32[]
              %16 = dot(%12, %13) dtype=f32 contract=[[1,0]] : f32[40,70]
              %17 = tanh(%16) : f32[40,70]
              return %15, %17, %13
            }
          }
          return %4
        }"""),
    "rows by index": ("core", {}, """
        graph g(%0: f32[300,24], %1: i32[60,1], %2: f32[60,24], %3: i32[]) {
          %4 = gather(%0, %1) offset_dims=[1] collapsed=[0] start_map=[0]
              index_dim=1 sizes=[1,24] : f32[60,24]
          %5 = scatter(%0, %1, %2) window_dims=[1] inserted=[0] start_map=[0]
              index_dim=1 reducer=add : f32[300,24]
          %6 = dynamic_slice(%0, %3, %3) sizes=[150,20] : f32[150,20]
          %7 = dynamic_update_slice(%0, %2, %3, %3) : f32[300,24]
          return %4, %5, %6, %7
        }"""),
    "conversions": ("core", {}, """
        graph g(%0: f32[50,40], %1: i8[50,40]) {
          %2 = convert(%0) dtype=bf16 : bf16[50,40]
          %3 = convert(%1) dtype=f32 : f32[50,40]
          %4 = add(%0, %3) : f32[50,40]
          %5 = convert(%4) dtype=i8 : i8[50,40]
          return %2, %5
        }"""),
}
#: Chip, types and sizes of products, on either side of what decides how they are cut.
PRODUCTS = [(chip, types, sizes) for chip, types in (("core", "f32 f32"), ("core4", "bf16 bf16"),
                                                     ("edge", "i8 i32"), ("v2", "bf16 f32"))
            for sizes in ((17, 33, 5), (100, 120, 130), (500, 20, 24), (24, 20, 500),
                          (20, 900, 20))]


#: Those that come in parts on a chip with little memory.
IN_PARTS = (
    "products of a batch", "a product by columns", "a vector by a matrix", "softmax",
    "sums of columns", "sums in the middle", "transposes", "slices with steps",
    "pads, joins, reversals", "narrow tensors", "more than fits on the chip", "wide rows",
    "sums apart", "long rows turned", "rows repeated", "conversions")


def product(types, rows, depth, columns):
    """Return the graph of a product."""
    dtype, to = types.split()
    return parse(f"""
        graph g(%0: {dtype}[{rows},{depth}], %1: {dtype}[{depth},{columns}]) {{
          %2 = dot(%0, %1) dtype={to} contract=[[1,0]] : {to}[{rows},{columns}]
          return %2
        }}""")


#: Programs of ``celosia bench compiled`` that are compiled in no time.
BENCH = ("mlp-adam", "mlp-forward", "convolution", "lstm-sgd", "int8-forward")


@cache
def programs():
    """Return chips, options and graphs, by name."""
    found = {name: (chip, options, parse(text)) for name, (chip, options, text) in GRAPHS.items()}
    for name in IN_PARTS:
        found[f"{name}, where little fits"] = SMALL, *found[name][1:]
    for chip, types, sizes in PRODUCTS:
        found[f"product {sizes} on {chip}"] = chip, {}, product(types, *sizes)
    for name in BENCH:
        found[name] = "core", {}, import_stablehlo(BENCH_PROGRAMS[name].path.read_text())
    counts = {}
    for snippet in snippets():
        if not snippet.form:
            counts[snippet.name] = counts.get(snippet.name, 0) + 1
            found[f"{snippet.name} {counts[snippet.name]}"] = (
                "core", {}, import_stablehlo(snippet.text))
    return found


def cost(compiled):
    """Return instructions in memory and executed, cycles, bytes read and written, and a digest of
    the code.
    """
    program, config = compiled.program, compiled.config
    try:  # loops turn once
        found = predict(program, config)
    except ValueError:  # a place that is read must be a multiple of something
        found = predict(program, config, reads=lambda pc, count: 0)
    return [len(program.insns), found.instructions, found.cycles, found.bytes_read,
            found.bytes_written, hashlib.sha256(program.code()).hexdigest()[:8]]


def cost_of(name):
    """Return what a program costs."""
    chip, options, graph = programs()[name]
    return cost(celosia.compile(graph, chip, cache=False, options=options))


def write(file, rows):
    """Write what was found anew, a line each."""
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    file.write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    write(FILE, {name: cost_of(name) for name in programs()})
