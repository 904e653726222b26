"""The program that fetches the firmware from the flash memory of an iCE40's configuration.

The single-port RAM of the iCE40UP has no contents at power-up. This program, which is in the
bitstream, copies the firmware there from behind the bitstream.
"""

from celosia_hw.soc.compact import assemble as asm
from celosia_hw.soc.compact.memory_map import DeviceRegister

__all__ = ["CHIP_SELECT_N", "CLOCK", "FLASH", "FLASH_OFFSET", "MOSI", "boot_program"]

#: Where the firmware is in the flash memory.
FLASH_OFFSET = 0x20000
#: Device register of the flash memory's pins, and its bits; bit 0 that is read is MISO.
FLASH = 4 * DeviceRegister.FLASH
CHIP_SELECT_N, CLOCK, MOSI = 1 << 0, 1 << 1, 1 << 31

_RELEASE, _READ = 0xAB, 0x03
#: Turns of the loop that waits for the flash memory to wake: 8 cycles each, more than 30
#: microseconds at 50 MHz.
_WAIT = 250


def boot_program(size: int) -> list[int]:
    """Words that copy ``size`` bytes, below 64 KiB, to address 0 and go there."""
    if size not in range(1, 1 << 16):
        raise ValueError(f"size must be from 1 to 65535, not {size!r}")
    device, select, clock, mosi = 1, 2, 3, 4
    data, bits, pins, back, to, end = 5, 6, 7, 8, 9, 10
    # The data move to the left through their register: out at its bit 31, in at bit 0.
    transfer = [
        asm.op("and", pins, data, mosi), asm.store("sw", pins, FLASH, device),
        asm.op("or", pins, pins, clock), asm.store("sw", pins, FLASH, device),
        asm.load("lw", pins, FLASH, device), asm.op_imm("slli", data, data, 1),
        asm.op("or", data, data, pins), asm.op_imm("addi", bits, bits, -1),
        asm.branch("bne", bits, 0, -32), asm.jalr(0, 0, back)]

    program = [asm.jal(0, 4 + 4 * len(transfer)), *transfer]

    def send(*words: int, count: int) -> None:
        program.extend([*words, asm.op_imm("addi", bits, 0, count)])
        program.append(asm.jal(back, 4 - 4 * len(program)))

    deselect = asm.store("sw", select, FLASH, device)
    program += [
        asm.upper("lui", device, 0x40000), asm.upper("lui", mosi, MOSI >> 12),
        asm.op_imm("addi", select, 0, CHIP_SELECT_N), asm.op_imm("addi", clock, 0, CLOCK),
        asm.op_imm("addi", to, 0, 0), asm.upper("lui", end, size + 2048 >> 12),
        asm.op_imm("addi", end, end, (size + 2048 & 4095) - 2048), deselect]
    # It may have been put to sleep after the configuration.
    send(asm.upper("lui", data, _RELEASE << 12), count=8)
    program += [deselect, asm.op_imm("addi", bits, 0, _WAIT),
                asm.op_imm("addi", bits, bits, -1), asm.branch("bne", bits, 0, -4)]
    send(asm.upper("lui", data, (_READ << 24 | FLASH_OFFSET) >> 12), count=32)
    start = len(program)
    send(count=8)
    program += [asm.store("sb", data, 0, to), asm.op_imm("addi", to, to, 1)]
    program.append(asm.branch("bne", to, end, 4 * (start - len(program))))
    return [*program, deselect, asm.jalr(0, 0, 0)]
