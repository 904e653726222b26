"""The command that says how fast pods are simulated."""

from __future__ import annotations

import json

from celosia.bench.simulation import SIMULATED
from celosia.cli.main import main


def test_one_chip_linked_to_itself_does_what_those_of_a_pod_do(capsys):
    arguments = "bench simulation --preset nano --topology 4 --json"
    assert main(arguments.split()) == 0
    measured = json.loads(capsys.readouterr().out)
    assert [each["program"] for each in measured] == [each for each in SIMULATED for _ in range(3)]
    for alone, one, most in (measured[:3], measured[3:]):
        assert [each["chips"] for each in (alone, one, most)] == [1, 4, 4]
        assert alone["share"] == 1
        assert alone["cycles"] == one["cycles"] == most["cycles"]
        assert one["share"] == one["cpu_rate"] / alone["cpu_rate"] > .3
    assert main(arguments.split()[:-1]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 7
    assert [line.split()[0] for line in lines] == ["program", *(
        each["program"] for each in measured)]
