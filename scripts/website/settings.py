"""Sphinx's settings of the site."""

from __future__ import annotations

from website.contents import ROOT

__all__ = ["SETTINGS"]

SETTINGS: dict[str, object] = {
    "project": "Celosia",
    "author": "the Celosia authors",
    "copyright": "the Celosia authors, Apache-2.0",
    "extensions": ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon",
                   "website.diagrams"],
    "myst_enable_extensions": ["attrs_inline"],
    "myst_heading_anchors": 4,
    "myst_fence_as_directive": ["wavedrom", "mermaid"],
    "html_theme": "furo",
    "html_title": "Celosia",
    "html_static_path": [str(ROOT / "web" / "static")],
    "html_favicon": str(ROOT / "web" / "static" / "favicon.svg"),
    "html_css_files": ["site.css"],
    "html_copy_source": False,
    "html_show_sphinx": False,
    "highlight_language": "none",  # what has no language is a picture in text, or a terminal
    "default_role": "literal",  # docstrings are Markdown where they name things
    "napoleon_google_docstring": False,
    "napoleon_use_ivar": True,  # a property that is also among the attributes is one thing
    "suppress_warnings": ["ref.python"],  # a type has the name of its module and a public one
    "autodoc_member_order": "bysource",
    "autodoc_typehints": "none",
}
