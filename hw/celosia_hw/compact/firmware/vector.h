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
    uint32_t op, reduce, join, param, dst_mem;
    uint32_t taken;           // sources that the operation takes: the first ones
    bool grouped;             // the destination has a row for each group
    struct walk walk;
    struct stream dst;
    struct source sources[NUM_SOURCES];
    struct bounds bounds;
    int32_t zero_point;       // of requant
};

extern struct vector_state vector_state;

// lanes.c: for each of `count` words an operation, or a join, and the second stage; as bytes, if
// they fit in there.
void lanes(uint32_t op, const int32_t *a, const int32_t *b, const int32_t *c, uint32_t count,
           struct bounds bounds, void *to, bool as_bytes);

// rows.c: a row of the walk after the other.
uint32_t rows_execute(void);

#endif
