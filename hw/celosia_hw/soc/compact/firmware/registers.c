// The register file, as celosia_hw.host has it.

#include <stddef.h>

#include "chip.h"

// Registers are in `struct config` and `struct chip` in the order of their offsets.
#define WORDS_FROM(type, first, member, offset, start) \
    _Static_assert(offsetof(struct type, member) - offsetof(struct type, first) \
                   == (offset) - (start), "out of order")
WORDS_FROM(config, fingerprint, ibuf, REGISTER_IBUF, REGISTER_FINGERPRINT);
WORDS_FROM(chip, status, watchdog, REGISTER_WATCHDOG, REGISTER_STATUS);
WORDS_FROM(chip, fault_cause, pc, REGISTER_PC, REGISTER_FAULT_CAUSE);
_Static_assert(COUNTER_UNITS == COUNTER_BYTES_WRITTEN + 1
               && offsetof(struct chip, bytes_written) == offsetof(struct chip, instructions)
               + (COUNTER_BYTES_WRITTEN - COUNTER_INSTRUCTIONS) * sizeof(uint64_t),
               "counters are out of order");

static const uint32_t readable[] = READABLE_WORDS, writable[] = WRITABLE_WORDS;

// Upper bits of the counter whose lower ones were read last.
static uint32_t counter_high;

static bool is_in(const uint32_t *words, uint32_t offset) {
    return offset < 256 && !(offset & 3) && words[offset >> 7] >> (offset >> 2 & 31) & 1;
}

// Where a register of `struct chip` is.
static uint32_t *place(uint32_t offset) {
    if (offset >= REGISTER_WINDOWS) {
        uint32_t window = (offset - REGISTER_WINDOWS) >> 3;
        return offset & 4 ? &chip.window_last[window] : &chip.window_base[window];
    }
    uint32_t *first = &chip.status;
    if (offset >= REGISTER_FAULT_CAUSE) {
        first = &chip.fault_cause;
        offset -= REGISTER_FAULT_CAUSE - REGISTER_STATUS;
    }
    return first + ((offset - REGISTER_STATUS) >> 2);
}

// A unit is busy while its instruction is executed, and idle else; the scalar unit waits for the
// others, or is busy.
static uint64_t read_counter(uint32_t index) {
    uint64_t now = cycle_counter(), cycles = chip.cycles, worked = 0;
    if (chip.status == STATUS_RUNNING) {
        cycles = now - chip.started;
    }
    if (index == COUNTER_CYCLES) {
        return cycles;
    }
    if (index < COUNTER_UNITS) {
        return (&chip.instructions)[index - COUNTER_INSTRUCTIONS];
    }
    uint32_t unit = 0;
    for (index -= COUNTER_UNITS; index >= NUM_ACTIVITIES; index -= NUM_ACTIVITIES) {
        unit++;
    }
    for (uint32_t i = 0; i < NUM_UNITS; i++) {
        if (unit == i || unit == UNIT_SCALAR) {
            worked += chip.busy[i];
            if (i == chip.busy_unit) {
                worked += now - chip.busy_since;
            }
        }
    }
    if (unit < UNIT_SCALAR) {
        return index == ACTIVITY_BUSY ? worked : index == ACTIVITY_IDLE ? cycles - worked : 0;
    }
    if (unit == UNIT_SCALAR) {
        return index == ACTIVITY_WAIT_UNIT ? worked : index == ACTIVITY_BUSY ? cycles - worked : 0;
    }
    return 0;  // conflicts: there is nobody to meet
}

bool register_read(uint32_t offset, uint32_t *word) {
    if (offset - COUNTERS < 8 * NUM_COUNTERS && !(offset & 3)) {
        if (offset & 4) {
            *word = counter_high;
        } else {
            uint64_t value = read_counter((offset - COUNTERS) >> 3);
            *word = (uint32_t)value;
            counter_high = (uint32_t)(value >> 32) & ((1 << (COUNTER_BITS - 32)) - 1);
        }
        return true;
    }
    if (!is_in(readable, offset)) {
        return false;
    }
    if (offset == REGISTER_MAGIC) {
        *word = MAGIC;
    } else if (offset == REGISTER_VERSION) {
        *word = ISA_VERSION;
    } else if (offset == REGISTER_CONTROL) {
        *word = 0;
    } else if (offset < REGISTER_CONTROL) {
        *word = (&config.fingerprint)[(offset - REGISTER_FINGERPRINT) >> 2];
    } else {
        *word = *place(offset);
    }
    return true;
}

// RESET is always accepted, and wins over START.
static bool control(uint32_t word) {
    if (word & CONTROL_RESET) {
        end_run(STATUS_RESETTING);
        chip.fault_cause = chip.fault_pc = chip.fault_addr = 0;
        chip.irq_status = 0;
        chip.reset = true;
    } else if (word & CONTROL_START) {
        if ((chip.status != STATUS_IDLE && chip.status != STATUS_DONE)
            || chip.program & (PROGRAM_ALIGN - 1)) {
            return false;
        }
        chip_start();
        watch();
    }
    return true;
}

bool register_write(uint32_t offset, uint32_t word) {
    if (!is_in(writable, offset)) {
        return false;
    }
    if (offset == REGISTER_CONTROL) {
        return control(word);
    }
    if (offset == REGISTER_IRQ_STATUS) {
        chip.irq_status &= ~word;
        return true;
    }
    if (offset == REGISTER_IRQ_ENABLE) {
        word &= 1;
    } else if (chip.status == STATUS_RUNNING) {
        return false;
    }
    *place(offset) = word;
    return true;
}

bool interrupt(void) {
    return chip.irq_enable & chip.irq_status;
}
