// Loads and stores: int8 and bf16 to and from either memory, words to and from the accumulators,
// and rounded to bf16 to and from the unified buffer.

#include "execute.h"
#include "float.h"

// Log2 of the bytes of a lane of the unified buffer.
#define LOG2_LANE (sizeof(ub_lane) - 1)

// Copies bytes, words at a time where they are words.
static void copy(void *to, const void *from, uint32_t count) {
    uint8_t *target = to;
    const uint8_t *source = from;
    uint32_t step = (((uintptr_t)to | (uintptr_t)from | count) & 3) == 0 ? 4 : 1;
    for (const uint8_t *end = source + count; source < end; source += step) {
        if (step == 4) {
            *(uint32_t *)(void *)target = *(const uint32_t *)(const void *)source;
        } else {
            *target = *source;
        }
        target += step;
    }
}

// What an element of external memory becomes in a lane of a memory that has another format.
static int32_t taken_in(const uint8_t *outside, uint32_t log2_size) {
    if (!HAS_BF16 || log2_size == 0) {
        return (int8_t)*outside;
    }
    return log2_size == 1
               ? (int32_t)((uint32_t)*(const uint16_t *)(const void *)outside << 16)
               : float_to_bf16(*(const uint32_t *)(const void *)outside);
}

// Likewise what a lane becomes outside.
static void put_out(uint8_t *outside, uint32_t log2_size, uint32_t mem, int32_t lane) {
    if (!HAS_BF16 || log2_size == 0) {
        *outside = (uint8_t)(mem == MEM_ACC ? saturate_i8(lane) : lane);
    } else if (log2_size == 1) {
        *(uint16_t *)(void *)outside = float_to_bf16((uint32_t)lane);
    } else {
        *(uint32_t *)(void *)outside = (uint32_t)lane << 16;
    }
}

// Moves `lanes` elements between a row of the on-chip memory and external memory; of a row that is
// loaded, lanes beyond them become zero.
static void move_row(bool store, uint32_t mem, uint32_t log2_size, uint32_t row, uint8_t *outside,
                     uint32_t lanes) {
    uint32_t at = row << config.log2_dim, dim = config.dim;
    int32_t *words = &accumulators[at];
    ub_lane *narrow = &unified_buffer[at];
    bool as_it_is = log2_size == (mem == MEM_ACC ? 2 : LOG2_LANE);
    for (uint32_t i = lanes; !store && i < dim; i++) {
        if (mem == MEM_ACC) {
            words[i] = 0;
        } else {
            narrow[i] = 0;
        }
    }
    for (uint32_t i = 0; !as_it_is && i < lanes; i++) {
        if (store) {
            put_out(outside, log2_size, mem, mem == MEM_ACC ? words[i] : narrow[i]);
        } else if (mem == MEM_ACC) {
            words[i] = taken_in(outside, log2_size);
        } else {
            narrow[i] = (ub_lane)taken_in(outside, log2_size);
        }
        outside += 1 << log2_size;
    }
    if (as_it_is) {
        void *inside = mem == MEM_ACC ? (void *)words : (void *)narrow;
        copy(store ? outside : inside, store ? inside : outside, lanes << log2_size);
    }
}

static bool is_in_a_window(uint32_t first, uint64_t last) {
    for (uint32_t i = 0; i < NUM_WINDOWS; i++) {
        if (chip.window_base[i] <= first && last <= chip.window_last[i]) {
            return true;
        }
    }
    return false;
}

uint32_t transfer(const struct instruction *instruction) {
    const uint32_t *values = instruction->values;
    bool store = instruction->opcode == OPCODE_STORE;
    uint32_t mem = FIELD(instruction, DMA_MEM), addr = values[DMA_OPERAND_ADDR];
    uint32_t log2_size = FIELD(instruction, DMA_FMT);  // of an element in bytes
    uint32_t cols = values[DMA_OPERAND_SHAPE] >> 16, rows = values[DMA_OPERAND_SHAPE] & 0xFFFF;
    uint32_t pitch = values[DMA_OPERAND_PITCH], steps = values[DMA_OPERAND_STEPS];
    uint32_t row_bytes = cols << log2_size;
    if (rows == 0 || cols == 0) {
        return fault(FAULT_ILLEGAL_COUNT, 0);
    }
    if ((addr | pitch) & ((1u << log2_size) - 1)) {
        return fault(FAULT_MISALIGNED, addr);
    }
    uint32_t groups = (cols + config.dim - 1) >> config.log2_dim;
    uint32_t counts[NUM_COUNTS] = {groups, rows, 1}, strides[NUM_COUNTS] = {steps >> 16,
                                                                            steps & 0xFFFF, 0};
    struct stream stream;
    uint32_t cause = stream_begin(&stream, mem, values[DMA_OPERAND_ROW], counts, strides);
    if (cause != FAULT_NONE) {
        return cause;
    }
    uint64_t last = addr + (uint64_t)(rows - 1) * pitch + row_bytes - 1;
    if (!is_in_a_window(addr, last)) {
        return fault(FAULT_WINDOW, addr);
    }
    if (last >= config.memory_bytes) {
        set_fault_light();
        return fault(store ? FAULT_BUS_WRITE : FAULT_BUS_READ, 0);
    }
    uint32_t moved = 0;
    for (; rows > 0; rows--) {
        uint32_t left = cols;
        uint8_t *outside = external_memory + addr;
        for (uint32_t group = groups; group > 0; group--) {
            uint32_t lanes = left < config.dim ? left : config.dim;
            move_row(store, mem, log2_size, stream.row, outside, lanes);
            outside += lanes << log2_size;
            left -= lanes;
            stream_next(&stream, group == 1);
            if ((++moved & (PACE - 1)) == 0 && service()) {
                return STOPPED;
            }
        }
        addr += pitch;
        *(store ? &chip.bytes_written : &chip.bytes_read) += row_bytes;
    }
    return FAULT_NONE;
}
