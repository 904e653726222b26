"""What programs are and what they cost: instructions and cycles, kept in costs.json.

Results are tested elsewhere, by programs at random; but a choice among forms, sizes or orders that
are all right shows only in the code, and in what it costs. After a change of the compiler that is
meant to change them: ``PYTHONPATH=scripts python tests/sw/compiler/costs.py`` writes them anew, and
the difference is for review.
"""

import hashlib
import json
from pathlib import Path

from pages.coverage import snippets

import celosia
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
    "conversions": ("core", {}, """
        graph g(%0: f32[50,40], %1: i8[50,40]) {
          %2 = convert(%0) dtype=bf16 : bf16[50,40]
          %3 = convert(%1) dtype=f32 : f32[50,40]
          %4 = add(%0, %3) : f32[50,40]
          %5 = convert(%4) dtype=i8 : i8[50,40]
          return %2, %5
        }"""),
}


def programs():
    """Iterate over names, chips, options and graphs."""
    for name, (chip, options, text) in GRAPHS.items():
        yield name, chip, options, parse(text)
    counts = {}
    for snippet in snippets():
        if not snippet.form:
            counts[snippet.name] = counts.get(snippet.name, 0) + 1
            yield (f"{snippet.name} {counts[snippet.name]}", "core", {},
                   import_stablehlo(snippet.text))


def cost(chip, options, graph):
    """Return instructions in memory and executed, cycles, bytes read and written, and a digest of
    the code.
    """
    compiled = celosia.compile(graph, chip, cache=False, options=options)
    program, config = compiled.program, compiled.config
    try:  # loops turn once
        found = predict(program, config)
    except ValueError:  # a place that is read must be a multiple of something
        found = predict(program, config, reads=lambda pc, count: 0)
    return [len(program.insns), found.instructions, found.cycles, found.bytes_read,
            found.bytes_written, hashlib.sha256(program.code()).hexdigest()[:8]]


def all_costs():
    return {name: cost(*rest) for name, *rest in programs()}


if __name__ == "__main__":
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}"
                       for name, row in all_costs().items())
    FILE.write_text(f"{{\n{lines}\n}}\n")
