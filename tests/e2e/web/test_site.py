"""The site: made without a warning, whole in itself, and its commands are ones that there are."""

import re
import shlex
import subprocess
import sys

import pytest
from website.check import problems
from website.commands import commands
from website.contents import SECTIONS
from website.gallery import DEAR, PROFILED, PROGRAMS

from celosia.cli.main import command_parser
from node import ROOT

pytestmark = pytest.mark.extra(name="docs")
_MOST_SECONDS = 180


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, "-m", "website", str(folder)], cwd=ROOT / "scripts",
                          capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, float(re.search(r"pages in (\d+) s", done.stdout)[1])


def test_the_site_is_made_in_time_and_whole(site):
    folder, seconds = site
    assert seconds <= _MOST_SECONDS
    for name in (each for names in SECTIONS.values() for each in names):
        assert (folder / f"{name}.html").is_file()
    assert {path.stem for path in (folder / "gallery").iterdir()} == set(PROFILED)
    assert set(PROGRAMS) == {*PROFILED, *DEAR}
    live = folder / "_static" / "celosia"
    assert {path.name for path in live.glob("*.wasm")} == {"chip.wasm", "network-chip.wasm"}
    assert 'id="celosia-live"' in (folder / "live.html").read_text()
    said = re.sub(r"<[^>]*>", "", (folder / "messages.html").read_text())
    assert "inputs must be named &lt;" in said
    assert said.count("Cause:") == said.count("Cure:") > 150


def test_what_is_wrong_with_a_page_is_found(tmp_path):
    (tmp_path / "other.html").write_text('<p id="there">')
    (tmp_path / "a.html").write_text(
        '<a href="other.html#there"></a><a href="other.html#gone"></a><a href="gone.html"></a>'
        '<a href="https://example.org/"></a><a href="line:3"></a><img src="https://x.org/y.png">'
        '<script src="gone.js"></script><link rel="stylesheet" href="gone.css"><a href="#no"></a>')
    assert problems(tmp_path) == [
        "a.html: a picture must say what it shows: https://x.org/y.png",
        "a.html: nothing may come from another host: https://x.org/y.png",
        "a.html: there is no gone.js", "a.html: there is no gone.css",
        "a.html: there is no place other.html#gone", "a.html: there is no gone.html",
        "a.html: line:3 is no address", "a.html: there is no place #no"]


@pytest.mark.parametrize(("page", "command"), sorted(set(commands())))
def test_commands_of_pages_are_ones_that_there_are(page, command, capsys):
    command = re.sub(r"\[[^\]]*\]", "", command)  # what may be left out
    try:
        words = shlex.split(command)
    except ValueError:  # it goes on in the next line
        words = command.split()
    words = [word for word in words if not re.fullmatch(r"[A-Z_]+=\S*", word)]
    if words[0] in ("python", ".venv/bin/python"):
        words = words[1:]
    if words[0].endswith(".py") or words[0].startswith("scripts/"):
        assert (ROOT / words[0]).exists() or "/" not in words[0], f"{page}: {command}"
    elif words[0] == "celosia":
        arguments = [word for word in words[1:] if word not in ("..", "...")]
        if "--" in arguments:  # the user's own program is behind it
            arguments = arguments[:arguments.index("--")] + ["f.mlir"]
        chosen = next((word for word in arguments if not word.startswith("-")), None)
        parser = command_parser(chosen)
        try:
            parser.parse_args(arguments)
        except SystemExit as error:
            said = capsys.readouterr().err
            # In a sentence a command may leave out what it needs, or name it: FILE, BOARD.
            if error.code and not re.search(
                    r"arguments are required|expected (one|at least one) argument|"
                    r"invalid (choice|\w+ value): '[A-Z]+'", said):
                pytest.fail(f"{page}: {command}: {said}")
