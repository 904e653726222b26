"""Four chips of RTL that exchange arrays give the bits that four golden models give."""

import numpy as np

import celosia
from celosia.collectives import interpret_spmd, run_spmd
from celosia.graph import parse

#: Gradients of a layer, of the batch that each device has; then its weights, one more step on.
GRAPH = """graph step(
  %0: f32[8,20] "x",
  %1: f32[8,12] "dy",
  %2: f32[20,12] "w"
) {
  %3 = device_id() : u32[]
  %4 = convert(%3) dtype=f32 : f32[]
  %5 = dot(%0, %1) dtype=f32 contract=[[0,0]] : f32[20,12]
  %6 = all_reduce(%5) groups=[[0,1,2,3]] reducer=add : f32[20,12]
  %7 = subtract(%2, %6) : f32[20,12]
  %8 = reduce_scatter(%7) groups=[[0,1],[2,3]] reducer=maximum dim=0 : f32[10,12]
  %9 = broadcast(%4) shape=[10,12] : f32[10,12]
  %10 = add(%8, %9) : f32[10,12]
  return %7, %10
}
"""


def test_four_chips_of_rtl():
    rng = np.random.default_rng(4)
    weights = rng.standard_normal((20, 12)).astype(np.float32)
    arguments = [[rng.standard_normal((8, 20)).astype(np.float32),
                  rng.standard_normal((8, 12)).astype(np.float32), weights] for _ in range(4)]
    compiled = celosia.compile(parse(GRAPH), "core", strict=True)
    found = {}
    for backend in ("model", "rtl"):
        chips = [celosia.open(backend, "core") for _ in range(4)]
        executables = [compiled.load(chip) for chip in chips]
        found[backend] = run_spmd(executables, arguments, timeout=120)
        assert all(executable.cycles > 0 for executable in executables)
        for chip in chips:
            chip.close()
    wanted = interpret_spmd(parse(GRAPH), arguments)
    for model, rtl, right in zip(found["model"], found["rtl"], wanted, strict=True):
        for a, b, c in zip(model, rtl, right, strict=True):
            assert a.tobytes() == b.tobytes()
            np.testing.assert_allclose(a, c, 1e-5, 1e-5)
