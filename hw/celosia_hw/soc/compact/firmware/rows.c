// Rows of a vector instruction: sources -> operation -> second stage -> reduction -> destination.

#include "float.h"
#include "vector.h"

static const uint8_t join_operations[] = {
    [JOIN_SUM_I] = OP_IADD, [JOIN_MAX_I] = OP_IMAX, [JOIN_MIN_I] = OP_IMIN,
    [JOIN_AND] = OP_AND, [JOIN_OR] = OP_OR,
};

static int32_t words[MAX_DIM];         // of the row, where they do not go to their place at once
static int32_t group[MAX_DIM];         // what its group has been reduced to so far
static int32_t tile[MAX_DIM][MAX_DIM]; // to be transposed

static void fill(int32_t *row, int32_t word) {
    for (uint32_t i = config.dim; i > 0; i--) {
        *row++ = word;
    }
}

// The word that a lane of the unified buffer stands for.
static inline int32_t widened(uint32_t kind, ub_lane lane) {
    return HAS_BF16 && HAS(BF16_SOURCES, kind) ? (int32_t)((uint32_t)lane << 16) : (int8_t)lane;
}

// Reads a row of a source's memory, or one lane of it into all words.
static void read_row(const struct source *source, uint32_t row, int32_t *to) {
    uint32_t at = row << config.log2_dim;
    const int32_t *from = &accumulators[at];
    const ub_lane *lanes = &unified_buffer[at];
    uint32_t kind = source->kind;
    bool acc = HAS(ACC_SOURCES, kind);
    if (HAS(LANE_SOURCES, kind)) {
        fill(to, acc ? from[source->value] : widened(kind, lanes[source->value]));
        return;
    }
    for (const int32_t *end = to + config.dim; to < end; to++) {
        *to = acc ? *from++ : widened(kind, *lanes++);
    }
}

// Brings the words of a source for a row of the walk.
static void bring(struct source *source, uint32_t number) {
    if (source->way == FROM_ACC) {
        source->at = &accumulators[source->stream.row << config.log2_dim];
    } else if (source->way == FROM_NUMBER) {
        fill(source->words, (int32_t)(source->value + number));
    } else {
        read_row(source, source->stream.row, source->words);
    }
}

// Brings the words of a transpose or a rotate for row i0 of a group.
static void bring_moved(uint32_t i0) {
    struct source *a = &vector_state.sources[0];
    uint32_t row = a->stream.row, dim = config.dim, turn = vector_state.sources[1].value;
    bool rotate = vector_state.op == OP_ROTATE;
    i0 = rotate ? 0 : i0 & (dim - 1);
    for (uint32_t i = 0; i < dim; i++) {
        // All of the tile at once: it may lie where the destination does.
        if (i0 == 0 && (!rotate || i == 0)) {
            read_row(a, row, tile[i]);
            row += a->stream.steps[0];
        }
        a->words[i] = rotate ? tile[0][(i + turn) & (dim - 1)] : tile[i][i0];
    }
}

// Writes words that fit where they go.
static void write_row(uint32_t row, const int32_t *from, uint32_t op, struct bounds bounds) {
    const struct vector_state *v = &vector_state;
    bool narrow = v->dst_mem == MEM_UB;
    row <<= config.log2_dim;
    if (HAS_BF16 && v->dst_kind == DST_UB_BF16) {
        for (uint32_t i = 0; i < config.dim; i++) {
            unified_buffer[row + i] = (ub_lane)float_to_bf16((uint32_t)from[i]);
        }
        return;
    }
    void *to = narrow ? (void *)&unified_buffer[row] : (void *)&accumulators[row];
    lanes(op, from, v->sources[1].at, v->sources[2].at, config.dim, bounds, to, narrow);
}

// Writes words of a result: saturates or rounds them.
static void write_words(uint32_t row, const int32_t *from) {
    write_row(row, from, OP_MOV, vector_state.dst_mem == MEM_UB ? all_bytes : all_words);
}

// Joins fp32 numbers of `words`: rows in their order, lanes 2 i and 2 i + 1 in each step.
static void reduce_floats(uint32_t i0) {
    const struct vector_state *v = &vector_state;
    if (v->reduce == REDUCE_ROWS) {
        for (uint32_t i = 0; i < config.dim; i++) {
            group[i] = i0 == 0 ? words[i] : wide_join(v->join, group[i], words[i]);
        }
        return;
    }
    for (uint32_t half = config.dim >> 1; half > 0; half >>= 1) {
        for (uint32_t i = 0; i < half; i++) {
            words[i] = wide_join(v->join, words[2 * i], words[2 * i + 1]);
        }
    }
}

// Adds `words`, row i0 of its group, to what the group has so far; writes a row if one is complete.
static void reduce(uint32_t i0) {
    const struct vector_state *v = &vector_state;
    const bool floats = HAS_BF16 && HAS(FLOAT_JOINS, v->join);
    uint32_t op = floats ? OP_MOV : join_operations[v->join], dim = config.dim;
    if (floats) {
        reduce_floats(i0);
    } else if (v->reduce == REDUCE_ROWS) {
        lanes(i0 == 0 ? OP_MOV : op, words, group, group, dim, all_words, group, false);
    }
    if (v->reduce != REDUCE_ROWS) {
        // The joins of integers give the same in any order.
        for (uint32_t half = floats ? 0 : dim >> 1; half > 0; half >>= 1) {
            lanes(op, words, words + half, words, half, all_words, words, false);
        }
        if (v->reduce == REDUCE_LANES || i0 == 0) {
            fill(group, v->reduce == REDUCE_LANES ? words[0] : 0);
        }
        group[v->reduce == REDUCE_LANES ? 0 : i0] = words[0];
    }
    if (v->reduce == REDUCE_LANES || v->walk.left[0] == 1) {
        write_words(v->dst.row, group);
    }
}

// Begins the walk: finds the sources that change from row to row, and reads the others.
static uint32_t begin(struct source **active) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < NUM_SOURCES; i++) {
        struct source *source = &vector_state.sources[i];
        uint32_t kind = i < vector_state.taken ? source->kind : SRC_NONE;
        source->at = source->words;
        if (HAS(STREAM_SOURCES, kind) || kind == SRC_ROW_INDEX) {
            source->way = kind == SRC_ACC ? FROM_ACC
                          : kind == SRC_ROW_INDEX ? FROM_NUMBER : FROM_COPY;
            active[count++] = source;
        } else if (HAS(ROW_SOURCES, kind)) {
            read_row(source, source->stream.row, source->words);
        } else if (kind != SRC_NONE) {
            uint32_t word = source->value;
            for (uint32_t lane = 0; lane < config.dim; lane++) {
                source->words[lane] = (int32_t)word;
                word += kind == SRC_LANE_INDEX;
            }
        }
    }
    return count;
}

// The first index that was not in its table, if `bad`.
struct indexes {
    bool bad;
    uint32_t first;
};

// Brings the words of a gather or scatter for row i0 of a group; where they go. true: nowhere.
static bool bring_indexed(uint32_t i0, struct indexes *indexes, uint32_t *row) {
    struct source *a = &vector_state.sources[0], *b = &vector_state.sources[1];
    uint32_t index = (uint32_t)accumulators[(b->stream.row << config.log2_dim) + i0];
    bool good = index < vector_state.param;
    if (!good && !indexes->bad) {
        indexes->bad = true;
        indexes->first = index;
    }
    if (vector_state.op == OP_SCATTER) {
        *row += index;
        bring(a, 0);
        return !good;
    }
    if (good) {
        read_row(a, a->stream.row + index, a->words);
    } else {
        fill(a->words, 0);
    }
    return false;
}

uint32_t rows_execute(void) {
    struct vector_state *v = &vector_state;
    struct source *active[NUM_SOURCES];
    const uint32_t count = begin(active);
    const bool wide = is_wide(v);
    struct indexes indexes = {false, 0};
    uint32_t number = 0, dimension;
    do {
        uint32_t i0 = v->walk.counts[0] - v->walk.left[0], row = v->dst.row;
        bool nowhere = false;
        if (HAS_OP(INDEXED_OPS, v->op)) {
            nowhere = bring_indexed(i0, &indexes, &row);
        } else if (HAS_OP(MOVEMENT_OPS, v->op)) {
            bring_moved(i0);
        } else {
            for (uint32_t i = 0; i < count; i++) {
                bring(active[i], number);
            }
        }
        if (wide) {
            wide_lanes(words);
        } else if (v->reduce != REDUCE_NONE) {
            lanes(v->op, v->sources[0].at, v->sources[1].at, v->sources[2].at, config.dim,
                  v->bounds, words, false);
        }
        if (v->reduce != REDUCE_NONE) {
            reduce(i0);
        } else if (wide && !nowhere) {
            write_words(row, words);
        } else if (!nowhere) {
            write_row(row, v->sources[0].at, v->op, v->bounds);
        }
        number++;
        if ((number & (PACE - 1)) == 0 && service()) {
            return STOPPED;
        }
        dimension = walk_next(&v->walk);
        stream_next(&v->dst, dimension);
        for (uint32_t i = 0; i < count; i++) {
            stream_next(&active[i]->stream, dimension);
        }
    } while (dimension < NUM_COUNTS);
    return indexes.bad ? fault(FAULT_INDEX_RANGE, indexes.first) : FAULT_NONE;
}
