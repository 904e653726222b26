"""What Prometheus is told of a server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from celosia.driver.errors import needs
from celosia.driver.status import statuses

__all__ = ["Metrics"]

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """Counters of one server, in a registry of their own.

    Attributes
    ----------
    requests
        Requests by status.
    latency
        Seconds from the first byte of a request for predictions to its answer.
    open
        Requests for predictions that are not answered yet.
    held
        Bytes of their bodies and answers.
    waiting
        Rows that wait for a run.
    failed
        Runs that failed, by error.

    Raises
    ------
    DeviceError
        If the package of the counters is not installed.
    """

    def __init__(self, model: str):
        try:
            from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info
        except ModuleNotFoundError as error:
            raise needs("celosia serve", error, "serve") from error
        self._registry = to = CollectorRegistry()
        to.register(_Chips())
        Info("celosia_model", "The model that is served.", registry=to).info({"name": model})
        self.requests = Counter("celosia_requests", "Requests for predictions by HTTP status.",
                                ["status"], registry=to)
        self.latency = Histogram("celosia_request_seconds", "Time to answer a request, seconds.",
                                 buckets=_SECONDS, registry=to)
        self.open = Gauge("celosia_requests_open", "Requests not answered yet.", registry=to)
        self.held = Gauge("celosia_held_bytes", "Bytes of their bodies and answers.", registry=to)
        self.waiting = Gauge("celosia_rows_waiting", "Rows that wait for a run.", registry=to)
        self.failed = Counter("celosia_runs_failed", "Runs that failed, by error.", ["error"],
                              registry=to)
        self._rows = Counter("celosia_rows", "Rows answered.", registry=to)
        self._padding = Counter("celosia_rows_padding", "Rows of runs that nobody asked for.",
                                registry=to)
        self._cycles = Counter("celosia_chip_cycles", "Clock cycles of the chip.", registry=to)
        self._run = Histogram("celosia_run_seconds", "Time of a run, seconds.", buckets=_SECONDS,
                              registry=to)

    def ran(self, rows: int, batch: int, seconds: float, cycles: int) -> None:
        """Count a run that went well."""
        self._rows.inc(rows)
        self._padding.inc(batch - rows)
        self._cycles.inc(cycles)
        self._run.observe(seconds)

    def text(self) -> tuple[bytes, str]:
        """Return what Prometheus reads, and its content type."""
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
        return generate_latest(self._registry), CONTENT_TYPE_LATEST


class _Chips:
    """What ``celosia smi`` shows: the chips of all processes of the user, by what they wrote."""

    def collect(self) -> Iterator[Any]:
        """Yield a value of each chip, of one kind after another."""
        from prometheus_client.core import GaugeMetricFamily
        found = list(statuses())
        labels = ["pid", "device", "preset", "backend"]

        def family(name: str, text: str, *more: str) -> Any:
            return GaugeMetricFamily(f"celosia_device_{name}", text, labels=[*labels, *more])

        busy = family("busy", "Share of the cycles of the last run that ended.", "unit")
        memory = family("memory_bytes", "External memory: used, peak, limit.", "kind")
        single = {name: family(name, text) for name, text in (
            ("runs", "Runs that ended well."), ("total_cycles", "Clock cycles of these."),
            ("faults", "Runs that did not."), ("requests", "Requests that were answered."))}
        for each in found:
            which = [str(each[name]) for name in labels]
            for unit, share in each["busy"].items():
                busy.add_metric([*which, unit], share)
            for kind, count in each["memory"].items():
                memory.add_metric([*which, kind], count)
            for name, one in single.items():
                one.add_metric(which, each[name])
        yield from (busy, memory, *single.values())
