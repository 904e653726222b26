// The matmul instruction.

#include "execute.h"

uint32_t multiply(const struct instruction *instruction) {
    const uint32_t *values = instruction->values;
    bool loads = FIELD(instruction, MATMUL_WLOAD);
    uint32_t rows = values[MATMUL_OPERAND_WROWS];
    struct stream acc, acts, weights;
    struct walk walk;
    uint32_t cause = walk_begin(&walk, values[MATMUL_OPERAND_COUNTS], values[MATMUL_OPERAND_N2]);
    if (cause == FAULT_NONE && loads && rows - 1 >= config.dim) {
        cause = fault(FAULT_ILLEGAL_COUNT, 0);
    }
    if (cause == FAULT_NONE) {
        cause = stream_of(&acc, MEM_ACC, values[MATMUL_OPERAND_ACC], walk.counts,
                          FIELD(instruction, MATMUL_XACC), false);
    }
    if (cause == FAULT_NONE) {
        cause = stream_of(&acts, MEM_UB, values[MATMUL_OPERAND_ACTS], walk.counts,
                          FIELD(instruction, MATMUL_XACTS), false);
    }
    if (cause == FAULT_NONE && loads) {
        uint32_t counts[NUM_COUNTS] = {rows, 1, 1};
        cause = stream_of(&weights, MEM_UB, values[MATMUL_OPERAND_W], counts,
                          FIELD(instruction, MATMUL_XW), false);
    }
    if (cause != FAULT_NONE) {
        return cause;
    }
    if (loads) {
        matrix_load_weights(weights.row, weights.steps[0], rows,
                            FIELD(instruction, MATMUL_TRANSPOSE));
        execution.loaded = true;
    }
    bool accumulate = FIELD(instruction, MATMUL_ACCUMULATE);
    for (;;) {
        // The innermost dimension at once: the array walks over it.
        if (matrix_rows(acts.row, acts.steps[0], acc.row, acc.steps[0], walk.counts[0],
                        accumulate, FIELD(instruction, MATMUL_FMT))) {
            return STOPPED;
        }
        walk.left[0] = 1;
        uint32_t dimension = walk_next(&walk);
        if (dimension == NUM_COUNTS) {
            return FAULT_NONE;
        }
        acts.row += (walk.counts[0] - 1) * acts.steps[0];
        acc.row += (walk.counts[0] - 1) * acc.steps[0];
        stream_next(&acts, dimension);
        stream_next(&acc, dimension);
    }
}
