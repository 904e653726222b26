// Streams of rows.

#include "execute.h"

uint32_t walk_begin(struct walk *walk, uint32_t counts, uint32_t n2) {
    walk->counts[0] = walk->left[0] = counts & 0xFFFF;
    walk->counts[1] = walk->left[1] = counts >> 16;
    walk->counts[2] = walk->left[2] = n2;
    if (walk->counts[0] == 0 || walk->counts[1] == 0 || n2 - 1 >= 0xFFFF) {
        return fault(FAULT_ILLEGAL_COUNT, 0);
    }
    return FAULT_NONE;
}

uint32_t walk_next(struct walk *walk) {
    uint32_t dimension = 0;
    while (dimension < NUM_COUNTS && --walk->left[dimension] == 0) {
        walk->left[dimension] = walk->counts[dimension];
        dimension++;
    }
    return dimension;
}

uint32_t stream_begin(struct stream *stream, uint32_t mem, uint32_t base, const uint32_t *counts,
                      const uint32_t *strides) {
    // A consecutive stream may span 2**48 rows.
    uint64_t last = base;
    for (uint32_t i = 0; i < NUM_COUNTS; i++) {
        // From the last row of the dimensions inside to the next one.
        stream->steps[i] = strides[i] + base - (uint32_t)last;
        if (counts[i] > 1) {  // multiplications are slow
            last += (uint64_t)(counts[i] - 1) * strides[i];
        }
    }
    stream->row = base;
    stream->last = (uint32_t)last;
    if (last >= (mem == MEM_UB ? config.ub_rows : config.acc_rows)) {
        return fault(mem == MEM_UB ? FAULT_UB_RANGE : FAULT_ACC_RANGE, (uint32_t)last);
    }
    return FAULT_NONE;
}

uint32_t stream_of(struct stream *stream, uint32_t mem, uint32_t base, const uint32_t *counts,
                   uint32_t x, bool grouped) {
    const uint32_t n0 = grouped ? 1 : counts[0], n1 = counts[1];
    uint32_t strides[NUM_COUNTS] = {1, n0, n1 > 1 ? n0 * n1 : n0};
    for (uint32_t i = 0; x != 0 && i < NUM_COUNTS; i++) {
        strides[i] = execution.strides[x][i];
    }
    if (grouped) {
        strides[0] = 0;
    }
    return stream_begin(stream, mem, base, counts, strides);
}
