"""Causes for which the chip stops."""

import enum

__all__ = ["FAULTS", "FAULT_DOCS", "AnyFault", "Fault", "LinkFault"]


class Fault(enum.IntEnum):
    """Value of the FAULT_CAUSE register."""

    NONE = 0
    ILLEGAL_OPCODE = 1
    ILLEGAL_FIELD = 2
    ILLEGAL_COUNT = 3
    UB_RANGE = 4
    ACC_RANGE = 5
    WINDOW = 6
    MISALIGNED = 7
    OVERLAP = 8
    PC_RANGE = 9
    LOOP_DEPTH = 10
    BUS_READ = 11
    BUS_WRITE = 12
    BUS_FETCH = 13
    WATCHDOG = 14
    INDEX_RANGE = 15


class LinkFault(enum.IntEnum):
    """More values of FAULT_CAUSE, on chips with ports; those of `Fault` fill four bits."""

    LINK_MISMATCH = 16
    LINK_DOWN = 17


AnyFault = Fault | LinkFault
#: Each fault by its number.
FAULTS: dict[int, AnyFault] = {int(fault): fault for fault in (*Fault, *LinkFault)}

#: For each fault: what happened, and what FAULT_ADDR holds.
FAULT_DOCS: dict[AnyFault, tuple[str, str]] = {
    Fault.NONE: ("no fault", "0"),
    Fault.ILLEGAL_OPCODE: ("the opcode is not in the ISA", "the opcode"),
    Fault.ILLEGAL_FIELD: (
        "reserved bit set, field value without a meaning, or format that this chip lacks", "0"),
    Fault.ILLEGAL_COUNT: ("a count is zero or larger than the unit allows", "0"),
    Fault.UB_RANGE: ("a stream leaves the unified buffer", "the last row of the stream"),
    Fault.ACC_RANGE: ("a stream leaves the accumulators", "the last row of the stream"),
    Fault.WINDOW: ("a transfer leaves the open DMA windows", "its first byte"),
    Fault.MISALIGNED: ("an address or a pitch is not a multiple of the element size",
                       "the address"),
    Fault.OVERLAP: ("vector destination overlaps a source that is another stream",
                    "first row of the destination"),
    Fault.PC_RANGE: ("execution left the program", "the instruction index"),
    Fault.LOOP_DEPTH: ("more loops are nested than the loop stack holds", "0"),
    Fault.BUS_READ: ("the memory answered a load with an error", "0"),
    Fault.BUS_WRITE: ("the memory answered a store with an error", "0"),
    Fault.BUS_FETCH: ("the memory answered an instruction fetch with an error",
                      "the instruction index"),
    Fault.WATCHDOG: ("the run took more cycles than WATCHDOG allows", "0"),
    Fault.INDEX_RANGE: (
        "a lane is not below D, or an index of a gather or scatter not below its table's rows",
        "the lane, or the first such index"),
    LinkFault.LINK_MISMATCH: (
        "the message that arrived has not the format, the rows or the tag that recv names",
        ("of the message that arrived: the tag in bits 0..11, the format in 12..13, the rows mod "
         "65,536 in 16..31")),
    LinkFault.LINK_DOWN: ("no chip answers at the other end of the link", "the port"),
}
