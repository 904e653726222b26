"""The page: its data are the record's, and a browser shows them with no other machine's help."""

import json
import re
import shutil
import subprocess
import sys
import zlib
from base64 import b64decode
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from celosia.cli.main import main
from celosia.profile import facts
from celosia.profile.page import data, difference, page
from celosia.profile.page.columns import packed, packed_text
from celosia.profile.page.data import content, files_of, states

jax_too = pytest.mark.extra(name="jax", default=True)
drawn = pytest.mark.extra(name="profile")
#: Bytes and seconds of processor of the largest page, that of 110,000 instructions.
MOST_BYTES, MOST_SECONDS = 3_000_000, 2


def unpacked(text):
    planes = np.frombuffer(zlib.decompress(b64decode(text)), np.uint8).reshape(4, -1)
    return np.cumsum(planes.T.copy().view("<u4")[:, 0], dtype=np.uint32).astype(np.int32)


def embedded(text, name):
    found = re.search(f"<script type='application/json' id='{name}'>(.*?)</script>", text)
    return json.loads(found[1])


def test_columns_come_back():
    for values in ([], [5], [-1, 0, 2**31 - 1, -2**31, 7], range(300)):
        assert unpacked(packed(values)).tolist() == list(values)
    with pytest.raises(ValueError, match="must have 32 bits, not be 0 to 2147483648"):
        packed([0, 1 << 31])
    assert zlib.decompress(b64decode(packed_text(["a", "b"]))) == b"a\nb"


@jax_too
def test_the_data_are_the_record(clean):
    data = content(clean, facts(clean), 100)
    [record] = clean.records
    columns = {name: unpacked(text) for name, text in data["columns"].items()}
    assert columns["pc"].tolist() == record.pc.tolist()
    start = columns["start"] + columns["checked"]
    assert start.tolist() == record.start.tolist()
    assert (start + columns["occupied"] + columns["end"]).tolist() == record.end.tolist()
    count = np.arange(len(record))
    blamed = np.where(columns["blamed"], count - columns["blamed"], -1)
    assert blamed.tolist() == record.blamed.tolist()
    assert data["units"] == ["load", "store", "mxu", "vpu"]
    critical = {name: unpacked(data["critical"][name]) for name in ("first", "cycles", "what")}
    assert (critical["first"] + critical["cycles"])[:-1].tolist() == critical["first"][1:].tolist()
    assert critical["cycles"].sum() == record.end.max()
    spent = Counter()
    for part in record.critical:
        spent[part.what] += part.cycles
    assert {name: critical["cycles"][critical["what"] == number].sum()
            for number, name in enumerate(data["critical"]["names"])} == spent
    assert np.diff(critical["what"]).all()  # of one kind and beside each other is one
    assert sum(each["cycles"] for each in data["operations"]) == data["cycles"] == clean.cycles
    assert sum(each["bytes"] for each in data["operations"]) == (
        data["facts"]["bytes_read"] + data["facts"]["bytes_written"])
    json.dumps(data)


@jax_too
def test_states_of_each_unit_add_up_to_the_run(clean):
    assert {unit: sum(each.values()) for unit, each in states(clean.records).items()} == (
        dict.fromkeys(("load", "store", "mxu", "vpu"), clean.cycles))


@jax_too
def test_tensors_live_while_work_has_them(clean):
    data = content(clean, facts(clean), 100)
    [step] = clean.compiled.steps
    assert data["peaks"]["external"] <= data["arena"]
    assert {each["name"] for each in data["tensors"]} == {each.name for each in step.places}
    last = len(step.works) - 1
    assert all(0 <= each.begin <= each.end <= last for each in step.places)
    [record] = clean.records
    kinds = {buffer.name: buffer.kind for buffer in record.program.buffers}
    for one in data["tensors"]:
        assert 0 <= one["begin"] < one["end"]
        stays = kinds.get(one["name"], "scratch") != "scratch"
        assert one["fixed"] == stays, one
        if stays:
            assert (one["begin"], one["end"]) == (0, clean.cycles)
    assert {one["fixed"] for one in data["tensors"]} == {False, True}
    # What shares bytes has no work in common.
    places = [each for each in step.places if each.memory == "external"]
    for one in places:
        for other in places:
            if one is not other and one.first < other.first + other.size and (
                    other.first < one.first + one.size):
                assert one.end < other.begin or other.end < one.begin


def test_files_are_found_beside_the_program(tmp_path):
    (tmp_path / "net.mlir").write_text("one\ntwo\n")
    found = files_of(["net.mlir", "not there", "net.mlir"], [tmp_path])
    assert list(found) == ["net.mlir"]
    assert zlib.decompress(b64decode(found["net.mlir"])) == b"one\ntwo"


def test_files_that_are_none_or_too_large_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "_MOST_SOURCE", 3)
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, texts in ((first, {"large": "four", "both": "1"}), (second, {"both": "2",
                                                                            "most": "345"})):
        folder.mkdir()
        for name, text in texts.items():
            (folder / name).write_text(text)
    (first / "folder").mkdir()
    (second / "folder").write_text("0")
    found = files_of(["large", "both", "most", "folder", "a\0b", str(second / "both")],
                     [first, second])
    assert {name: zlib.decompress(b64decode(text)) for name, text in found.items()} == {
        "both": b"1", "most": b"345", "folder": b"0", str(second / "both"): b"2"}


@jax_too
def test_without_bokeh_the_error_says_what_to_install(clean, monkeypatch, capsys, tmp_path):
    for name in list(sys.modules):
        if name.partition(".")[0] == "bokeh" or name == "celosia.profile.page.views":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "bokeh", None)
    wanted = ("a page (--html) needs Bokeh, which is not installed: "
              "pip install 'celosia[profile]'")
    with pytest.raises(ValueError, match=re.escape(wanted)):
        page(clean, facts(clean))
    with pytest.raises(ValueError, match=re.escape(wanted)):
        difference(facts(clean), facts(clean))


@drawn
def test_a_page_is_one_file_that_asks_for_nothing(clean, tmp_path):
    known = {**facts(clean), "name": "</script><b>net"}
    text = page(clean, known)
    assert embedded(text, "data")["facts"]["name"] == "</script><b>net"
    assert "</script><b>" not in text
    rest = re.sub("<script>.*?</script>", "", text, flags=re.DOTALL)  # what code writes is apart
    assert not re.search(r"<[^>]*\b(src|href)=['\"](?!data:|#)", rest)
    assert len(text) < MOST_BYTES


@drawn
def test_the_command_writes_pages(tmp_path, capsys):
    from celosia.bench.compiled import PROGRAMS
    file = PROGRAMS["convolution"].path
    assert main(["profile", str(file), "--html", "-o", str(tmp_path)]) == 0
    data = embedded((tmp_path / "convolution.html").read_text(), "data")
    assert data["cycles"] == json.loads((tmp_path / "profile.json").read_text())["cycles"]
    assert list(data["files"]) == ["convolution.mlir"]
    kept = str(tmp_path / "profile.json")
    assert main(["profile", "diff", kept, kept, "--html", "-o", str(tmp_path)]) == 0
    assert "difference.html" in capsys.readouterr().out
    assert embedded((tmp_path / "difference.html").read_text(), "data")["lines"] == []


def browsed(path, tmp_path, mark="#selftest"):
    """Return what a browser makes of a page, and what it says in its console."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which(
        "google-chrome")
    assert browser, "this test needs Chromium on the PATH"
    done = subprocess.run(
        [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
         f"--user-data-dir={tmp_path / 'browser'}", "--disable-background-networking",
         "--enable-logging=stderr", "--virtual-time-budget=60000", "--dump-dom",
         path.as_uri() + mark], capture_output=True, text=True, timeout=300, check=True)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line
            and "setting log level" not in line]
    return done.stdout, said


@pytest.mark.slow
@drawn
def test_a_browser_shows_the_largest_program(tmp_path):
    """No host is asked: the page's own policy refuses that, and would say so in the console."""
    import time

    from celosia.bench.compiled import PROGRAMS
    from celosia.profile import Profile, profile
    file = PROGRAMS["transformer-sgd"].path
    # Without its graph nothing else is tried; what is measured is beyond the run that is shown.
    found = Profile(profile(Path(file), filename=file.name, name="transformer-sgd").compiled)
    known = facts(found)
    begin = time.process_time()
    text = page(found, known, folders=[file.parent])
    spent = time.process_time() - begin
    assert len(text.encode()) < MOST_BYTES
    path = tmp_path / "page.html"
    path.write_text(text)
    shown, said = browsed(path, tmp_path)
    assert said == []
    assert 'data-ready="yes"' in shown
    result = json.loads(re.search('id="selftest">(.*?)</script>', shown)[1])
    [record] = found.records
    assert result["count"] == len(record) > 100_000
    assert set(result["states"].values()) == {record.cycles}
    assert result["critical"] == record.end.max()
    assert result["canvases"] == 5
    assert 100 < result["bars"]
    assert result["zoomed"] > 0
    assert 0 < result["filtered"] < len(record)
    assert result["lit"] == 1
    assert result["blame"] > 0
    assert "mxu works" in result["works"]
    print(f"{len(text.encode()):,} bytes, {spent:.2f} s")
    assert spent < MOST_SECONDS


@pytest.mark.slow
@drawn
def test_a_browser_shows_a_difference_and_refuses_to_ask_others(tmp_path):
    known = [{"name": name, "cycles": cycles, "lines": [{"place": "a.py:1", "cycles": cycles}]}
             for name, cycles in (("one", 100), ("two", 90))]
    path = tmp_path / "page.html"
    path.write_text(difference(*known))
    shown, said = browsed(path, tmp_path, "")
    assert said == []
    assert 'data-ready="yes"' in shown
    assert "-10 (-10.0%)" in shown
    path.write_text(difference(*known).replace("<body>", "<body><img src='https://a.invalid/'>"))
    _, said = browsed(path, tmp_path, "")
    assert any("Content Security Policy" in line for line in said)
