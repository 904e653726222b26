"""A step of training: what is said of its cycles."""

from celosia.arch.registers import UNIT_NAMES, Activity
from celosia.bench.training import TrainingMeasurement, report

#: Of a step of 8,000 cycles: those of each unit in each state, and of banks that were busy.
COUNTERS = {"cycles": 8000, "conflicts_load": 0, "conflicts_mxu": 40,
            **{f"{unit}_{state.name.lower()}": 1000 * i + 100 * state
               for i, unit in enumerate(UNIT_NAMES) for state in Activity},
            "mxu_wait_memory": 0}
TEXT = """\
what adds cycles, as predicted                  cycles   share
  dot (forward)                                  1,234  15.43%
  end                                               12   0.15%

cycles of the array                             cycles   share
  busy                                           2,100  26.25%
  waits for another unit                         2,200  27.50%
  waits for external memory                      2,400  30.00%
  its own pipeline: weights, fill and drain      2,500  31.25%
  has no instruction                             2,000  25.00%

cycles of          idle         busy    wait_deps  wait_memory     wait_bus    wait_unit
load                  0          100          200          300          400          500
store             1,000        1,100        1,200        1,300        1,400        1,500
mxu               2,000        2,100        2,200            0        2,400        2,500
vpu               3,000        3,100        3,200        3,300        3,400        3,500
scalar            4,000        4,100        4,200        4,300        4,400        4,500
"""
CONFLICTS = """
cycles in which a bank refused a stream
  mxu                                               40   0.50%
"""


def said(counters):
    step = TrainingMeasurement("training", "core", "rtl", "bf16", 5, 8000, 2100 / 8000,
                               {"dot (forward)": 1234, "end": 12}, True, 1.5, 2.5, 3200, counters)
    return "".join(f"{line}\n" for line in report(step))


def test_where_the_cycles_go_is_said():
    """Of the array, states in which it never was are left out, and so are banks without."""
    assert said(COUNTERS) == TEXT + CONFLICTS


def test_nothing_is_said_of_conflicts_where_there_were_none():
    assert said(COUNTERS | {"conflicts_mxu": 0}) == TEXT
