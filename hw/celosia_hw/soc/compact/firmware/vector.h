// State of a vector instruction.

#ifndef CELOSIA_VECTOR_H
#define CELOSIA_VECTOR_H

#include "execute.h"

#define NUM_SOURCES 3

// How the words of a source that changes from row to row are had.
enum way { FROM_ACC, FROM_COPY, FROM_NUMBER };

struct source {
    uint32_t kind;
    enum way way;
    uint32_t value;           // the operand itself, or the lane
    struct stream stream;
    const int32_t *at;        // words of this row of the walk: these, or those in the accumulators
    int32_t words[MAX_DIM];
};

// Of the second stage.
struct bounds {
    int32_t low, high;
};

struct vector_state {
    uint32_t op, post, reduce, join, param, dst_kind, dst_mem;
    uint32_t taken;           // sources that the operation takes: the first ones
    bool grouped;             // the destination has a row for each group
    struct walk walk;
    struct stream dst;
    struct source sources[NUM_SOURCES];
    struct bounds bounds;
    int32_t zero_point;       // of requant
};

extern struct vector_state vector_state;

// Whether there are fp32 numbers, or bf16 is written.
static inline bool is_wide(const struct vector_state *v) {
    return HAS_BF16 && (v->op >= OP_FADD || HAS(FLOAT_POSTS, v->post) ||
                        HAS(FLOAT_JOINS, v->join) || v->dst_kind == DST_UB_BF16);
}

static const struct bounds all_words = {INT32_MIN, INT32_MAX}, all_bytes = {-128, 127};

// lanes.c: for each of `count` words an operation, or a join, and the second stage; as lanes of the
// unified buffer, if they fit in there.
void lanes(uint32_t op, const int32_t *a, const int32_t *b, const int32_t *c, uint32_t count,
           struct bounds bounds, void *to, bool narrow);

// wide.c: both stages of the instruction, for each lane of a row.
void wide_lanes(int32_t *to);
// Likewise a join of fp32 numbers.
int32_t wide_join(uint32_t join, int32_t a, int32_t b);

// rows.c: a row of the walk after the other.
uint32_t rows_execute(void);

#endif
