"""The SDRAM model by itself: every rule that is broken is named."""

from dataclasses import replace

import pytest
from sdram_user import ALL, PART, PERIOD


def early(made):
    made.do("PRECHARGE", a=ALL, dqm=3)


def begin_with_refresh(made):
    made.pause()
    made.do("REFRESH", dqm=3)


def begin_with_masks_low(made):
    made.pause()
    made.do("PRECHARGE", a=ALL)


def few_refreshes(made):
    made.begin(refreshes=7)
    made.open()


def no_mode(made):
    made.pause()
    made.do("PRECHARGE", a=ALL, dqm=3)
    made.idle(2)
    for _ in range(8):
        made.do("REFRESH")
        made.idle(6)
    made.open()


@pytest.mark.parametrize(("rule", "act"), [
    ("tINIT", early), ("initialisation", begin_with_refresh),
    ("initialisation", begin_with_masks_low), ("initialisation", few_refreshes),
    ("initialisation", no_mode)])
def test_initialisation_is_checked(user, rule, act):
    made = user()
    act(made)
    assert made.rules == [rule]


def t_rcd(made):
    made.do("ACTIVATE")
    made.do("READ")


def t_rp(made):
    made.open()
    made.idle(3)
    made.do("PRECHARGE")
    made.do("ACTIVATE", a=1)


def t_rp_refresh(made):
    made.open()
    made.idle(4)
    made.do("PRECHARGE")
    made.do("REFRESH")


def t_ras(made):
    made.open()
    made.idle(2)
    made.close_row()


def t_ras_max(made):
    made.open()
    made.skip(13 * 780)
    made.close_row()


def t_rrd(made):
    made.do("ACTIVATE", 0)
    made.do("ACTIVATE", 1)


def t_wr(made):
    made.open()
    made.idle(3)
    made.write([1])
    made.do("PRECHARGE")


def t_mrd(made):
    made.do("MODE", a=0x30)
    made.do("ACTIVATE")


def t_rfc(made):
    made.do("REFRESH")
    made.idle(4)
    made.do("ACTIVATE")


def t_ref(made):
    made.skip(8 * 781 + 800)
    made.do("REFRESH")


def t_ref_at_the_end(made):
    made.skip(8 * 781 + 800)


def early_refreshes_save_little(made):
    for _ in range(40):
        made.do("REFRESH")
        made.idle(6)
    made.skip(10 * 781)
    made.do("REFRESH")


def closed_row(made):
    made.do("READ", 2)


def closed_row_write(made):
    made.write([1], 2)


def open_row(made):
    made.open(7)
    made.idle(5)
    made.do("ACTIVATE", a=8)


def row_open_over_a_refresh(made):
    made.open(7)
    made.idle(5)
    made.do("REFRESH")


def mode_with_a_row_open(made):
    made.open(7)
    made.idle(5)
    made.do("MODE", a=0x30)


def bad_length(made):
    made.do("MODE", a=0x34)


def bad_latency(made):
    made.do("MODE", a=0x10)


def reserved_bits(made):
    made.do("MODE", a=0xB0)


def contention_at_the_start(made):
    made.open()
    made.do("READ")
    made.idle(1)
    made.do(drive=0xFFFF)


def contention_at_the_end(made):
    """Half a period after the last word the part has not let go of the bus."""
    made.open()
    made.do("READ")
    made.idle(3)
    made.late = 8_000 - PERIOD  # after the middle of the cycle before
    made.do(drive=0xFF)


def undriven(made):
    made.open()
    made.do("WRITE", drive=0x00FF)


def clock_enable(made):
    made.do(cke=0)


def stopped_auto_precharge(made):
    made.do("MODE", a=0x32)
    made.idle(2)
    made.open()
    made.do("READ", a=ALL)
    made.do("STOP")


def access_after_auto_precharge(made):
    made.do("MODE", a=0x32)
    made.idle(2)
    made.open()
    made.do("READ", a=ALL)
    made.do("READ")


def setup(made):
    made.late = 4_000  # 1 ns before the edge
    made.open()


def clock_high(made):
    made.high = 1_900
    made.do()


def clock_low(made):
    made.high = 8_100
    made.idle(2)


def hold(made):
    made.late = 5_500 - PERIOD  # 0.5 ns after the edge
    made.open()


@pytest.mark.parametrize(("rules", "act"), [
    (["tRCD"], t_rcd), (["tRP"], t_rp), (["tRP"], t_rp_refresh), (["tRAS"], t_ras),
    (["tRRD"], t_rrd), (["tWR"], t_wr), (["tMRD"], t_mrd), (["tRFC"], t_rfc),
    (["tREF"], t_ref), (["tREF"], t_ref_at_the_end), (["tREF"], early_refreshes_save_little),
    (["closed row"], closed_row), (["closed row"], closed_row_write),
    (["open row"], open_row), (["open row"], row_open_over_a_refresh),
    (["open row"], mode_with_a_row_open), (["mode register"], bad_length),
    (["mode register"], bad_latency), (["mode register"], reserved_bits),
    (["contention"], contention_at_the_start), (["contention"], contention_at_the_end),
    (["data"], undriven), (["CKE"], clock_enable), (["auto precharge"], stopped_auto_precharge),
    (["closed row"], access_after_auto_precharge), (["tIS"], setup), (["tCH"], clock_high),
    (["tCL"], clock_low), (["tIH"], hold)])
def test_every_rule_is_checked(ready, rules, act):
    act(ready)
    assert ready.rules == rules


def test_row_cycle_is_checked(user):
    made = user(replace(PART, t_rc=80_000))
    made.begin()
    made.open()
    made.idle(3)
    made.close_row()
    made.do("ACTIVATE")
    assert made.rules == ["tRC"]


def test_a_row_that_is_open_too_long(ready):
    t_ras_max(ready)
    assert set(ready.rules) == {"tRAS", "tREF"}


def test_clock_is_checked(user):
    made = user(period=5_000)
    made.idle(2)
    assert made.rules == ["tCK"]


def test_a_row_must_be_refreshed_in_time(user):
    """Never late by more than eight, and yet too slow in the long run."""
    made = user(replace(PART, t_ref=1_000_000 * 32, n_ref=32))
    made.begin()
    for pace in [100] * 40 + [130] * 26 + [90] * 40:
        made.do("REFRESH")
        made.skip(pace - 1)
    assert set(made.rules) == {"tREF"}
    assert "a row must be refreshed every 32000 ns, not after " in str(made.model.violations[0])


def test_messages_say_what_when_and_how_much(ready):
    begin = ready.now
    t_rcd(ready)
    ready.do("PRECHARGE", 3, ALL)
    first, second = ready.model.violations
    assert first.time == begin + 3 * PERIOD // 2
    assert str(first) == (f"{first.time / 1e6:.4f} us, READ, tRCD: must be 15.00 ns after "
                          f"ACTIVATE, not 10.00 ns")
    assert str(second).endswith("PRECHARGE, tRAS: must be 42.00 ns after ACTIVATE, not 20.00 ns")
