"""The SDRAM model by itself: what is allowed passes and gives the data."""

import numpy as np
import pytest
from sdram_user import ALL, PART, PERIOD

from celosia_sim.boards.sdram import PARTS, strictest


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("latency", [2, 3])
@pytest.mark.parametrize("mode", [0, 1, 2, 3, 10, 11])  # 8: interleaved
def test_words_come_back(user, name, latency, mode):
    made = user(PARTS[name])
    made.begin(latency, mode)
    rng = np.random.default_rng(mode)
    length = 1 << (mode & 7)
    banks = [{}, {}, {}, {}]
    rows = [int(row) for row in rng.integers(1 << 13, size=4)]
    for bank, row in enumerate(rows):
        made.open(row, bank)
    for _ in range(20):
        bank, column = int(rng.integers(4)), int(rng.integers(512))
        words = [int(word) for word in rng.integers(1 << 16, size=length)]
        made.write(words, bank, column)
        for i, word in enumerate(words):
            low = (column ^ i) if mode & 8 else column + i
            banks[bank][column & -length | low & (length - 1)] = word
    for bank, cells in enumerate(banks):
        for column in cells:
            got = made.read(length, latency, bank, column)
            for i, word in enumerate(got):
                low = (column ^ i) if mode & 8 else column + i
                at = column & -length | low & (length - 1)
                assert word == cells.get(at, word)
    made.do("PRECHARGE", a=ALL)
    assert made.rules == []
    assert made.model.counts.activates == 4
    assert made.model.counts.writes == 20


def test_page_bursts_wrap_and_stop(user):
    made = user()
    made.begin(mode=7)
    made.open(5)
    words = list(range(100, 130))
    made.write(words, column=500)
    made.do("STOP")
    made.idle(2)
    assert made.read(30, 3, column=500) == words
    made.close_row()
    assert made.rules == []


def test_masks_of_writes_and_reads(ready):
    ready.open(1)
    ready.write([0x1111])
    ready.write([0x2222], dqm=2)
    assert ready.read(1, 3) == [0x1122]
    start = len(ready.words)
    ready.do("READ")
    ready.do(dqm=1)  # two edges before the word is valid
    ready.idle(3)
    assert ready.words[start + 2] >> 8 == 0x11
    driven = {ready.model.dq(ready.now + 4999)[1]}
    assert driven == {0}
    assert ready.rules == []


def test_memory_is_not_zero_after_power_up(ready):
    ready.open(1)
    assert len({ready.read(1, 3, column=i)[0] for i in range(50)}) > 40


def test_data_are_noise_while_they_change(ready):
    ready.open(1)
    ready.write([0x1234, 0xEDCB][:1])
    ready.do("READ")
    ready.idle(2)
    edge = ready.now - PERIOD // 2
    seen = {when: {ready.model.dq(edge + when)[0] for _ in range(20)}
            for when in (-100, PART.t_ac3 - 1, PART.t_ac3, 9_999)}
    assert len(seen[-100]) > 1
    assert len(seen[PART.t_ac3 - 1]) > 1
    assert seen[PART.t_ac3] == seen[9_999] == {0x1234}
    ready.idle(1)
    edge += PERIOD
    assert {ready.model.dq(edge + PART.t_oh - 1)[0] for _ in range(20)} == {0x1234}
    assert len({ready.model.dq(edge + PART.t_oh)[0] for _ in range(20)}) > 1


def test_auto_precharge_closes_rows(user):
    made = user()
    made.begin(mode=1)
    made.open(3)
    made.write([1, 2], column=ALL)
    made.idle(3)  # tWR, tRP
    made.open(4)
    made.do("READ", a=ALL)
    made.idle(4)
    made.open(5)
    made.do("READ", a=ALL)
    made.idle(1)
    made.do("ACTIVATE", 0, 6)
    assert made.rules == ["open row", "tRC"]


def test_refreshes_at_their_pace(ready):
    for _ in range(3000):
        ready.do("REFRESH")
        ready.skip(779)
    assert ready.rules == []
    assert ready.model.counts.refreshes == 3008


def test_strictest_forbids_what_any_forbids():
    part = strictest(*PARTS.values())
    assert (part.t_rcd, part.t_rrd, part.n_rrd, part.t_oh) == (20_000, 15_000, 2, 2_500)
    assert part.t_ras_max == 100_000_000
    assert part.bytes == 32 << 20
