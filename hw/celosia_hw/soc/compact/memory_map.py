"""The sequencer's addresses, as data: what the hardware decodes, and the firmware's header has."""

import enum

__all__ = ["ACCUMULATE_BIT", "ENGINE_BASE", "FORMAT_BIT", "REGION_BITS", "DeviceRegister",
           "EngineRegister", "Zone"]

#: A region's number is what stands above so many bits of an address.
REGION_BITS = 28
#: Byte offset of the matrix engine's registers among the devices.
ENGINE_BASE = 0x80
#: Of ``EngineRegister.START``.
ACCUMULATE_BIT = 16
#: Likewise, on a chip with bf16: a `celosia.arch.isa.MatmulFormat`.
FORMAT_BIT = 17


class Zone(enum.IntEnum):
    """What lies where."""

    FIRMWARE = 0
    UNIFIED_BUFFER = 1
    ACCUMULATORS = 2
    EXTERNAL = 3
    DEVICES = 4
    BOOT = 5


class DeviceRegister(enum.IntEnum):
    """Words of the devices.

    ``UART_RECEIVE``: bits 0..7 the next byte, which is taken; bit 31: there is none.
    ``UART_SEND``: written, sends bits 0..7; read, bit 0: busy. ``CYCLES_LOW``: cycles since the
    reset; reading it keeps the upper half for ``CYCLES_HIGH``. ``LIGHTS``: writing 1 turns the
    light of faults on, until the reset. ``FLASH``: see `celosia_hw.soc.compact.boot`.
    """

    UART_RECEIVE = 0
    UART_SEND = 1
    CYCLES_LOW = 2
    CYCLES_HIGH = 3
    LIGHTS = 4
    FLASH = 5


class EngineRegister(enum.IntEnum):
    """Words of the matrix engine, written by the sequencer.

    ``START``: bits 0..15 rows, 1 or more, bit 16: accumulate, bit 17: bf16. ``WEIGHTS`` and those
    behind: the rows of the weight tile one after the other, lanes 4 j .. 4 j + 3 of a row in the
    bytes of its word j; on a chip with bf16 lanes 2 j and 2 j + 1 in its halves.
    """

    START = 0
    ACTS_ROW = 1
    ACTS_STEP = 2
    ACC_ROW = 3
    ACC_STEP = 4
    WEIGHTS = 16
