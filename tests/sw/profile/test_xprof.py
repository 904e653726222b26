"""XProf, headless, on the trace of an unchanged program: each of its tools has an answer."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

pytestmark = pytest.mark.extra(name="profile")
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Return the file that `jax.profiler.trace` wrote of a training in Keras."""
    folder = tmp_path_factory.mktemp("trace")
    subprocess.run([sys.executable, ROOT / "examples" / "keras_mlp.py", "--limit", "64",
                    "--profile", folder], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "JAX_PLATFORMS": "celosia"})
    [found] = folder.rglob("*.xplane.pb")
    return str(found)


@pytest.fixture(scope="module")
def tool(trace):
    """Return what asks a tool; what it writes beside a trace, it writes once."""
    from xprof.convert import raw_to_tool_data

    def ask(name, **options):
        return raw_to_tool_data.xspace_to_tool_data([trace], name, options)[0]

    names = raw_to_tool_data.xspace_to_tool_names([trace])
    return ask, names


def table(data):
    """Return the rows of a table of Google's charts, each by its columns."""
    known = json.loads(data)
    known = known[0] if isinstance(known, list) else known
    names = [column["id"] for column in known["cols"]]
    return [dict(zip(names, (cell["v"] for cell in row["c"]), strict=True))
            for row in known["rows"]]


@pytest.fixture(scope="module")
def modules(trace):
    """Return the cycles of all the runs of each program."""
    from jax.profiler import ProfileData
    found = defaultdict(float)
    for plane in ProfileData.from_file(trace).planes:
        if plane.name.startswith("/device:TPU:"):
            for line in plane.lines:
                if line.name == "XLA Modules":
                    for event in line.events:
                        found[event.name] += event.duration_ns / 10
    return dict(found)


def test_every_tool_is_offered(tool):
    _, names = tool
    assert {"overview_page", "op_profile", "hlo_stats", "roofline_model", "trace_viewer@",
            "memory_viewer", "graph_viewer", "framework_op_stats"} <= set(names)


def test_times_of_operations_are_the_cycles(tool, modules):
    ask, _ = tool
    rows = table(ask("hlo_stats"))
    cycles = sum(row["total_self_time"] for row in rows) * 100
    assert cycles == pytest.approx(sum(modules.values()), rel=1e-4)
    assert any("dot" in row["hlo_op_name"] for row in rows)
    known = sum(row["total_self_time"] for row in rows if "keras_mlp.py:" in row["source_info"])
    assert known * 100 >= 0.99 * cycles


@pytest.mark.parametrize("name", ["overview_page", "roofline_model", "framework_op_stats"])
def test_tables_have_rows(tool, name):
    ask, _ = tool
    assert table(ask(name))


def test_op_profile_knows_the_programs(tool):
    ask, _ = tool
    found = json.loads(ask("op_profile"))
    assert found["byProgram"]["metrics"]["rawTime"] > 0
    assert "jit_train_step" in json.dumps(found["byProgram"])


def test_trace_viewer_has_the_units(tool):
    ask, _ = tool
    text = ask("trace_viewer")
    text = text if isinstance(text, str) else text.decode()
    assert all(f'"name": "{unit}"' in text or f'"name":"{unit}"' in text
               for unit in ("LOAD", "STORE", "MXU", "VPU"))


def test_memory_and_graph_of_the_training(tool, modules):
    ask, _ = tool
    [step] = [name for name in modules if name.startswith("jit_train_step")]
    memory = json.loads(ask("memory_viewer", module_name=step, memory_space="0"))
    assert max(memory["heapSizes"]) > 0.25  # MiB: weights, their moments, a batch
    text = ask("graph_viewer", graph_viewer_options={"module_name": step, "type": "long_txt"})
    assert text.decode().startswith("HloModule jit_train_step")
