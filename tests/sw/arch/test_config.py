import dataclasses
import re

import pytest

from celosia.arch.config import PRESETS, TpuConfig, preset

GOOD = {"name": "tiny", "dim": 4, "int8": True, "bf16": False, "ub_rows": 64, "acc_rows": 16,
        "bus_bytes": 4}


@pytest.mark.parametrize(("change", "message"), [
    ({"name": "a b"}, "name must be an identifier, not 'a b'"),
    ({"name": 3}, "name must be an identifier, not 3"),
    ({"dim": 3}, "dim must be a power of two from 2 to 256, not 3"),
    ({"dim": 512}, "dim must be a power of two from 2 to 256, not 512"),
    ({"dim": 1}, "dim must be a power of two from 2 to 256, not 1"),
    ({"dim": 4.0}, "dim must be a power of two from 2 to 256, not 4.0"),
    ({"int8": 1}, "int8 must be a bool, not 1"),
    ({"bf16": None}, "bf16 must be a bool, not None"),
    ({"int8": False}, "int8 must be True where bf16 is False, not False"),
    ({"ub_rows": 62}, "ub_rows must be a multiple of 4 from 16 to 1048576, not 62"),
    ({"ub_rows": 12}, "ub_rows must be a multiple of 4 from 16 to 1048576, not 12"),
    ({"ub_rows": 1 << 21}, "ub_rows must be a multiple of 4 from 16 to 1048576, not 2097152"),
    ({"acc_rows": 1 << 17}, "acc_rows must be a multiple of 4 from 16 to 65536, not 131072"),
    ({"bus_bytes": 2}, "bus_bytes must be a power of two from 4 to 128, not 2"),
    ({"bus_bytes": 256}, "bus_bytes must be a power of two from 4 to 128, not 256"),
    ({"window": 64}, "window must be a power of two from 2 to 32, not 64"),
    ({"ibuf": 8}, "ibuf must be a power of two from 16 to 1024, not 8"),
    ({"lanes": 3}, "lanes must be one of 4, 2, 1, not 3"),
    ({"lanes": 8}, "lanes must be one of 4, 2, 1, not 8"),
    ({"lanes": 2.0}, "lanes must be one of 4, 2, 1, not 2.0"),
    ({"ports": 7}, "ports must be from 0 to 6, not 7"),
    ({"ports": True}, "ports must be from 0 to 6, not True"),
    ({"link_bytes": 2}, "link_bytes must be one of 4, 8, 16, not 2"),
    ({"ports": 1, "link_bytes": 16},
     "link_bytes must be at most 4, the bytes of the shortest row, not 16"),
    ({"link_frames": 1}, "link_frames must be from 2 to 64, not 1"),
    ({"banks": 3}, "banks must be one of 1, 2, 4, not 3"),
    ({"banks": 0}, "banks must be one of 1, 2, 4, not 0"),
    ({"dim": 2, "lanes": 4}, "lanes must be one of 2, 1, not 4"),
])
def test_errors(change, message):
    with pytest.raises(ValueError, match=f"^TpuConfig.{re.escape(message)}$"):
        TpuConfig(**(GOOD | change))


def test_sizes():
    core = preset("core")
    assert (core.lane_bits, core.ub_row_bits, core.acc_row_bits) == (16, 256, 512)
    assert (core.ub_bytes, core.acc_bytes, core.pes) == (512 * 1024, 128 * 1024, 256)
    assert core.formats == ("int8", "bf16")
    v1 = preset("v1")
    assert (v1.lane_bits, v1.ub_bytes, v1.acc_bytes) == (8, 24 << 20, 4 << 20)
    assert preset("v2").formats == ("bf16",)


def test_a_row_passes_the_lanes_in_beats():
    assert TpuConfig(**GOOD) == TpuConfig(**GOOD, lanes=4)
    assert [TpuConfig(**GOOD, lanes=lanes).fold for lanes in (0, 4, 2, 1)] == [1, 1, 2, 4]
    assert all(config.fold == 1 for config in PRESETS.values())


def test_fingerprint_tells_what_programs_see():
    base = TpuConfig(**GOOD)
    assert dataclasses.replace(base, name="other").fingerprint == base.fingerprint
    assert dataclasses.replace(base, lanes=1).fingerprint == base.fingerprint
    assert dataclasses.replace(base, banks=1).fingerprint == base.fingerprint
    changes = [{"dim": 2, "lanes": 0}, {"bf16": True}, {"ub_rows": 128}, {"acc_rows": 32},
               {"bus_bytes": 8}, {"window": 4}, {"ibuf": 32}, {"ports": 1}, {"ports": 2}]
    prints = {dataclasses.replace(base, **change).fingerprint for change in changes}
    assert len(prints | {base.fingerprint}) == len(changes) + 1


def test_ports_are_seen_where_there_are_some():
    base, linked = TpuConfig(**GOOD), TpuConfig(**GOOD, ports=2)
    # That of chips before links were thought of.
    assert preset("core").fingerprint == 0x6b6428ca
    assert "ports" not in base.visible
    assert dataclasses.replace(base, link_bytes=8, link_frames=8).fingerprint == base.fingerprint
    assert linked.differences(base) == "ports 2 (here 0)"
    assert base.differences(linked) == "ports 0 (here 2)"


def test_presets_are_named_after_themselves():
    assert list(PRESETS) == ["pico", "nano", "edge", "core4", "core", "v2", "v1"]
    assert all(preset(name).name == name for name in PRESETS)


def test_what_a_chip_has_that_is_not_told():
    config = TpuConfig(**GOOD)
    assert dataclasses.astuple(config)[7:] == (8, 64, 4, 0, 4, 8, 4)


@pytest.mark.parametrize(("change", "small", "cut", "sum_cycles", "product_cycles"), [
    ({}, False, False, 1, 1), ({"lanes": 2}, False, True, 1, 1),
    ({"banks": 2}, False, False, 1, 1), ({"banks": 1, "lanes": 1}, True, False, 1, 1),
    ({"bf16": True}, False, False, 1, 1), ({"bf16": True, "lanes": 2}, False, True, 2, 2),
    ({"bf16": True, "lanes": 1}, False, True, 4, 2),
    ({"bf16": True, "lanes": 1, "banks": 1}, True, False, 4, 2)])
def test_what_follows_from_lanes_and_banks(change, small, cut, sum_cycles, product_cycles):
    config = TpuConfig(**(GOOD | change))
    assert (config.small, config.cut) == (small, cut)
    assert (config.sum_cycles, config.product_cycles) == (sum_cycles, product_cycles)


@pytest.mark.parametrize("change", [
    {"dim": 2}, {"dim": 256, "ub_rows": 1024, "acc_rows": 1024}, {"ub_rows": 16},
    {"ub_rows": 1 << 20}, {"acc_rows": 1 << 16}, {"bus_bytes": 128}, {"window": 2}, {"window": 32},
    {"ibuf": 16}, {"ibuf": 1024}, {"ports": 6}, {"ports": 1, "link_bytes": 4},
    {"ports": 1, "link_bytes": 8, "bf16": True, "int8": False}, {"link_bytes": 16},
    {"link_frames": 2}, {"link_frames": 64}, {"banks": 1}, {"banks": 2}])
def test_the_ends_of_each_range_are_in_it(change):
    config = TpuConfig(**(GOOD | change))
    assert {name: getattr(config, name) for name in change} == change


@pytest.mark.parametrize(("change", "message"), [
    ({"dim": 128, "ub_rows": 508}, "ub_rows must be a multiple of 4 from 512 to 1048576, not 508"),
    ({"acc_rows": 12}, "acc_rows must be a multiple of 4 from 16 to 65536, not 12"),
    ({"acc_rows": 18}, "acc_rows must be a multiple of 4 from 16 to 65536, not 18"),
    ({"window": 1}, "window must be a power of two from 2 to 32, not 1"),
    ({"ibuf": 2048}, "ibuf must be a power of two from 16 to 1024, not 2048"),
    ({"ibuf": 48}, "ibuf must be a power of two from 16 to 1024, not 48"),
    ({"ports": -1}, "ports must be from 0 to 6, not -1"),
    ({"ports": 1, "link_bytes": 8},
     "link_bytes must be at most 4, the bytes of the shortest row, not 8"),
    ({"ports": 1, "int8": False, "bf16": True, "link_bytes": 16},
     "link_bytes must be at most 8, the bytes of the shortest row, not 16"),
    ({"link_frames": 65}, "link_frames must be from 2 to 64, not 65"),
    ({"bus_bytes": 0}, "bus_bytes must be a power of two from 4 to 128, not 0"),
    ({"bus_bytes": 12}, "bus_bytes must be a power of two from 4 to 128, not 12")])
def test_what_is_just_outside_a_range(change, message):
    with pytest.raises(ValueError, match=f"^TpuConfig.{re.escape(message)}$"):
        TpuConfig(**(GOOD | change))


def test_unknown_preset():
    message = "preset must be one of pico, nano, edge, core4, core, v2, v1, not 'huge'"
    with pytest.raises(ValueError, match=f"^{message}$"):
        preset("huge")
