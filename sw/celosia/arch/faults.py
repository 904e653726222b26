"""Causes for which the chip stops."""

import enum

__all__ = ["FAULTS", "FAULT_CURES", "FAULT_DOCS", "AnyFault", "Fault", "LinkFault"]


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

#: For each fault but `Fault.NONE`: what to do about it.
FAULT_CURES: dict[AnyFault, str] = {
    Fault.ILLEGAL_OPCODE: "assemble or compile the program for this chip; where the opcode is 0, "
                          "end it with `halt`",
    Fault.ILLEGAL_FIELD: "give the field one of its values, as the message says; where a format "
                         "is missing, take a preset that has it",
    Fault.ILLEGAL_COUNT: "split the work: the message has the limits",
    Fault.UB_RANGE: "begin earlier, walk fewer rows or smaller strides, or take a preset with a "
                    "larger unified buffer",
    Fault.ACC_RANGE: "likewise for the accumulators: store sums before new ones are made",
    Fault.WINDOW: "make the buffer as large as the transfer (rows, cols, pitch), address it by its "
                  "name, and name further arrays in `share`",
    Fault.MISALIGNED: "make address and pitch multiples of the element: 1 for i8, 2 for bf16, 4 "
                      "for w32",
    Fault.OVERLAP: "write to other rows, or exactly in place: same first row, same stride, one "
                   "dimension",
    Fault.PC_RANGE: "end the program with `halt`, and let targets be labels of it",
    Fault.LOOP_DEPTH: "nest fewer loops, or leave no loop by a branch: use `blt` for one of them",
    Fault.BUS_READ: "load what memory there is; on a board, read its memory test in docs/fpga.md",
    Fault.BUS_WRITE: "likewise for stores",
    Fault.BUS_FETCH: "likewise: the program, too, must lie in memory that there is",
    Fault.WATCHDOG: "find the loop that does not end (`celosia debug run`), or raise `timeout`",
    Fault.INDEX_RANGE: "let indices be below `param`, the rows of the table, and lanes below D",
    LinkFault.LINK_MISMATCH: "let send and recv agree on format, rows and tag, in the same order",
    LinkFault.LINK_DOWN: "connect the port, or send to one that is (register LINKS)",
}
