"""The figures of a page, empty: page.js fills their sources from the data of the page."""
# Of the extra profile, which type checking need not have.
# pyright: reportMissingImports=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bokeh.document import Document
from bokeh.models import (
    ColumnDataSource,
    DataTable,
    HoverTool,
    NumberFormatter,
    Range1d,
    Span,
    TableColumn,
    TapTool,
)
from bokeh.plotting import figure
from bokeh.resources import Resources

from celosia.profile.page.floorplan import COLOURS, INK, MUTED

__all__ = ["compared", "embedded", "figures"]

_WIDE = {"sizing_mode": "stretch_width"}
_TOOLS = "xwheel_zoom,xpan,box_zoom,reset"
#: Rows of the timeline, from below.
ROWS = ("load", "store", "vpu", "mxu", "critical path")


def figures(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures and the table by the id of the element that each goes into."""
    time = Range1d(0, data["cycles"], bounds=(0, data["cycles"]))
    found: dict[str, Any] = {"timeline": _timeline(time), "roofline": _roofline(),
                             "lines": _bars(data), "instructions": _table()}
    size = {"external": data["arena"], "ub": data["config"]["ub_rows"],
            "acc": data["config"]["acc_rows"]}
    for memory, name in data["memories"].items():
        found[f"memory-{memory}"] = _memory(time, memory, name, size[memory])
    return found


def _cursor() -> Span:
    return Span(location=0, dimension="height", line_color=INK, line_dash="dashed", name="cursor",
                visible=False)


def _timeline(time: Range1d) -> Any:
    plot: Any = figure(height=260, tools=_TOOLS, active_scroll="xwheel_zoom", name="timeline",
                       x_range=time, y_range=list(ROWS), x_axis_label="cycles", **_WIDE)
    waits = ColumnDataSource(dict(y=[], left=[], right=[], why=[]), name="waits")
    plot.hbar("y", left="left", right="right", height=0.25, source=waits, color="#d9a400",
              alpha=0.7, line_color=None)
    units = ColumnDataSource(dict(y=[], left=[], right=[], colour=[], what=[]), name="units")
    drawn = plot.hbar("y", left="left", right="right", height=0.75, source=units,
                      fill_color="colour", line_color=None)
    blame = ColumnDataSource(dict(x0=[], y0=[], x1=[], y1=[]), name="blame")
    plot.segment("x0", "y0", "x1", "y1", source=blame, color=INK, line_width=2)
    chosen = ColumnDataSource(dict(y=[], left=[], right=[]), name="chosen")
    plot.hbar("y", left="left", right="right", height=0.9, source=chosen, fill_alpha=0,
              line_color=INK, line_width=2)
    plot.add_tools(HoverTool(renderers=[drawn], tooltips=[
        ("", "@what"), ("cycles", "@left{0,0} to @right{0,0}")]))
    plot.add_layout(_cursor())
    plot.xaxis.formatter.use_scientific = False
    plot.ygrid.grid_line_color = None
    return plot


def _roofline() -> Any:
    plot: Any = figure(height=360, tools="pan,wheel_zoom,box_zoom,reset", name="roofline",
                       x_axis_type="log", y_axis_type="log", x_range=(0.1, 1000),
                       y_range=(0.1, 1000),  # page.js knows better
                       x_axis_label="operations for a byte of external memory",
                       y_axis_label="operations a cycle", **_WIDE)
    roofs = ColumnDataSource(dict(x=[], y=[], name=[], colour=[]), name="roofs")
    plot.multi_line("x", "y", source=roofs, line_color="colour", line_width=2,
                    legend_field="name")
    dots = ColumnDataSource(dict(x=[], y=[], size=[], colour=[], what=[], place=[], cycles=[],
                                 share=[], operation=[]), name="dots")
    drawn = plot.scatter("x", "y", size="size", source=dots, fill_color="colour", fill_alpha=0.4,
                         line_color="colour", name="operations")
    plot.add_tools(HoverTool(renderers=[drawn], tooltips=[
        ("", "@operation"), ("at", "@place"), ("cycles", "@cycles{0,0} (@share)"),
        ("of the ceiling", "@what")]), TapTool(renderers=[drawn]))
    plot.legend.location = "bottom_right"
    return plot


def _bars(data: Mapping[str, Any]) -> Any:
    rows = data["facts"]["lines"][:20]
    # The same words twice would be one bar.
    names = [row["place"] for row in rows]
    source = ColumnDataSource(dict(place=names, cycles=[row["cycles"] for row in rows],
                                   share=[f"{row['cycles'] / max(data['cycles'], 1):.1%}"
                                          for row in rows]), name="costs")
    plot: Any = figure(height=90 + 22 * max(len(rows), 1), y_range=names[::-1] or ["(none)"],
                       tools="", x_axis_label="cycles", **_WIDE)
    drawn = plot.hbar("place", right="cycles", height=0.7, source=source, color=COLOURS["load"])
    plot.add_tools(HoverTool(renderers=[drawn], tooltips=[
        ("", "@place"), ("cycles", "@cycles{0,0} (@share)")]), TapTool(renderers=[drawn]))
    plot.xaxis.formatter.use_scientific = False
    plot.x_range.start = 0
    return plot


def _memory(time: Range1d, memory: str, name: str, size: int) -> Any:
    plot: Any = figure(height=190, tools=_TOOLS, active_scroll="xwheel_zoom", x_range=time,
                       y_range=(0, max(size, 1)), title=name, x_axis_label="cycles",
                       y_axis_label="bytes" if memory == "external" else "rows", **_WIDE)
    source = ColumnDataSource(dict(left=[], right=[], bottom=[], top=[], what=[], size=[],
                                   colour=[]), name=f"tensors-{memory}")
    drawn = plot.quad("left", "right", "bottom", "top", source=source, fill_color="colour",
                      fill_alpha=0.55, line_color="white")
    plot.add_tools(HoverTool(renderers=[drawn], tooltips=[
        ("", "@what"), ("size", "@size{0,0}"), ("cycles", "@left{0,0} to @right{0,0}")]))
    plot.add_layout(_cursor())
    plot.xaxis.formatter.use_scientific = False
    plot.yaxis.formatter.use_scientific = False
    return plot


def _table() -> Any:
    number = NumberFormatter(format="0,0")
    columns = [("index", "#", number, 60), ("unit", "unit", None, 50),
               ("start", "starts", number, 80), ("cycles", "cycles", number, 60),
               ("wait", "waited", number, 60), ("reason", "for", None, 70),
               ("place", "source", None, 220), ("text", "instruction", None, 420)]
    source = ColumnDataSource({name: [] for name, *_ in columns}, name="rows")
    return DataTable(source=source, name="instructions", height=320, index_position=None,
                     reorderable=False,
                     columns=[TableColumn(field=name, title=title, width=width,
                                          **({"formatter": formatter} if formatter else {}))
                              for name, title, formatter, width in columns], **_WIDE)


def compared(rows: list[tuple[str, int, int]]) -> dict[str, Any]:
    """Return the figure of a difference: places, and their cycles before and after."""
    rows = rows[:25]
    names = [place for place, _, _ in rows]
    source = ColumnDataSource(dict(
        place=names, change=[after - before for _, before, after in rows],
        before=[before for _, before, _ in rows], after=[after for _, _, after in rows],
        colour=[COLOURS["mxu"] if after > before else COLOURS["vpu"] for _, before, after in rows]))
    plot: Any = figure(height=90 + 22 * max(len(rows), 1), y_range=names[::-1] or ["(none)"],
                       tools="xpan,xwheel_zoom,reset", x_axis_label="cycles more", **_WIDE)
    drawn = plot.hbar("place", right="change", height=0.7, source=source, color="colour")
    plot.add_tools(HoverTool(renderers=[drawn], tooltips=[
        ("", "@place"), ("before", "@before{0,0}"), ("after", "@after{0,0}")]))
    plot.add_layout(Span(location=0, dimension="height", line_color=MUTED))
    plot.xaxis.formatter.use_scientific = False
    return {"difference": plot}


def embedded(figures: Mapping[str, Any], tables: bool) -> tuple[list[str], Any]:
    """Return Bokeh's scripts, and figures as what they take; ``tables``: with those of tables."""
    document = Document()
    with document.models.freeze():  # looks at all models once, not after each
        for figure in figures.values():
            document.add_root(figure)
    parts = ["bokeh", *(("bokeh-widgets", "bokeh-tables") if tables else ())]
    return Resources(mode="inline", components=parts).js_raw, document.to_json(deferred=False)
