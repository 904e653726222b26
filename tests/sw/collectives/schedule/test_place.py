"""Where words are in the accumulators: no two at once in a row, loads before, stores behind."""

from celosia.collectives.schedule.place import TimedStep, place
from celosia.collectives.schedule.table import Action, LinkStep, Words


def step(begins, words, action, ends=None):
    ends = begins + 10 if ends is None else ends
    return TimedStep(LinkStep(begins, 0, 0, Words(*words), action), begins, ends, begins)


RING = [step(0, (0, 4), Action.SEND), step(0, (4, 8), Action.JOIN, 300),
        step(300, (4, 8), Action.SEND), step(400, (0, 4), Action.SET, 700)]
CUTS = [Words(0, 4), Words(4, 8)]


def test_words_that_have_gone_leave_room_for_those_that_come():
    placed = place(RING, CUTS, CUTS, 8)
    assert placed is not None
    assert placed.rows <= 8
    a, b, c, _ = placed.steps
    assert b == c
    assert {a, b} == {0, 4}
    assert place(RING, CUTS, CUTS, 7) is None
    # What comes does not wait for what is still to be sent: it has rows of its own.
    assert place([*RING[:3], step(200, (0, 4), Action.SET, 700)], CUTS, CUTS, None) is not None


def test_loads_are_before_and_stores_behind_what_uses_their_words():
    placed = place(RING, CUTS, CUTS, 8, row_cycles=2)
    assert placed is not None
    assert all(load is not None and load.time <= each.begins
               for load, each in zip(placed.loads, RING[:2], strict=True))
    # 4:8 is joined until 300, 0:4 is set until 700.
    assert [store.time for store in placed.stores] == [700, 300]
    assert [store.row for store in placed.stores] == [placed.steps[3], placed.steps[1]]


def test_the_bus_brings_one_after_another():
    steps = [step(2000, (4 * i, 4 * i + 4), Action.SEND) for i in range(3)]
    placed = place(steps, [step.step.words for step in steps], [], None, 10, ahead=256)
    assert placed is not None
    assert sorted(load.time for load in placed.loads if load) == [1624, 1664, 1704]
    # Where there is little room a load waits for it, as long as it can.
    late = [step(500 * i, (4 * i, 4 * i + 4), Action.SEND, 500 * i + 10) for i in range(3)]
    placed = place(late, [each.step.words for each in late], [], 4, ahead=256)
    assert placed is not None
    assert placed.rows == 4
    assert [load.time for load in placed.loads if load] == [0, 240, 740]


def test_what_no_step_uses_is_copied_and_what_nobody_wants_is_not_loaded():
    placed = place([], CUTS, [Words(4, 8)], 4)
    assert placed is not None
    assert placed.loads[0] is None
    load, [store] = placed.loads[1], placed.stores
    assert load is not None
    assert load.row == store.row == 0
    many = [Words(4 * i, 4 * i + 4) for i in range(10)]
    placed = place([], many, many, 8)  # one after another
    assert placed is not None
    assert placed.rows <= 8
    assert [store.time for store in placed.stores] == list(range(0, 640, 64))
