"""One mutant, and whether the tests see it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mutation.entered import Entered
from mutation.mutant import Mutant
from mutation.scratch import Scratch

__all__ = ["Verdict", "batches", "trial"]

#: Seconds of tests that share one process: first few, so that what is seen at once ends at once.
_FIRST, _GROWTH = 10.0, 3.0
#: Seconds that a file is taken to need where it was not measured.
_UNKNOWN = 20.0


class Verdict(NamedTuple):
    """What became of a mutant.

    status
        ``killed``, ``survived``, or ``unfinished`` where the time was over before the tests were:
        that counts as survived.
    by
        What killed it.
    """

    status: str
    by: str
    seconds: float


def batches(tests: Sequence[str], seconds: Sequence[float]) -> Iterator[tuple[list[str], float]]:
    """Divide tests into runs of pytest that become longer: files and the seconds they need."""
    size, batch, total = _FIRST, [], 0.0
    for test, needed in zip(tests, seconds, strict=True):
        batch.append(test)
        total += needed
        if total >= size:
            yield batch, total
            size, batch, total = size * _GROWTH, [], 0.0
    if batch:
        yield batch, total


def trial(mutant: Mutant, scratch: Scratch, entered: Entered, budget: float) -> Verdict:
    """Run the tests that may see a mutant, until one fails or ``budget`` seconds are over.

    Tests that fail without it are left out. Tests that take five times as long as without it, and
    a minute more, count as failed.
    """
    start = time.monotonic()
    # One that was written since the run began is not in its trees.
    tests = [test for test in entered.tests_of(mutant.path, mutant.scope)
             if (scratch.tree / test).is_file()]
    known = {test: entered[test] for test in tests}
    failing = [name for each in known.values() if each for name in each.failed]
    tests = [test for test in tests if test not in failing]
    seconds = [each.seconds if (each := known[test]) else _UNKNOWN for test in tests]

    def spent() -> float:
        return time.monotonic() - start

    for batch, needed in batches(tests, seconds):
        while True:
            left, limit = budget - spent(), 5 * needed + 60
            if left <= 0:
                return Verdict("unfinished", "", spent())
            options = ["-x", *(word for name in failing for word in ("--deselect", name))]
            with scratch.mutated(mutant):
                run = scratch.run(batch, min(limit, left), options=options)
            if run.verdict == "passed":
                break
            if run.verdict == "time-out":
                by = f"time-out of {' '.join(batch)}"[:200]
                if limit > left:
                    return Verdict("unfinished", by, spent())
                measured = [known[test] or entered.measure(test, scratch) for test in batch]
                known.update(zip(batch, measured, strict=True))
                needed = max(needed, sum(each.seconds for each in measured))
                if 5 * needed + 60 <= limit:
                    return Verdict("killed", by, spent())
                continue
            by = run.failed[0] if run.failed else f"{batch[0]} (no test was run)"
            if known.get(by.partition("::")[0]) or not _fails_anyway(by, scratch, limit):
                return Verdict("killed", by, spent())
            failing.append(by)
    return Verdict("survived", "", spent())


def _fails_anyway(test: str, scratch: Scratch, limit: float) -> bool:
    """Whether a test of a file that was never measured fails without the mutant, too."""
    return "::" in test and scratch.run([test], limit).verdict != "passed"
