"""A picture of the losses of a training on the chip and on the host."""

import numpy as np

from celosia.profile.page.floorplan import COLOURS, MUTED, element, svg, text

CHIP, HOST = COLOURS["mxu"], COLOURS["load"]
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 800, 380, 60, 50, 40
#: Points of a curve; each is the mean of the steps around it.
POINTS = 200


def averaged(losses):
    """Return the steps and means of at most `POINTS` runs of losses."""
    parts = np.array_split(np.asarray(losses, np.float64), min(POINTS, len(losses)))
    ends = np.cumsum([len(part) for part in parts])
    return [end - (len(part) - 1) / 2 for end, part in zip(ends, parts, strict=True)], [
        float(part.mean()) for part in parts]


def _ticks(most):
    """Return some round numbers from 0 to ``most``."""
    step = 10 ** np.floor(np.log10(most))
    step *= next(part for part in (0.1, 0.2, 0.5, 1, 2, 5) if most / (step * part) <= 6)
    return np.arange(0, most * 1.0001, step)


def curves(title, unit, chip, host):
    """Return an SVG of both; ``unit``: what a loss is."""
    (chip_x, chip_y), (host_x, host_y) = averaged(chip), averaged(host)
    most_x, most_y = max(len(chip), len(host)), max(*chip_y, *host_y) * 1.05
    across, down = WIDTH - LEFT - 20, HEIGHT - TOP - BOTTOM

    def x(step):
        return round(LEFT + across * step / most_x, 1)

    def y(loss):
        return round(TOP + down * (1 - loss / most_y), 1)

    parts = [text(LEFT, 24, title, font_weight="bold"), text(LEFT, 42, unit, MUTED)]
    for tick in _ticks(most_y):
        parts += [element("path", d=f"M{LEFT} {y(tick)}H{WIDTH - 20}", stroke=MUTED,
                          stroke_opacity=0.25),
                  text(LEFT - 8, y(tick) + 4, f"{tick:g}", MUTED, text_anchor="end")]
    for tick in _ticks(most_x):
        parts.append(text(x(tick), HEIGHT - BOTTOM + 18, f"{tick:,.0f}", MUTED,
                          text_anchor="middle"))
    parts.append(text(WIDTH - 20, HEIGHT - 6, "step", MUTED, text_anchor="end"))
    for xs, ys, colour, wide, alpha in ((host_x, host_y, HOST, 4, 0.45),
                                        (chip_x, chip_y, CHIP, 1.4, 1)):
        points = " ".join(f"{x(a)},{y(b)}" for a, b in zip(xs, ys, strict=True))
        parts.append(element("polyline", points=points, fill="none", stroke=colour,
                             stroke_width=wide, stroke_opacity=alpha))
    parts += [text(WIDTH - 30, 24, "chip: products of bf16, the rest float32", CHIP,
                   text_anchor="end"),
              text(WIDTH - 30, 42, "host: JAX's CPU, float32", HOST, text_anchor="end")]
    return svg(WIDTH, HEIGHT, parts)
