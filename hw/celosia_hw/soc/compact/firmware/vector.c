// The vector instruction: checks of its values, and the walk over its rows.

#include "vector.h"

struct vector_state vector_state;

// Where row i of the destination does not go with row i of the walk.
static bool has_shared_rows(const struct vector_state *v) {
    return HAS_OP(INDEXED_OPS, v->op) || v->grouped;
}

// A stream that is a table of `param` rows. The walk leaves it where it is.
static uint32_t table_begin(struct stream *stream, uint32_t mem, uint32_t base) {
    const uint32_t counts[NUM_COUNTS] = {vector_state.param, 1, 1};
    uint32_t cause = stream_of(stream, mem, base, counts, 0, false);
    for (uint32_t i = 0; i < NUM_COUNTS; i++) {
        stream->steps[i] = 0;
    }
    return cause;
}

// Checks of values that are not rows.
static uint32_t check_counts(const struct instruction *instruction) {
    const struct vector_state *v = &vector_state;
    uint32_t n0 = v->walk.counts[0];
    if ((v->op == OP_TRANSPOSE && (n0 & (config.dim - 1)) != 0) ||
        ((HAS_OP(INDEXED_OPS, v->op) || v->reduce == REDUCE_COLLECT) && n0 > config.dim) ||
        (HAS_OP(INDEXED_OPS, v->op) && v->param - 1 >= TABLE_LIMIT)) {
        return fault(FAULT_ILLEGAL_COUNT, 0);
    }
    for (uint32_t i = 0; i < v->taken; i++) {
        uint32_t lane = instruction->values[VECTOR_OPERAND_A + i] >> LANE_LSB;
        if (HAS(LANE_SOURCES, v->sources[i].kind) && lane >= config.dim) {
            return fault(FAULT_INDEX_RANGE, lane);
        }
    }
    return FAULT_NONE;
}

// Checks the rows of source i: a, b or c.
static uint32_t source_begin(const struct instruction *instruction, uint32_t i) {
    struct vector_state *v = &vector_state;
    struct source *source = &v->sources[i];
    uint32_t kind = source->kind, word = instruction->values[VECTOR_OPERAND_A + i];
    uint32_t mem = HAS(ACC_SOURCES, kind) ? MEM_ACC : MEM_UB;
    source->value = word;
    if (HAS(LANE_SOURCES, kind)) {
        source->value = word >> LANE_LSB;
        word &= (1 << LANE_LSB) - 1;
    }
    if (HAS(ROW_SOURCES, kind)) {
        const uint32_t counts[NUM_COUNTS] = {1, 1, 1};
        return stream_of(&source->stream, mem, word, counts, 0, false);
    }
    if (!HAS(STREAM_SOURCES, kind)) {
        return FAULT_NONE;
    }
    if (v->op == OP_GATHER && i == 0) {
        return table_begin(&source->stream, mem, word);
    }
    uint32_t x = FIELD(instruction, VECTOR_STRIDES) >> (i + 1) * VECTOR_STRIDE_BITS;
    return stream_of(&source->stream, mem, word, v->walk.counts, x & VECTOR_XA_MASK,
                     HAS_OP(INDEXED_OPS, v->op) && i == 1);
}

// Whether the destination meets a source that is a stream, but in step with it.
static bool overlaps(const struct vector_state *v) {
    for (uint32_t i = 0; i < v->taken; i++) {
        const struct stream *dst = &v->dst, *src = &v->sources[i].stream;
        uint32_t kind = v->sources[i].kind;
        if (!HAS(STREAM_SOURCES, kind) || (HAS(ACC_SOURCES, kind) != (v->dst_mem == MEM_ACC)) ||
            dst->last < src->row || src->last < dst->row) {
            continue;
        }
        if (has_shared_rows(v) || dst->row != src->row || dst->steps[0] != src->steps[0] ||
            dst->steps[0] == 0 || v->walk.counts[1] != 1 || v->walk.counts[2] != 1) {
            return true;
        }
    }
    return false;
}

static uint32_t begin(const struct instruction *instruction) {
    struct vector_state *v = &vector_state;
    const uint32_t *values = instruction->values;
    v->op = FIELD(instruction, VECTOR_OP);
    v->post = FIELD(instruction, VECTOR_POST);
    v->reduce = FIELD(instruction, VECTOR_REDUCE);
    v->join = FIELD(instruction, VECTOR_REDUCE_OP);
    v->grouped = v->reduce == REDUCE_ROWS || v->reduce == REDUCE_COLLECT;
    v->param = values[VECTOR_OPERAND_PARAM];
    v->dst_kind = FIELD(instruction, VECTOR_DST_KIND);
    v->dst_mem = v->dst_kind == DST_ACC ? MEM_ACC : MEM_UB;
    v->taken = 0;
    for (uint32_t kinds = FIELD(instruction, VECTOR_KINDS); kinds; kinds >>= VECTOR_KIND_BITS) {
        v->sources[v->taken++].kind = kinds & VECTOR_A_KIND_MASK;
    }
    uint32_t cause = walk_begin(&v->walk, values[VECTOR_OPERAND_COUNTS],
                                FIELD(instruction, VECTOR_N2));
    if (cause == FAULT_NONE) {
        cause = check_counts(instruction);
    }
    if (cause == FAULT_NONE) {
        uint32_t base = values[VECTOR_OPERAND_DST];
        cause = v->op == OP_SCATTER
                    ? table_begin(&v->dst, v->dst_mem, base)
                    : stream_of(&v->dst, v->dst_mem, base, v->walk.counts,
                                FIELD(instruction, VECTOR_XDST), v->grouped);
    }
    for (uint32_t i = 0; i < v->taken && cause == FAULT_NONE; i++) {
        cause = source_begin(instruction, i);
    }
    if (cause == FAULT_NONE && overlaps(v)) {
        cause = fault(FAULT_OVERLAP, v->dst.row);
    }
    return cause;
}

// Bounds of the second stage, and parts of requant's parameter.
static struct bounds bounds_of(void) {
    struct vector_state *v = &vector_state;
    uint32_t post = v->post;
    struct bounds bounds = {post == POST_NONE ? INT32_MIN : 0, INT32_MAX};
    if (v->op == OP_REQUANT) {
        v->zero_point = (int8_t)v->param;
        bounds = (struct bounds){(int8_t)(v->param >> 8), (int8_t)(v->param >> 16)};
    } else if (post == POST_CLAMP_I) {
        bounds = (struct bounds){(int16_t)v->param, (int16_t)(v->param >> 16)};
    }
    // Saturation of what is between two bounds is between the saturated bounds.
    if (v->dst_mem == MEM_UB && v->reduce == REDUCE_NONE) {
        bounds = (struct bounds){saturate_i8(bounds.low), saturate_i8(bounds.high)};
    }
    return bounds;
}

uint32_t vector(const struct instruction *instruction) {
    uint32_t cause = begin(instruction);
    if (cause != FAULT_NONE) {
        return cause;
    }
    vector_state.bounds = bounds_of();
    return rows_execute();
}
