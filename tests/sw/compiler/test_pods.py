"""What programs of several chips are made of: steps, their code, and what is said of them.

Results are tested elsewhere; where exchanges lie, what is beside them and how much the chips turn
about for them shows only here. Where a change is meant, the difference is for review.
"""

import hashlib
from dataclasses import replace

import pytest

import celosia
from celosia.arch.config import preset
from celosia.compiled.steps import ChipStep
from celosia.compiler import api
from celosia.graph import parse
from sw.compiler.test_overlap import layer

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

#: By name, ports: place and arguments of each step; of one of the chip its instructions, bytes
#: of memory, and code.
STEPS = {
    ("gathered", 0): [
        "chip [0] 7 23040 fb8253 f4ca0c",
        "link [1] all_gather a64fdb",
        "chip [2] 19 115200 ba9eb6 4eb070",
    ],
    ("gathered", 2): [
        "chip [0] 7 23040 fb8253 f4ca0c",
        "link [1] all_gather a64fdb",
        "chip [2] 19 115200 ba9eb6 4eb070",
    ],
    ("gathered within", 0): [
        "chip [0] 7 23040 fb8253 f4ca0c",
        "link [1] all_gather a64fdb",
        "chip [2] 19 115200 ba9eb6 a1b6ac",
    ],
    ("gathered within", 2): [
        "chip [0] 7 23040 fb8253 53837c",
        "link [2] all_gather a64fdb",
        "chip [3] 52 161280 835775 250ffa",
    ],
    ("gathered at the end", 0): [
        "chip [0] 7 23040 fb8253 f4ca0c",
        "link [1] all_gather a64fdb",
        "chip [2] 19 115200 ba9eb6 71f3f6",
    ],
    ("gathered at the end", 2): [
        "chip [0] 7 23040 fb8253 53837c",
        "link [2] all_gather a64fdb",
        "chip [3] 83 161280 5e5508 097802",
    ],
    ("scattered", 0): [
        "chip [0] 7 23040 fb8253 f4ca0c",
        "link [1] reduce_scatter 798053",
        "chip [2] 4 28800 5fa0ac 6eb363",
    ],
    ("scattered", 2): [
        "chip [0] 7 23040 fb8253 f4ca0c",
        "link [1] reduce_scatter 798053",
        "chip [2] 4 28800 5fa0ac 6eb363",
    ],
    ("scattered at the end", 0): [
        "chip [0] 7 23040 fb8253 f4ca0c",
        "link [1] reduce_scatter 798053",
        "chip [2] 4 28800 5fa0ac df41b7",
    ],
    ("scattered at the end", 2): [
        "chip [0] 31 34560 e1d2db d23625",
        "link [2] reduce_scatter 798053",
        "chip [3] 4 40320 37c83d 0e5e01",
    ],
    ("to all", 0): [
        "chip [0] 7 23040 fb8253 f4ca0c",
        "link [1] all_to_all 0946e0",
        "chip [2] 7 46080 1d4ef8 2e2847",
    ],
    ("to all", 2): [
        "chip [0] 7 23040 fb8253 f4ca0c",
        "link [1] all_to_all 0946e0",
        "chip [2] 7 46080 1d4ef8 2e2847",
    ],
    ("to all, wider", 0): [
        "chip [0] 7 23040 fb8253 f4ca0c",
        "link [1] all_to_all 0946e0",
        "chip [2] 7 46080 1d4ef8 75719a",
    ],
    ("to all, wider", 2): [
        "chip [0] 7 23040 fb8253 53837c",
        "link [2] all_to_all 0946e0",
        "chip [3] 23 57600 39e446 3405cf",
    ],
    ("to all, longer", 0): [
        "chip [0] 7 23040 fb8253 f4ca0c",
        "link [1] all_to_all 0946e0",
        "chip [2] 7 46080 1d4ef8 f7d779",
    ],
    ("to all, longer", 2): [
        "chip [0] 31 34560 e1d2db d23625",
        "link [2] all_to_all 0946e0",
        "chip [3] 7 57600 d323ab f2d5b6",
    ],
    ("to all, within", 0): [
        "chip [0] 7 23040 fb8253 f4ca0c",
        "link [1] all_to_all 0946e0",
        "chip [2] 7 46080 1d4ef8 1341a4",
    ],
    ("to all, within", 2): [
        "chip [0] 31 34560 e1d2db d23625",
        "link [2] all_to_all 0946e0",
        "chip [3] 23 69120 d35345 06fcbd",
    ],
    ("joined", 0): [
        "chip [0] 7 23040 fb8253 f4ca0c",
        "link [1] all_reduce 435c27",
        "chip [2] 7 46080 1d4ef8 e1dcca",
    ],
    ("joined", 2): [
        "chip [0] 7 23040 fb8253 f4ca0c",
        "link [1] all_reduce 435c27",
        "chip [2] 7 46080 1d4ef8 e1dcca",
    ],
    ("passed on", 0): [
        "chip [0] 7 23040 fb8253 f4ca0c",
        "link [1] collective_permute 30f8bb",
        "chip [2] 7 46080 1d4ef8 c87b9c",
    ],
    ("passed on", 2): [
        "chip [0] 7 23040 fb8253 f4ca0c",
        "link [1] collective_permute 30f8bb",
        "chip [2] 7 46080 1d4ef8 c87b9c",
    ],
    ("a product beside the first exchange", 0): [
        "link [1, 2] all_gather+all_gather 58b1f7",
        "chip [0, 3, 4] 140 147456 15e4e5 de6ed4",
    ],
    ("a product beside the first exchange", 2): [
        "link [1] all_gather 10dcf0",
        "chip [0] 116 65536 cb9e2d d1f8d1",
        "link [2] all_gather 10dcf0",
        "chip [3, 4] 62 114688 359b14 c61b0e",
        "chip [6, 4] 62 163840 162e74 75455d",
    ],
    ("an exchange at the end", 0): [
        "chip [0, 1] 212 321664 e98ff2 1791f1",
        "link [3] all_reduce 1a89af",
    ],
    ("an exchange at the end", 2): [
        "chip [0, 1] 212 321664 e98ff2 1791f1",
        "link [3] all_reduce 1a89af",
    ],
    ("what only the last part wants", 0): [
        "chip [0] 4 7680 f8896c 0a095e",
        "link [2] all_reduce 41ffb6",
        "chip [1, 3] 12 19200 c25f4e 532ee9",
    ],
    ("what only the last part wants", 2): [
        "chip [0] 4 7680 f8896c 0a095e",
        "link [2] all_reduce 41ffb6",
        "chip [1, 3] 12 19200 c25f4e 532ee9",
    ],
    ("a layer", 0): [
        "link [1] all_gather 10dcf0",
        "chip [0, 2] 110 106496 e0cb55 727a24",
        "link [3] reduce_scatter de11f6",
        "chip [1, 4] 11 139264 89b1a2 881fb9",
    ],
    ("a layer", 2): [
        "link [1] all_gather 10dcf0",
        "chip [0, 2] 110 106496 e0cb55 727a24",
        "link [3] reduce_scatter de11f6",
        "chip [1, 4] 11 139264 89b1a2 881fb9",
    ],
    ("layers", 0): [
        "link [1, 2, 3] all_gather+all_gather+all_gather 4e92bd",
        "chip [0, 4, 5, 6] 467 270592 ff58c2 9a7505",
        "link [7, 8, 9, 10] reduce_scatter+reduce_scatter+reduce_scatter+all_reduce 459dca",
        "chip [1, 2, 3, 11, 12, 13] 28 368896 147cf3 0b064d",
    ],
    ("layers", 2): [
        "link [1] all_gather 10dcf0",
        "link [2] all_gather 10dcf0",
        "chip [0, 4] 78 98304 7d9693 47b0dd",
        "link [3] all_gather 10dcf0",
        "chip [5, 6, 7] 89 163840 5eaac6 4d85f9",
        "chip [8, 6, 10, 7, 9] 302 254208 374098 236d9e",
        "link [11, 14] reduce_scatter+all_reduce 4b7e80",
        "chip [12, 6] 109 286976 cc1951 158f50",
        "link [17] reduce_scatter de11f6",
        "chip [1, 15, 13, 6] 119 352512 492644 a93e4e",
        "link [20] reduce_scatter de11f6",
        "chip [2, 18] 11 385280 996a1f 39a33e",
        "chip [3, 21] 11 418048 31b6ca a75d92",
    ],
    ("joined in a loop", 0): [
        "link [0] all_reduce 62f42c",
        "chip [1] 25 22400 6cc090 853733",
        "link [2] all_reduce 62f42c",
        "chip [3] 25 44800 9d7957 37fce5",
        "link [4] all_reduce 62f42c",
        "chip [5] 25 67200 4066f1 c3d0c1",
    ],
    ("joined in a loop", 2): [
        "link [0] all_reduce 62f42c",
        "chip [1] 25 22400 6cc090 853733",
        "link [2] all_reduce 62f42c",
        "chip [3] 25 44800 9d7957 37fce5",
        "link [4] all_reduce 62f42c",
        "chip [5] 25 67200 4066f1 c3d0c1",
    ],
}


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


@pytest.mark.parametrize("ports", [0, 2])
@pytest.mark.parametrize("name", GRAPHS)
def test_steps_are_as_they_were(name, ports):
    assert steps(GRAPHS[name], ports) == STEPS[name, ports]


@pytest.mark.parametrize(("name", "left"), [
    ("a product beside the first exchange", [True, True, False]),
    ("an exchange at the end", [False]), ("what only the last part wants", [False, False])])
def test_rows_are_left_to_links_that_are_at_work(monkeypatch, name, left):
    """Those before a part, of which it takes nothing; else it has all rows."""
    found = []

    def step(level, takes, config, *rest):
        found.append(config.acc_rows)
        return real(level, takes, config, *rest)

    real = api._chip_step
    monkeypatch.setattr(api, "_chip_step", step)
    config = replace(preset("core"), ports=2)
    celosia.compile(GRAPHS[name], config, cache=False)
    assert [rows < config.acc_rows for rows in found] == left
