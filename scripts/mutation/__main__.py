"""The command; see ``scripts/mutate --help``."""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from mutation import equivalent
from mutation.choose import choose
from mutation.entered import Entered
from mutation.find import mutants
from mutation.mutant import Mutant
from mutation.project import OF_EXTRAS, Project
from mutation.results import EQUIVALENT, KILLED, Results, share_killed, table
from mutation.scratch import Scratch
from mutation.trial import Verdict, trial

EQUIVALENTS = "tests/equivalent_mutants.toml"
#: Per cent of a run that may be equivalent.
MOST_EQUIVALENT = 5


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(
        prog="scripts/mutate", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Change the sources in one place at a time and see whether the default tier\n"
                    "of the tests notices. The same seed and count on the same tree are the same\n"
                    "mutants; what was found out is kept in build/mutation, so a run goes on\n"
                    "where it was stopped.",
        epilog="Equivalent mutants, with the argument for each: " + EQUIVALENTS + "\n"
               "Exit code 1 if fewer than --bar per cent are killed, or more than "
               f"{MOST_EQUIVALENT} per cent equivalent.")
    add = found.add_argument
    add("--seed", type=int, default=0, help="which mutants (0)")
    add("--count", type=int, default=200, help="how many (200)")
    add("--one", metavar="PLACE", help="one mutant: its number in --list, or "
        "FILE:LINE:COLUMN:OPERATOR, and :2 after it for the second of that place")
    add("--room", action="append", metavar="ROOM", help="of these only those of a room: hw.vpu, "
        "model, compiler, sw.serve; may be given again")
    add("--list", action="store_true", help="print the mutants and run nothing")
    add("--show", action="store_true", help="print survivors as diffs and run nothing")
    add("--again", action="store_true", help="run survivors again, for tests that are new; what "
        "was killed before on the same sources is taken to be so still")
    add("--map", nargs="*", metavar="TEST", help="only measure which tests enter which functions "
        "(done by itself where it is missing; with names: of these files only)")
    add("--no-map", action="store_true", help="do with what was measured by now")
    add("--workers", type=int, default=2, help="trees in which tests run at once (2)")
    add("--budget", type=float, default=900, metavar="S",
        help="seconds for one mutant (900); unfinished counts as survived")
    add("--total", type=float, default=None, metavar="S", help="seconds in all (unlimited)")
    add("--bar", type=float, default=95, help="per cent that must be killed (95)")
    return found


class Command:
    """One call of the command.

    Parameters
    ----------
    root
        The tree.
    options
        What was asked for; see `parser`.
    """

    def __init__(self, root: Path, options: argparse.Namespace):
        self.project = Project(root)
        self.options = options
        self.folder = root / "build" / "mutation"
        self.entered = Entered(self.project, self.folder / "map")
        self.known = equivalent.load(root / EQUIVALENTS)
        self.end = time.monotonic() + (options.total or float("inf"))

    def results(self) -> Results:
        """Return the results of this seed, count and tree; with --again, of these sources."""
        options, project = self.options, self.project
        name = f"{options.seed}-{options.count}-{project.sources_digest()}"
        if not options.again:
            name += f"-{project.tree_digest()}"
        return Results(self.folder / name / "results.jsonl")

    def chosen(self) -> list[Mutant]:
        """Return the mutants that are asked for; SystemExit if there is none there."""
        options, project = self.options, self.project
        if options.one is None or options.one.isdigit():
            found = choose(project, options.seed, options.count)
            if options.one is not None:
                return found[int(options.one):][:1]
            return [mutant for mutant in found
                    if not options.room or project.room(mutant.path) in options.room]
        path, line, column, operator, *index = options.one.split(":")
        found = [mutant for mutant in mutants(path, (project.root / path).read_bytes())
                 if (mutant.line, mutant.column, mutant.operator)
                 == (int(line), int(column), operator)]
        which = int(index[0]) if index else 1
        if not 0 < which <= len(found):
            raise SystemExit(f"scripts/mutate: {options.one} must name a mutant, but there are "
                             f"{len(found)} at that place")
        return [found[which - 1]]

    def parallel(self, work, items) -> None:
        """Do ``work(item, scratch)`` in the workers' trees until all is done or time is over."""
        items = list(items)
        if not items:
            return
        free: SimpleQueue[Scratch] = SimpleQueue()
        workers = min(self.options.workers, len(items))

        def one(item) -> None:
            if time.monotonic() > self.end:
                return
            scratch = free.get()
            try:
                work(item, scratch)
            finally:
                free.put(scratch)

        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder, ignore_cleanup_errors=True) as folder:
            trees = [Scratch(self.project.root, Path(folder) / str(index),
                             self.folder / f"cache{index}") for index in range(workers)]
            for scratch in trees:
                free.put(scratch)
            with ThreadPoolExecutor(workers) as pool:
                futures = [pool.submit(one, item) for item in items]
                try:
                    for future in futures:
                        future.result()
                except BaseException:
                    self.end = 0.0
                    for scratch in trees:
                        scratch.stop()
                    pool.shutdown(cancel_futures=True)
                    raise

    def measure(self, tests: list[str]) -> None:
        """Make what is missing of the map."""
        missing = set(self.entered.missing())
        todo = [test for test in tests if test in missing]

        def work(test: str, scratch: Scratch) -> None:
            measured = self.entered.measure(test, scratch)
            print(f"{test}: {measured.seconds:.1f} s, enters {len(measured.entered)} functions"
                  + "".join(f"; FAILED {name}" for name in measured.failed), flush=True)

        self.parallel(work, todo)

    def run(self) -> int:
        """Do what is asked for; return the exit code."""
        options = self.options
        if options.map is not None:
            self.measure(options.map or self.project.tests())
            return 0
        chosen = self.chosen()
        if options.list:
            for index, mutant in enumerate(chosen):
                print(f"{index:4} {mutant}")
            return 0
        results = self.results()
        if options.show:
            return self.show(chosen, results)
        if not options.no_map:
            self.measure(self.project.tests())

        def work(mutant: Mutant, scratch: Scratch) -> None:
            why = equivalent.argument_for(mutant, self.known)
            verdict = (Verdict(EQUIVALENT, why, 0) if why is not None
                       else trial(mutant, scratch, self.entered,
                                  min(options.budget, self.end - time.monotonic())))
            results.add(mutant, verdict)
            print(f"{verdict.status:10} {verdict.seconds:6.0f} s  {mutant}"
                  + (f"  by {verdict.by}" if verdict.by else ""), flush=True)

        def open_(mutant: Mutant) -> bool:
            verdict = results[mutant]
            return verdict is None or verdict.status == "unfinished" or (
                verdict.status == "survived" and (
                    options.again
                    or equivalent.argument_for(mutant, self.known) is not None))

        todo = [mutant for mutant in chosen if options.one is not None or open_(mutant)]
        # In any order, so that a run that is stopped has seen a bit of everything.
        random.Random(options.seed).shuffle(todo)
        self.parallel(work, todo)
        return self.summary(chosen, results)

    def show(self, chosen: list[Mutant], results: Results) -> int:
        """Print the survivors."""
        for index, mutant in enumerate(chosen):
            verdict = results[mutant]
            if verdict and verdict.status not in (KILLED, EQUIVALENT):
                print(f"{index}: {mutant} ({verdict.status})")
                print(mutant.diff((self.project.root / mutant.path).read_bytes()))
        return 0

    def summary(self, chosen: list[Mutant], results: Results) -> int:
        """Print the table; return 1 if the bar is not reached."""
        verdicts = {mutant: verdict for mutant in chosen if (verdict := results[mutant])}
        print(table(self.project, verdicts))
        for place, extra in OF_EXTRAS.items():
            print(f"not mutated: {place}, which the tests of the extra {extra} see")
        if len(verdicts) < len(chosen):
            print(f"{len(chosen) - len(verdicts)} mutants were not run")
        statuses = [verdict.status for verdict in verdicts.values()]
        same = statuses.count(EQUIVALENT)
        few = share_killed(statuses) < self.options.bar or len(verdicts) < len(chosen)
        return int(few or 100 * same > MOST_EQUIVALENT * len(statuses))


def main(arguments: list[str] | None = None, root: Path | None = None) -> int:
    """Run the command; return the exit code."""
    options = parser().parse_args(arguments)
    return Command(root or Path(__file__).resolve().parents[2], options).run()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
