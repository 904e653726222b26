"""Views set to one word, on the golden model."""

import numpy as np
import pytest
from moving import CORE, NANO, SMALL, Memory, everything, whole

from celosia.compiler.codegen.nodes import Base
from celosia.compiler.emit.fill import emit_fill
from celosia.compiler.lowered import Access, Fill
from celosia.compiler.views import View

#: Words, and what they are as elements.
WORDS = {"f32": (0xDEADBEEF, 0xDEADBEEF), "bf16": (0x3F8C8000, 0x3F8C), "i8": (0xFFFFFF9C, -100)}
VIEWS = [
    ((40, 70), lambda view: view), ((40, 71), lambda view: view), ((), lambda view: view),
    ((30, 9), lambda view: view.slice((2, 1), (29, 8))),
    ((6, 12, 8), lambda view: view.slice((0, 0, 2), (6, 12, 4))),
    ((30, 9), lambda view: view.slice((0, 0), (30, 9), (3, 2))),
    ((300, 200), lambda view: view), ((4, 0), lambda view: view),
    ((7, 8), lambda view: view.transpose((1, 0)).reverse((0,)))]


@pytest.mark.parametrize("config", [SMALL, NANO], ids=lambda config: config.name)
@pytest.mark.parametrize("dtype", WORDS)
@pytest.mark.parametrize("case", range(len(VIEWS)))
def test_fill(config, dtype, case):
    if dtype == "bf16" and not config.bf16:
        pytest.skip("no bf16")
    shape, change = VIEWS[case]
    word, bits = WORDS[dtype]
    memory = Memory(config)
    made = memory.tensor("made", shape, dtype)
    access = Access(made, change(View.contiguous(shape)))
    after, _, _ = memory.run(emit_fill(config, Fill(access, word), everything(config)))
    _, places = memory.seen(access)
    expected = np.frombuffer(bytes(memory.data), np.uint8).copy()
    raw = np.array(bits, {1: np.int8, 2: np.uint16, 4: np.uint32}[made.element_bytes])
    expected[places[..., np.newaxis] + np.arange(made.element_bytes)] = np.frombuffer(
        raw.tobytes(), np.uint8)
    np.testing.assert_array_equal(np.frombuffer(after, np.uint8)[:len(expected)], expected)


def test_what_does_not_fit_a_byte_is_the_nearest_that_does():
    memory = Memory(SMALL)
    made = memory.tensor("made", (3,), "i8")
    after, _, _ = memory.run(emit_fill(SMALL, Fill(whole(made), 1000), everything(SMALL)))
    np.testing.assert_array_equal(memory.array(made, after), [127] * 3)


@pytest.mark.parametrize("dtype", WORDS)
def test_the_bus_is_busy(dtype):
    memory = Memory(CORE)
    made = memory.tensor("made", (512, 128), dtype)
    emitted = emit_fill(CORE, Fill(whole(made), WORDS[dtype][0]), everything(CORE))
    _, _, cycles = memory.run(emitted, scheduled=True)
    assert cycles < 1.15 * made.nbytes / CORE.bus_bytes + 100


def test_a_base_goes_into_the_stores():
    memory = Memory(SMALL)
    made = memory.tensor("made", (16, 8), "i8")
    base = Base("start")
    emitted = emit_fill(SMALL, Fill(Access(made, View(0, (2, 8), (8, 1)), base), 1),
                        everything(SMALL))
    [store] = emitted.blocks[0].stages[0]
    first = made.home.offset
    assert (store.base, store.reach) == (base, (first, first + 127))
