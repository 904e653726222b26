"""The command that says how fast pods are simulated."""

from __future__ import annotations

import json

from celosia.cli.main import main


def test_one_chip_linked_to_itself_does_what_those_of_a_pod_do(capsys):
    arguments = "bench simulation --preset nano --topology 4 --json"
    assert main(arguments.split()) == 0
    alone, one, most = json.loads(capsys.readouterr().out)
    assert [each["chips"] for each in (alone, one, most)] == [1, 4, 4]
    assert alone["share"] == 1
    assert alone["cycles"] == one["cycles"] == most["cycles"]
    assert one["share"] == one["cpu_rate"] / alone["cpu_rate"] > .3
    assert main(arguments.split()[:-1]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
