"""What is wrong with a site: links that lead nowhere, and what comes from elsewhere."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["problems"]

#: Where a tag names what a browser fetches by itself.
_FETCHED = {"img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src",
            "object": "data", "video": "src", "audio": "src", "embed": "src"}
#: Relations of a link that nothing is fetched for.
_UNFETCHED = {"canonical", "next", "prev", "search", "index", "author", "license"}


class _Page(HTMLParser):
    """Anchors of a page, links, what it fetches, and pictures that say nothing to who sees none."""

    def __init__(self, text: str):
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.silent: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "img" and "alt" not in given:
            self.silent.append(given.get("src", ""))
        relations = set(given.get("rel", "").split())
        if (target := given.get(_FETCHED.get(tag, ""), "")) and not relations & _UNFETCHED:
            self.fetched.append(target)


def problems(site: Path) -> list[str]:
    """Return what is wrong with the pages in a folder, "" for each that is fine."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site)
        found += [f"{name}: a picture must say what it shows: {source}" for source in page.silent]
        for target in page.fetched:
            parts = urlsplit(target)
            if parts.netloc:
                found.append(f"{name}: nothing may come from another host: {target}")
            elif parts.scheme != "data" and not (path.parent / unquote(parts.path)).is_file():
                found.append(f"{name}: there is no {target}")
        found += [f"{name}: {wrong}" for target in page.links
                  if (wrong := _wrong(path, target, pages))]
    return found


def _wrong(path: Path, target: str, pages: dict[Path, _Page]) -> str:
    """Say what is wrong with a link of a page."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return "" if parts.scheme in ("https", "http", "mailto") else f"{target} is no address"
    where = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not where.is_file():
        return f"there is no {target}"
    anchor = unquote(parts.fragment)
    if anchor and where in pages and anchor not in pages[where].anchors:
        return f"there is no place {target}"
    return ""
