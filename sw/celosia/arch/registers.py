"""Control and status registers, as data: the AXI4-Lite map, 32-bit words."""

import enum
from dataclasses import dataclass

__all__ = [
    "ADDRESS_BITS", "BY_NAME", "COUNTERS", "COUNTER_BITS", "ISA_VERSION", "LINK_COUNTERS",
    "LINK_REGISTERS", "LINK_STATUS", "MAGIC", "MOST_MEMORY", "NUM_WINDOWS", "PORTS",
    "PROGRAM_ALIGN", "REGISTERS", "UNIT_NAMES", "AccessMode",
    "Activity", "Control", "Register", "Status", "counter_names",
    "link_register", "registers",
]

#: Value of MAGIC: "CLSA" in ASCII, first letter in the lowest byte.
MAGIC = int.from_bytes(b"CLSA", "little")
ISA_VERSION = 2
ADDRESS_BITS = 12
#: Most bytes of external memory that arrays and programs may have: what 32-bit addresses reach, but
#: for the last page, which stays unused: a prefetch must not wrap around.
MOST_MEMORY = (1 << 32) - 4096
NUM_WINDOWS = 4
#: A program's first byte lies at a multiple of this: the beat of the widest bus.
PROGRAM_ALIGN = 128
#: Width of a performance counter; it is read as two words.
COUNTER_BITS = 48


class AccessMode(enum.Enum):
    """How the host may use a register."""

    RO = "read only"
    RW = "read and write"
    W1S = "write 1 to act; reads 0"
    W1C = "write 1 to clear"


class Control(enum.IntFlag):
    """Bits of CONTROL."""

    START = 1
    RESET = 2


class Status(enum.IntEnum):
    """Value of STATUS."""

    IDLE = 0
    RUNNING = 1
    DONE = 2
    FAULTED = 3
    RESETTING = 4


class Activity(enum.IntEnum):
    """What a unit does in a cycle; every unit is in exactly one state in every cycle of a run."""

    IDLE = 0
    BUSY = 1
    WAIT_DEPS = 2
    WAIT_MEMORY = 3
    WAIT_BUS = 4
    WAIT_UNIT = 5


ACTIVITY_DOCS: dict[Activity, str] = {
    Activity.IDLE: "nothing to do",
    Activity.BUSY: "moves or computes a row (scalar: executes or dispatches)",
    Activity.WAIT_DEPS: "its next instruction waits for another unit (scalar: fence or halt)",
    Activity.WAIT_MEMORY: "an on-chip bank serves another stream",
    Activity.WAIT_BUS: "external memory (scalar: instruction fetch)",
    Activity.WAIT_UNIT: "its own pipeline: weights on their way, rows in flight, fill and drain "
                        "(scalar: the window is full)",
}

#: Units with activity counters, in the order of ``isa.Unit``.
UNIT_NAMES = ("load", "store", "mxu", "vpu", "scalar")

#: Ports of the on-chip memories whose lost cycles (a request was refused) are counted.
PORTS = (
    "ub_read_mxu_acts", "ub_read_mxu_weights", "ub_read_vpu_p", "ub_read_vpu_q", "ub_read_store",
    "ub_write_vpu", "ub_write_load",
    "acc_read_vpu_p", "acc_read_vpu_q", "acc_read_store", "acc_write_vpu", "acc_write_load",
)


def counter_names() -> tuple[str, ...]:
    """Names of the performance counters in address order."""
    units = [f"{unit}_{state.name.lower()}" for unit in UNIT_NAMES for state in Activity]
    return ("cycles", "instructions", "bytes_read", "bytes_written", *units,
            *(f"conflicts_{port}" for port in PORTS))


@dataclass(frozen=True)
class Register:
    """A 32-bit register at a byte offset."""

    name: str
    offset: int
    access: AccessMode
    doc: str
    init: int = 0


def _registers() -> tuple[Register, ...]:
    rows: list[Register] = []

    def add(name: str, offset: int, access: AccessMode, doc: str, init: int = 0) -> None:
        rows.append(Register(name, offset, access, doc, init))

    ro, rw = AccessMode.RO, AccessMode.RW
    add("MAGIC", 0x000, ro, 'the letters "CLSA"')
    add("VERSION", 0x004, ro, "version of the ISA")
    add("FINGERPRINT", 0x008, ro, "hash of the configuration; a program carries the same")
    add("DIM", 0x00C, ro, "side of the array, D")
    add("FORMATS", 0x010, ro, "bit 0: int8, bit 1: bf16, bits 8..10: ports")
    add("UB_ROWS", 0x014, ro, "rows of the unified buffer")
    add("ACC_ROWS", 0x018, ro, "rows of the accumulators")
    add("BUS_BYTES", 0x01C, ro, "bytes a beat of the memory port")
    add("WINDOW", 0x020, ro, "instructions that the scoreboard holds")
    add("IBUF", 0x024, ro, "instructions that the instruction buffer holds")
    add("CONTROL", 0x040, AccessMode.W1S, "bit 0 START: run the program; bit 1 RESET: soft reset")
    add("STATUS", 0x044, ro, "0 idle, 1 running, 2 done, 3 faulted, 4 resetting")
    add("IRQ_ENABLE", 0x048, rw, "bit 0: raise the interrupt when a run ends")
    add("IRQ_STATUS", 0x04C, AccessMode.W1C, "bit 0: a run has ended")
    add("PROGRAM", 0x050, rw, "byte address of the first instruction, a multiple of 128")
    add("LENGTH", 0x054, rw,
        "instructions of the program; a write makes the chip fetch the first ones: PROGRAM comes "
        "before it, and the program is in memory")
    add("WATCHDOG", 0x058, rw, "cycles that a run may take; 0: no limit")
    add("FAULT_CAUSE", 0x060, ro, "why the last run stopped; 0: it did not fault")
    add("FAULT_PC", 0x064, ro, "index of the instruction at fault")
    add("FAULT_ADDR", 0x068, ro, "address at fault; what it means depends on the cause")
    add("PC", 0x06C, ro, "index of the instruction that is executed now")
    for i in range(NUM_WINDOWS):
        add(f"WINDOW{i}_BASE", 0x080 + 8 * i, rw, f"first byte of DMA window {i}", 1)
        add(f"WINDOW{i}_LAST", 0x084 + 8 * i, rw,
            f"last byte of DMA window {i}; below its base: closed")
    for i, name in enumerate(counter_names()):
        add(f"{name.upper()}_LO", 0x200 + 8 * i, ro, f"counter {name}, bits 0..31")
        add(f"{name.upper()}_HI", 0x204 + 8 * i, ro, f"counter {name}, bits 32..47")
    return tuple(rows)


REGISTERS: tuple[Register, ...] = _registers()
#: More registers, of chips with ports.
LINK_REGISTERS: tuple[Register, ...] = (
    Register("DEVICE", 0x028, AccessMode.RW, "number of this chip among those that links connect"),
    Register("LINKS", 0x02C, AccessMode.RO,
             "of each port a bit, from bit 0: a chip answers at the other end of its link"),
)
#: What is counted at each port, 32 bits each, since the last reset.
LINK_COUNTERS: dict[str, str] = {
    "sent": "frames with data that were sent, the first time or again",
    "resent": "of these, those that were sent again",
    "received": "frames with data that came whole and in their turn",
    "garbled": "frames that were not whole",
    "tx_busy": "cycles in which a word of a message left",
    "rx_busy": "cycles in which a word of a message came, or a row of it was written",
    "rx_wait": "cycles in which a recv waited for a word",
}
#: Fields of LINKn_STATUS: first bit and number of bits.
LINK_STATUS: dict[str, tuple[int, int]] = {
    "up": (0, 1), "down": (1, 1), "sending": (2, 1), "receiving": (3, 1), "send_tag": (4, 12),
    "recv_tag": (16, 12),
}
#: Those of port 0, and bytes from one port's to the next one's.
_LINK0, _LINK_BYTES = 0x100, 0x20
_MOST_PORTS = 6


def link_register(port: int, name: str) -> str:
    """Return the name of the register of a port's ``status`` or one of its counters."""
    return f"LINK{port}_{name.upper()}"


def _of_port(port: int) -> tuple[Register, ...]:
    texts = {"status": (
        "bit 0: a chip answers; bit 1: none has for so long that the link is given up; bits 2, 3: "
        "a send, a recv is under way; bits 4..15, 16..27: its tag"), **LINK_COUNTERS}
    return tuple(Register(link_register(port, name), _LINK0 + port * _LINK_BYTES + 4 * i,
                          AccessMode.RO, text) for i, (name, text) in enumerate(texts.items()))


BY_NAME: dict[str, Register] = {
    register.name: register for register in (
        *REGISTERS, *LINK_REGISTERS,
        *(each for port in range(_MOST_PORTS) for each in _of_port(port)))}
#: Byte offset of the low word of each counter.
COUNTERS: dict[str, int] = {name: BY_NAME[f"{name.upper()}_LO"].offset
                            for name in counter_names()}


def registers(ports: int) -> tuple[Register, ...]:
    """Return the registers of a chip with so many ports."""
    if not ports:
        return REGISTERS
    return (*REGISTERS, *LINK_REGISTERS,
            *(each for port in range(ports) for each in _of_port(port)))
