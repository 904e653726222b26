// What the files that execute programs share.

#ifndef CELOSIA_EXECUTE_H
#define CELOSIA_EXECUTE_H

#include <stddef.h>

#include "chip.h"

// Most lanes that this firmware has room for.
#define MAX_DIM 8

#define NUM_COUNTS 3

// Rows that a long instruction makes before the host is served again: a power of two.
#define PACE 8

// Value of a field of an instruction, by its name in arch.h.
#define FIELD(instruction, name) ((uint32_t)((instruction)->header >> name##_LSB) & name##_MASK)
// Whether a set of arch.h has a member.
#define HAS(set, member) ((uint32_t)(set) >> (member) & 1)
// Likewise of operations; a set holds none of those with fp32 numbers, which are 32 and higher.
#define HAS_OP(set, op) ((!HAS_BF16 || (op) < OP_FADD) && HAS(set, op))

// Functions that execute an instruction return FAULT_NONE, the cause of a fault, whose address is
// in chip.fault_addr, or STOPPED where service() has ended the run.
#define STOPPED UINT32_MAX

// An instruction that passed the checks that need no values.
struct instruction {
    uint64_t header;
    uint32_t opcode;
    uint32_t mask;                  // operands that are registers
    uint32_t values[NUM_OPERANDS];  // of operands, registers read
};

// State of a run that the host does not see.
struct execution {
    uint32_t registers[NUM_REGISTERS];
    uint16_t strides[NUM_STRIDES][NUM_COUNTS];
    struct loop {
        uint32_t start, end, left;
    } loops[LOOP_DEPTH];
    uint32_t depth;
    bool loaded;  // a matmul has loaded a weight tile
};

extern struct execution execution;

static inline uint32_t fault(uint32_t cause, uint32_t addr) {
    chip.fault_addr = addr;
    return cause;
}

// check.c: from 32 bytes to an instruction.
uint32_t decode(const uint32_t *words, struct instruction *instruction);

// stream.c: streams of rows, base + i0*s0 + i1*s1 + i2*s2, i0 innermost.
struct stream {
    uint32_t row;               // the one that is next
    uint32_t last;              // the highest
    // To the next row where this dimension is the outermost to step; the last is of no use.
    uint32_t steps[NUM_COUNTS + 1];
};

// Rows that are walked over; `left` counts down to 1 in each dimension.
struct walk {
    uint32_t counts[NUM_COUNTS], left[NUM_COUNTS];
};

// Begins a walk. ILLEGAL_COUNT where a count is illegal.
uint32_t walk_begin(struct walk *walk, uint32_t counts, uint32_t n2);
// Goes to the next row; the outermost dimension that stepped, or NUM_COUNTS at the end.
uint32_t walk_next(struct walk *walk);
// Makes a stream whose steps are `strides` from its strides, and checks that it is in `mem`.
uint32_t stream_begin(struct stream *stream, uint32_t mem, uint32_t base, const uint32_t *counts,
                      const uint32_t *strides);
// Likewise with stride register x. `grouped`: the stream has a row for each n0 rows of the walk.
uint32_t stream_of(struct stream *stream, uint32_t mem, uint32_t base, const uint32_t *counts,
                   uint32_t x, bool grouped);

static inline void stream_next(struct stream *stream, uint32_t dimension) {
    stream->row += stream->steps[dimension];
}

// Units.
uint32_t transfer(const struct instruction *instruction);          // dma.c
uint32_t multiply(const struct instruction *instruction);          // matmul.c
uint32_t vector(const struct instruction *instruction);            // vector.c

// matrix.c: the array. Rows `row`, `row` + `step`, .. of the unified buffer become the rows of the
// tile, or with `transpose` its columns; what is left of it is zero.
void matrix_load_weights(uint32_t row, uint32_t step, uint32_t rows, bool transpose);
// Multiplies rows of activations by the tile, and sets rows of sums or adds to them. true: stopped.
bool matrix_rows(uint32_t acts_row, uint32_t acts_step, uint32_t acc_row, uint32_t acc_step,
                 uint32_t rows, bool accumulate, uint32_t format);

static inline int32_t saturate_i8(int32_t word) {
    return word < -128 ? -128 : word > 127 ? 127 : word;
}

#endif
