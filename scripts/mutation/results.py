"""What a run has found out: kept line by line, so that it can go on, and shown as a table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from mutation.mutant import Mutant
from mutation.project import Project
from mutation.trial import Verdict

__all__ = ["EQUIVALENT", "KILLED", "Results", "share_killed", "table"]

KILLED, EQUIVALENT = "killed", "equivalent"


class Results:
    """Verdicts by mutant, in a file with a line of JSON for each."""

    def __init__(self, path: Path):
        self._path = path
        self._found: dict[str, Verdict] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                content = json.loads(line)
                self._found[content["mutant"]] = Verdict(content["status"], content["by"],
                                                         content["seconds"])

    def __getitem__(self, mutant: Mutant) -> Verdict | None:
        return self._found.get(str(mutant))

    def add(self, mutant: Mutant, verdict: Verdict) -> None:
        """Keep a verdict."""
        self._found[str(mutant)] = verdict
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps({"mutant": str(mutant), **verdict._asdict()}) + "\n")


def share_killed(statuses: Iterable[str]) -> float:
    """Return the per cent that are killed, of those that are not equivalent."""
    counts = Counter(statuses)
    asked = counts.total() - counts[EQUIVALENT]
    return 100 * counts[KILLED] / asked if asked else 100.0


def table(project: Project, verdicts: Mapping[Mutant, Verdict]) -> str:
    """Return killed, survived and equivalent mutants by room, by operator, and in all."""
    lines = [f"{'':16}{'mutants':>8}{'killed':>8}{'survived':>10}{'equivalent':>12}{'killed':>9}"]

    def row(name: str, statuses: list[str]) -> None:
        counts = Counter(statuses)
        survived = len(statuses) - counts[KILLED] - counts[EQUIVALENT]
        lines.append(f"{name:16}{len(statuses):8}{counts[KILLED]:8}{survived:10}"
                     f"{counts[EQUIVALENT]:12}{share_killed(statuses):8.1f}%")

    for of in (lambda mutant: project.room(mutant.path), lambda mutant: mutant.operator):
        groups: dict[str, list[str]] = {}
        for mutant, verdict in verdicts.items():
            groups.setdefault(of(mutant), []).append(verdict.status)
        for name in sorted(groups):
            row(name, groups[name])
        lines.append("")
    row("all", [verdict.status for verdict in verdicts.values()])
    return "\n".join(lines)
