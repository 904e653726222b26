"""What the environment says of the devices."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from celosia.arch.config import MOST_PORTS, PRESETS, TpuConfig, preset
from celosia.collectives import Topology
from celosia.driver.backends import PODS, SIMULATED
from celosia.pjrt.errors import ErrorCode, PjrtError

__all__ = ["MOST_DEVICES", "PLATFORM", "Settings"]

#: What JAX calls the chip.
PLATFORM = "celosia"
#: More chips than this in one process are taken for a mistake.
MOST_DEVICES = 64
_SWITCHES = ("CELOSIA_STRICT", "CELOSIA_FAST")
_TRUTH = {"": False, "0": False, "false": False, "no": False,
          "1": True, "true": True, "yes": True}


@dataclass(frozen=True)
class Settings:
    """How many chips there are, of which kind.

    Attributes
    ----------
    backend
        CELOSIA_BACKEND: "model", "rtl" or "twin", both compared.
    config
        CELOSIA_PRESET: the chip; "core".
    strict
        CELOSIA_STRICT: whether an operation that the chip does not have is an error.
    fast
        CELOSIA_FAST: whether functions may be shorter and less exact, as of `celosia.compile`.
    devices
        CELOSIA_DEVICES: chips; 1.
    topology
        CELOSIA_TOPOLOGY: how links connect them, such as 8 or 2x4; None: they have none.
    boards
        CELOSIA_BOARDS: processes over which RTL chips with links are spread; 1: this one.
    """

    backend: str
    config: TpuConfig
    strict: bool
    fast: bool
    devices: int
    topology: Topology | None = None
    boards: int = 1

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ, processes: int = 1) -> Settings:
        """Return what the environment says; PjrtError if it is wrong, with all that is.

        Parameters
        ----------
        environment
            Variables.
        processes
            That have so many devices each, and are connected as the topology says.
        """
        problems = []

        def bad(name: str, wanted: str) -> None:
            problems.append(f"{name} must be {wanted}, not {environment[name]!r}")

        backend = environment.get("CELOSIA_BACKEND") or "model"
        if backend not in SIMULATED:
            bad("CELOSIA_BACKEND", f"one of {', '.join(SIMULATED)}")
        config = None
        try:
            config = preset(environment.get("CELOSIA_PRESET") or "core")
        except ValueError:
            bad("CELOSIA_PRESET", f"one of {', '.join(PRESETS)}")
        strict, fast = (_TRUTH.get(environment.get(name, "").lower()) for name in _SWITCHES)
        for name, value in zip(_SWITCHES, (strict, fast), strict=True):
            if value is None:
                bad(name, "0 or 1")
        count = environment.get("CELOSIA_DEVICES") or "1"
        devices = int(count) if count.isascii() and count.isdigit() else 0
        if not 1 <= devices <= MOST_DEVICES:
            bad("CELOSIA_DEVICES", f"a number from 1 to {MOST_DEVICES}")
        topology = None
        if text := environment.get("CELOSIA_TOPOLOGY"):
            try:
                topology = Topology.parse(text)
            except ValueError:
                bad("CELOSIA_TOPOLOGY", "chips along each dimension, such as 8 or 2x4")
            else:
                if topology.chips != devices * processes:
                    where = f" in {processes} processes" if processes > 1 else ""
                    bad("CELOSIA_TOPOLOGY", f"of the {devices * processes} chips of "
                                            f"CELOSIA_DEVICES{where}")
                elif processes > 1 and backend != "rtl":
                    bad("CELOSIA_TOPOLOGY", f"left out in {processes} processes where "
                                            f"CELOSIA_BACKEND is {backend}: links lead from one to "
                                            "another for rtl chips only")
                elif topology.ports > MOST_PORTS:
                    bad("CELOSIA_TOPOLOGY", f"of {MOST_PORTS // 2} dimensions at most")
                elif backend not in PODS:
                    bad("CELOSIA_TOPOLOGY", f"left out where CELOSIA_BACKEND is {backend}: pods "
                                            f"are of {' or '.join(PODS)} chips")
        boards = environment.get("CELOSIA_BOARDS") or "1"
        if not boards.isascii() or not boards.isdigit() or not 1 <= int(boards) <= MOST_DEVICES:
            bad("CELOSIA_BOARDS", f"a number from 1 to {MOST_DEVICES}")
        elif int(boards) > 1 and processes > 1:
            bad("CELOSIA_BOARDS", f"1 or left out in {processes} processes, of which each is one")
        elif int(boards) > devices > 0:
            bad("CELOSIA_BOARDS", f"at most the {devices} chips of CELOSIA_DEVICES")
        elif int(boards) > 1 and (topology is None or backend != "rtl"):
            bad("CELOSIA_BOARDS", "1 or left out without CELOSIA_TOPOLOGY and CELOSIA_BACKEND=rtl")
        if problems or config is None:
            raise PjrtError(ErrorCode.INVALID_ARGUMENT, "; ".join(problems))
        if topology is not None:
            config = replace(config, ports=topology.ports)
        return cls(backend, config, bool(strict), bool(fast), devices, topology, int(boards))
