"""Puts a page together: the data, the figures, the picture, and what links them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from types import ModuleType
from typing import Any

from celosia.profile.page.data import content
from celosia.profile.page.floorplan import chip
from celosia.profile.profile import Profile, compare
from celosia.profile.verdict import MEGAHERTZ, text

__all__ = ["MissingBokeh", "difference", "page"]

_HERE = Path(__file__).parent
_POLICY = ("default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
           "img-src data: blob:; font-src data:")


class MissingBokeh(ValueError):
    """The library that draws pages is not installed."""

    def __init__(self) -> None:
        super().__init__("a page (--html) needs Bokeh, which is not installed: "
                         "pip install 'celosia[profile]'")


def page(profile: Profile, known: Mapping[str, Any], *, megahertz: float = MEGAHERTZ,
         folders: Sequence[Path] = ()) -> str:
    """Return a profile as one HTML file, which asks for nothing else.

    Parameters
    ----------
    profile, known
        What was profiled, and its `celosia.profile.facts`.
    megahertz
        The clock in which cycles are said as time.
    folders
        Where files of the user's are looked for, beside the places that they have.

    Raises
    ------
    MissingBokeh
        Unless Bokeh is there.
    """
    views = _views()
    data = content(profile, known, megahertz, folders)
    body = (_HERE / "body.html").read_text(encoding="utf-8")
    body = body.replace("<!--verdict-->", escape(text(known, megahertz=megahertz)))
    return _whole(f"{profile.name}: profile", body.replace("<!--floorplan-->", chip()), data,
                  views.figures(data), tables=True)


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the difference of two profiles, `celosia.profile.facts` of each, as one HTML file.

    Raises
    ------
    MissingBokeh
        Unless Bokeh is there.
    """
    views = _views()
    rows = compare(*({each["place"]: each["cycles"] for each in known["lines"]}
                     for known in (before, after)))
    rows = [row for row in rows if row[1] != row[2]]
    old, new = before["cycles"], after["cycles"]
    share = f" ({new / old - 1:+.1%})" if old else ""
    body = (f"<h1>{escape(before['name'])} and {escape(after['name'])}</h1>\n"
            f"<p id='total'>{old:,} -> {new:,} cycles: {new - old:+,}{share}</p>\n"
            "<div id='difference'></div>\n<table><tr><th>more</th><th>before</th><th>after</th>"
            "<th>line</th></tr>"
            + "".join(f"<tr><td>{b - a:+,}</td><td>{a:,}</td><td>{b:,}</td>"
                      f"<td>{escape(place)}</td></tr>" for place, a, b in rows) + "</table>")
    data = {"schema": "celosia.profile.difference/1", "before": old, "after": new, "lines": rows}
    return _whole("difference of two profiles", body, data, views.compared(rows), tables=False)


def _views() -> ModuleType:
    """Return what draws."""
    try:
        from celosia.profile.page import views
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "bokeh":
            raise
        raise MissingBokeh from None
    return views


def _whole(title: str, body: str, data: Mapping[str, Any], figures: Mapping[str, Any], *,
           tables: bool) -> str:
    scripts, document = _views().embedded(figures, tables)
    library = "\n".join(f"<script>{each}</script>" for each in scripts)
    roots = {figure.id: name for name, figure in figures.items()}
    return "\n".join((
        "<!DOCTYPE html>", "<html lang='en'><head><meta charset='utf-8'>",
        # Whatever would ask another machine is refused, and an error in the console.
        f"<meta http-equiv='Content-Security-Policy' content=\"{_POLICY}\">",
        # A browser asks for an icon unless it is told that there is none.
        f"<title>{escape(title)}</title><link rel='icon' href='data:,'>",
        f"<style>{(_HERE / 'page.css').read_text(encoding='utf-8')}</style>", library,
        "</head><body>", body, _json("data", data),
        _json("figures", {"document": document, "roots": roots}),
        f"<script>{(_HERE / 'page.js').read_text(encoding='utf-8')}</script>",
        "</body></html>"))


def _json(name: str, what: Any) -> str:
    """Return data as an element; no text in it ends the element."""
    words = json.dumps(what, separators=(",", ":")).replace("<", "\\u003c")
    return f"<script type='application/json' id='{name}'>{words}</script>"
