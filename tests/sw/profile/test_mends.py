"""What a chip and its memory could be instead."""

from dataclasses import replace

import pytest

from celosia.arch.config import PRESETS, preset
from celosia.model.timing import Timing
from celosia.profile.mends import changed, chip_mends, reference

CORE = preset("core")


def mended(config, timing=None):
    """What is tried of a chip and its memory, of which no rows wait for banks."""
    return list(chip_mends(config, replace(timing or Timing(), bank_conflicts=False)))


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_its_own_measure_and_lacks_nothing(name):
    config = preset(name)
    assert reference(config) is PRESETS[name]
    assert mended(config) == []
    [banks] = chip_mends(config, Timing())
    assert (banks.kind, banks.timing, banks.config, banks.repeats) == (
        "bank_conflicts", Timing(bank_conflicts=False), None, 1)


def test_another_chip_is_measured_by_the_first_preset_of_its_array():
    """Of its name alone it is none: a preset has another array there. Its formats must be in."""
    assert reference(replace(CORE, name="mine")) is PRESETS["core"]
    assert reference(replace(preset("core4"), name="core")) is PRESETS["core4"]
    assert reference(replace(preset("nano"), name="core")) is PRESETS["nano"]
    assert reference(replace(CORE, name="mine", dim=32, lanes=32)) is None


@pytest.mark.parametrize(("field", "mine", "theirs", "what"), [
    ("bus_bytes", 4, CORE.bus_bytes, "bytes a beat of the bus to memory"),
    ("window", 2, CORE.window, "instructions in the window"),
    ("ibuf", 16, CORE.ibuf, "instructions in the buffer"),
    ("lanes", 4, 16, "lanes of the vector unit"),
    ("ub_rows", 1024, 16384, "rows of the unified buffer"),
    ("acc_rows", 1024, 2048, "rows of the accumulators"),
])
def test_a_chip_with_less_than_its_preset(field, mine, theirs, what):
    [mend] = mended(replace(CORE, **{field: mine}))
    assert (mend.kind, mend.attempt, mend.place) == (field, f"{field}={theirs}", "")
    assert mend.what == f"the chip has {mine:,} {what}, core has {theirs:,}"
    assert (mend.config, mend.timing, mend.graph) == (CORE, None, None)


def test_a_chip_with_more_than_its_preset_lacks_nothing():
    assert mended(replace(CORE, window=CORE.window * 2, ub_rows=CORE.ub_rows * 2)) == []


def test_a_chip_that_is_like_none_lacks_nothing():
    assert mended(replace(CORE, name="mine", dim=32, lanes=32, window=2)) == []


@pytest.mark.parametrize(("field", "slower", "faster", "what"), [
    ("read_latency", +1, -1, "cycles of the memory to a first beat"),
    ("write_latency", +1, -1, "cycles of the memory to a response"),
    ("outstanding", -1, +1, "reads that the memory takes at once"),
])
def test_a_memory_that_is_slower_than_usual(field, slower, faster, what):
    usual = getattr(Timing(), field)
    [mend] = mended(CORE, Timing(**{field: usual + slower}))
    assert (mend.kind, mend.attempt) == (field, f"{field}={usual}")
    assert mend.what == f"{usual + slower:,} {what}, {usual:,} are usual"
    assert (mend.config, mend.timing) == (None, Timing(bank_conflicts=False))
    assert mended(CORE, Timing(**{field: usual + faster})) == []


def test_fields_of_chip_and_memory_are_changed():
    config, timing = changed(CORE, Timing(), {"window": 2, "read_latency": 1})
    assert (config, timing) == (replace(CORE, window=2), Timing(read_latency=1))
    # As many lanes as columns, if nothing else is said, and as it was where fewer.
    assert changed(CORE, Timing(), {"dim": 8})[0] == replace(CORE, dim=8, lanes=8)
    folded = replace(CORE, lanes=4)
    assert changed(folded, Timing(), {"dim": 8})[0] == replace(CORE, dim=8, lanes=2)
    assert changed(CORE, Timing(), {"dim": 8, "lanes": 4})[0] == replace(CORE, dim=8, lanes=4)
    # Numbers stand for what is on or off.
    assert changed(CORE, Timing(), {"bank_conflicts": 0})[1] == Timing(bank_conflicts=False)
    assert changed(CORE, Timing(), {"int8": 0})[0].int8 is False


@pytest.mark.parametrize(("changes", "message"), [
    ({"read_latency": 0}, "read_latency must be 1 at least, not 0"),
    ({"bank_conflicts": -1}, "bank_conflicts must be 1 at least, not -1"),
    ({"speed": 3, "name": 1}, "a what-if must change one of .*, not name, speed"),
])
def test_what_cannot_be_changed(changes, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        changed(CORE, Timing(), changes)
