"""Every page in Chromium: no error, nothing from elsewhere; the live pages do what they promise.

By name alone: ``scripts/test slow extras docs``. Chromium is Debian's package or one on PATH.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from node import ROOT, answers, node, script

pytestmark = [pytest.mark.extra(name="docs"), pytest.mark.slow]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, "-m", "website", str(made)], cwd=ROOT / "scripts", check=True,
                   timeout=900)
    return made


@pytest.fixture(scope="module")
def address(folder):
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def chromium():
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    assert browser, "Chromium must be there: apt-get install chromium"
    return browser


def visit(visits):
    found = answers([script("visit.mjs"), chromium()], visits)
    assert len(found) == len(visits)
    return found


def fine(found, address):
    assert not found.get("failed")
    assert not found["errors"]
    assert all(url.startswith((address, "data:", "blob:")) for url in found["requests"])
    return found["values"]


@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_loads_without_an_error_and_fits(address, folder, width):
    pages = sorted(path.relative_to(folder) for path in folder.rglob("*.html"))
    width_fits = "document.documentElement.scrollWidth <= innerWidth"
    found = visit([{"url": f"{address}/{page}", "width": width, "steps": [["evaluate", width_fits]]}
                   for page in pages])
    for page, each in zip(pages, found, strict=True):
        fits = page.parent.name != "gallery"  # pages of profiles are for a wide window
        assert fine(each, address) == [True] or not fits, page


def test_the_live_page_assembles_runs_and_steps(address):
    run = ("celosia.choose(celosia.examples[{0}]).then(() => celosia.run())"
           ".then(() => document.getElementById('celosia-verdict').textContent)")
    wrong = ("celosia.editor.value = celosia.editor.value.replace('matmul', 'mathmul'),"
             "celosia.buttons[0].click()")
    alert = "document.querySelector('[role=alert]')?.textContent"
    (found,) = visit([{"url": f"{address}/live.html", "width": 1280, "steps": [
        ["until", "globalThis.celosia?.state === 'idle'"],
        *(["evaluate", run.format(i)] for i in range(4)),
        ["evaluate", "celosia.choose(celosia.examples[0]).then(() => celosia.step(140))"],
        ["evaluate", "celosia.status.textContent + celosia.board.element.textContent"],
        ["evaluate", "celosia.step(30).then(() => celosia.array.before.sum)"],
        ["evaluate", "celosia.counters.names.map((name, i) => [name, celosia.counters.before[i]])"],
        ["evaluate", "celosia.step(1).then(() => celosia.counters.units.textContent)"],
        ["evaluate", wrong], ["until", alert],
        ["evaluate", "celosia.choose(celosia.examples[4]).then(() => celosia.buttons[0].click())"],
        ["until", alert],
    ]}])
    values = fine(found, address)
    assert values[1:5] == ["All are equal."] * 4
    assert "Cycle 140" in values[6]
    assert "matmul acc[0]" in values[6]
    assert any(sum < 0 for sum in values[7])
    assert max(map(abs, values[7])) <= 4 * 128 * 128
    counters = dict(values[8])
    assert counters["cycles"] == 171
    assert sum(counters[f"mxu_{state}"] for state in (
        "idle", "busy", "wait_deps", "wait_memory", "wait_bus", "wait_unit")) == 171
    assert counters["load_wait_bus"] > 20
    assert "Counters, as the register port has them in this cycle" in values[9]
    assert "an instruction must come here, not 'mathmul'; did you mean 'matmul'?" in values[11]
    assert values[13].startswith("fault WINDOW: a transfer leaves the open DMA windows")


def test_the_live_page_compares_what_was_edited(address):
    """With another shape, another meaning, and where there is no answer it says why."""
    edit = ("celosia.choose(celosia.examples[0]).then(() => {{ {} celosia.editor.value = "
            "celosia.editor.value.replaceAll('8, 4]', '6, 4]').replaceAll('rows=8', 'rows=6')"
            ".replace('n0=8', 'n0=6'); return celosia.run(); }})"
            ".then(() => document.getElementById('celosia-verdict').textContent)")
    (found,) = visit([{"url": f"{address}/live.html", "width": 1280, "steps": [
        ["until", "globalThis.celosia?.state === 'idle'"],
        ["evaluate", edit.format("")],
        ["evaluate", edit.format("celosia.numpy.value = 'c = -(a.astype(int32) @ b)';")],
        ["evaluate", edit.format("celosia.numpy.value = 'c = b @ a';")],
        ["evaluate", edit.format("celosia.numpy.value = '';")],
    ]}])
    same, other, misfit, nothing = fine(found, address)[1:]
    assert (same, other) == ("All are equal.", "They differ.")
    assert misfit.startswith("Not compared with NumPy: c = b @ a: matmul: (4, 4) @ (6, 4): ")
    assert nothing == "Not compared with NumPy: no line computes c"


def test_the_network_learns_with_the_losses_of_the_model(address):
    (found,) = visit([{"url": f"{address}/network.html", "width": 1280, "steps": [
        ["until", "globalThis.celosia?.losses"],
        ["evaluate", "celosia.train().then(() => celosia.verdict.textContent)"],
        ["evaluate", "celosia.losses.slice(-10).every((loss) => loss < 0.1)"],
    ]}])
    assert fine(found, address)[1:] == [
        "All 300 losses equal those of the golden model, in every bit.", True]


@pytest.fixture(scope="module")
def lighthouse(tmp_path_factory):
    """Lighthouse, in the release that was tried, from npm's registry."""
    folder = tmp_path_factory.mktemp("lighthouse")
    root = Path(node()).parents[1]
    npm = root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    subprocess.run([node(), str(npm), "install", "--silent", "--prefix", str(folder),
                    "lighthouse@12.2.3"], check=True, timeout=300)
    return folder / "node_modules" / "lighthouse" / "cli" / "index.js"


@pytest.mark.parametrize("page", ["index", "live", "network"])
def test_accessibility_and_performance(address, lighthouse, page, tmp_path):
    """The best of three: other work on the machine is no fault of the page."""
    best = {"accessibility": 0, "performance": 0}
    for _ in range(3):
        report = tmp_path / "report.json"
        subprocess.run([node(), str(lighthouse), f"{address}/{page}.html", "--quiet",
                        "--output=json", f"--output-path={report}",
                        f"--only-categories={','.join(best)}",
                        "--chrome-flags=--headless=new --no-sandbox"],
                       check=True, timeout=300, env={**os.environ, "CHROME_PATH": chromium()})
        found = json.loads(report.read_text())["categories"]
        best = {name: max(score, found[name]["score"]) for name, score in best.items()}
        if best["accessibility"] >= 0.95 and best["performance"] >= 0.9:
            return
    pytest.fail(f"{page} must have 0.95 of accessibility and 0.9 of performance, not {best}")
