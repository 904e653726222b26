"""What programs of several chips are made of: steps, their code, and what is said of them.

Results are tested elsewhere; where exchanges lie, what is beside them and how much the chips turn
about for them shows only in pods.json. Where a change is meant, ``PYTHONPATH=tests
python tests/sw/compiler/pods.py`` writes it anew, and the difference is for review.
"""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import celosia
from celosia.arch.config import preset
from celosia.compiled.steps import ChipStep
from celosia.graph import parse
from sw.compiler.test_overlap import layer

FILE = Path(__file__).with_suffix(".json")
PORTS = 0, 2
GROUPS = "groups=[[0,1,2,3]]"
EXCHANGES = {
    "gathered": f"all_gather(%0) {GROUPS} dim=0 : f32[96,3,40]",
    "gathered within": f"all_gather(%0) {GROUPS} dim=1 : f32[24,12,40]",
    "gathered at the end": f"all_gather(%0) {GROUPS} dim=2 : f32[24,3,160]",
    "scattered": f"reduce_scatter(%0) {GROUPS} reducer=add dim=0 : f32[6,3,40]",
    "scattered at the end": f"reduce_scatter(%0) {GROUPS} reducer=maximum dim=2 : f32[24,3,10]",
    "to all": f"all_to_all(%0) {GROUPS} split=0 concat=0 : f32[24,3,40]",
    "to all, wider": f"all_to_all(%0) {GROUPS} split=0 concat=1 : f32[6,12,40]",
    "to all, longer": f"all_to_all(%0) {GROUPS} split=2 concat=0 : f32[96,3,10]",
    "to all, within": f"all_to_all(%0) {GROUPS} split=2 concat=1 : f32[24,12,10]",
    "joined": f"all_reduce(%0) {GROUPS} reducer=add : f32[24,3,40]",
    "passed on": "collective_permute(%0) pairs=[[0,1],[1,2],[2,3]] : f32[24,3,40]",
}
GRAPHS = {name: parse(f"""
    graph g(%9: f32[24,3,40]) {{
      %0 = abs(%9) : f32[24,3,40]
      %1 = {text}
      %2 = negate(%1) : {text.rpartition(" : ")[2]}
      return %2, %0
    }}""") for name, text in EXCHANGES.items()} | {
    "a product beside the first exchange": parse("""
        graph g(%0: f32[64,128], %1: f32[32,128], %2: f32[32,128]) {
          %3 = all_gather(%1) groups=[[0,1]] dim=0 : f32[64,128]
          %4 = all_gather(%2) groups=[[0,1]] dim=0 : f32[64,128]
          %5 = dot(%0, %0) dtype=f32 contract=[[1,1]] : f32[64,64]
          %6 = dot(%0, %3) dtype=f32 contract=[[1,1]] : f32[64,64]
          %7 = dot(%0, %4) dtype=f32 contract=[[1,1]] : f32[64,64]
          return %5, %6, %7
        }"""),
    "an exchange at the end": parse("""
        graph g(%0: f32[500,60], %1: f32[60,90], %2: f32[4]) {
          %3 = dot(%0, %1) dtype=f32 contract=[[1,0]] : f32[500,90]
          %4 = all_reduce(%3) groups=[[0,1]] reducer=add : f32[500,90]
          return %4
        }"""),
    "what only the last part wants": parse("""
        graph g(%0: f32[24,40], %1: f32[24,40]) {
          %2 = constant() value=f32[]{2.0} : f32[]
          %3 = broadcast(%2) shape=[24,40] : f32[24,40]
          %4 = multiply(%1, %3) : f32[24,40]
          %5 = exp(%4) : f32[24,40]
          %6 = abs(%0) : f32[24,40]
          %7 = all_reduce(%6) groups=[[0,1]] reducer=add : f32[24,40]
          %8 = add(%7, %5) : f32[24,40]
          return %8
        }"""),
    "a layer": layer(1), "layers": layer(3, extra=1), "joined in a loop": parse("""
        graph g(%0: f32[40,70]) {
          %2 = constant() value=i32[]{0} : i32[]
          %3, %4 = while(%2, %0) : i32[], f32[40,70] {
            cond(%6: i32[], %7: f32[40,70]) {
              %9 = constant() value=i32[]{3} : i32[]
              %10 = compare(%6, %9) direction=lt : bool[]
              return %10
            }
            body(%11: i32[], %12: f32[40,70]) {
              %14 = constant() value=i32[]{1} : i32[]
              %15 = add(%11, %14) : i32[]
              %16 = all_reduce(%12) groups=[[0,1]] reducer=add : f32[40,70]
              %17 = tanh(%16) : f32[40,70]
              return %15, %17
            }
          }
          return %4
        }""")}


def digest(what):
    return hashlib.sha256(what if isinstance(what, bytes) else str(what).encode()).hexdigest()[:6]


def steps(graph, ports):
    """Return a line for each step."""
    made = celosia.compile(graph, replace(preset("core"), ports=ports), cache=False)
    return [f"{step.where} {list(step.takes)} " + (
        f"{len(step.program.insns)} {step.program.arena_bytes} {digest(step.program.code())} "
        f"{digest((step.works, step.places, step.apart))}" if isinstance(step, ChipStep) else
        f"{'+'.join(node.op for node in step.graph.nodes if node.op != 'parameter')} "
        f"{digest(step.works)}") for step in made.steps]


def all_steps(name):
    """Return the steps of a graph by the ports of the chips.

    Place and arguments of each; of one of the chip its instructions, bytes of memory, and code.
    """
    return {str(ports): steps(GRAPHS[name], ports) for ports in PORTS}


if __name__ == "__main__":
    FILE.write_text(json.dumps({name: all_steps(name) for name in GRAPHS}, indent=1) + "\n")
