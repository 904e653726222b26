// Commands of the golden model, done by the processor's own arithmetic.
//
// The chip flushes subnormals, where they enter an operation and where they leave it, to a zero of
// their sign; a result is one if, rounded to 24 bits with an unbounded exponent, it is below
// 2**-126. That is what SSE does with the bits DAZ and FTZ of MXCSR, so its additions, products and
// multiply-adds are the chip's but for the bits of a NaN, of which the chip makes one: see canon.
// Nothing here may be fused that the chip rounds twice (-ffp-contract=off).
//
// What a command is (rows, addresses, operations) is found out by native.py, which writes a struct
// step for each.

#include <stddef.h>
#include <stdint.h>

#if defined __x86_64__ && defined __FMA__ && defined __SSE4_1__

#include "rows.h"

#define DAZ_FTZ 0x8040u  // of MXCSR; all exceptions stay masked
#define CHUNK 512        // words that a vector instruction has in hand; an array has at most 256 lanes
#define TOGETHER 8       // rows of a product at a time
#define COLUMNS 16       // columns of a product at a time

typedef float columns __attribute__((vector_size(4 * COLUMNS), aligned(4)));

enum kind { MATMUL, VECTOR, LOAD, STORE };

struct step {
    int64_t kind, rows;
    union {
        struct {  // `numerator`: the operand that the second stage takes; `group`: rows of one
            int64_t op, post, param, reduce, join, group, numerator;
        };
        struct {  // `weight_rows` of b, which is without memory where the tile is kept
            int64_t bf16, accumulate, transposed, weight_rows;
        };
        struct {  // `size` of an element there
            int64_t outside, pitch, size, columns, convert;
        };
    };
    struct operand a, b, c, dst;
};

// How a reduction joins words, by an operation of the first stage.
static void joined(int64_t op, const uint32_t *a, const uint32_t *b, uint32_t *out, int64_t n) {
    static const int8_t first_stage[] = {1, 4, 5, 8, 9, 32, 36, 37};
    first(first_stage[op], a, b, b, 0, out, n);
}

// Join the lanes 2i and 2i + 1 in each step.
static uint32_t tree(int64_t op, uint32_t *lanes, int64_t n) {
    uint32_t even[CHUNK / 2], odd[CHUNK / 2];
    for (; n > 1; n /= 2) {
        for (int64_t i = 0; i < n / 2; i++) even[i] = lanes[2 * i], odd[i] = lanes[2 * i + 1];
        joined(op, even, odd, lanes, n / 2);
    }
    return lanes[0];
}

static void transpose(const word *tile, uint32_t *out, int64_t dim) {
    for (int64_t i = 0; i < dim; i++)
        for (int64_t j = 0; j < dim; j++) out[i * dim + j] = tile[j * dim + i];
}

enum { ROWS = 1, LANES, COLLECT, TRANSPOSE = 24 };

// No operand overlaps the destination but in step with it, or it is one row, which is read first.
static void vector(const struct step *s, int64_t dim) {
    const struct operand *operands[] = {&s->a, &s->b, &s->c};
    uint32_t buffers[3][CHUNK], out[CHUNK], row[CHUNK];
    const word *words[3];
    int64_t block = s->op == TRANSPOSE ? dim : CHUNK / dim;
    for (int i = 0; i < 3; i++)
        if (!operands[i]->offsets) {  // the same in each chunk
            struct operand once = *operands[i];
            once.together = 0;
            words[i] = taken(&once, 0, s->rows < block ? s->rows : block, dim, buffers[i]);
        }
    for (int64_t at = 0; at < s->rows; at += block) {
        int64_t rows = s->rows - at < block ? s->rows - at : block;
        for (int i = 0; i < 3; i++)
            if (operands[i]->offsets) words[i] = taken(operands[i], at, rows, dim, buffers[i]);
        if (s->op == TRANSPOSE)
            transpose(words[0], out, dim);
        else
            first(s->op, words[0], words[1], words[2], s->param, out, rows * dim);
        second(s->post, words[s->numerator], s->param, out, rows * dim);
        if (!s->reduce) {
            given(&s->dst, at, rows, dim, out);
            continue;
        }
        for (int64_t r = 0; r < rows; r++) {
            uint32_t *lanes = out + r * dim;
            int64_t place = (at + r) % s->group, last = place == s->group - 1;
            if (s->reduce == ROWS) {
                if (place)
                    joined(s->join, row, lanes, row, dim);
                else
                    for (int64_t i = 0; i < dim; i++) row[i] = lanes[i];
            } else {
                uint32_t all = tree(s->join, lanes, dim);
                last |= s->reduce == LANES;
                for (int64_t i = 0; i < dim; i++)
                    if (s->reduce == LANES || place == 0 || i == place)
                        row[i] = s->reduce == LANES || i == place ? all : 0;
            }
            if (last) given(&s->dst, s->reduce == LANES ? at + r : (at + r) / s->group, 1, dim, row);
        }
    }
}

// The tile of weights in blocks of columns, of each its rows: numbers of the format that it was
// used in last, then lanes, of which matmuls that keep it may make others.
struct tile {
    int64_t bf16, size;
    float *numbers;
    uint32_t *lanes;
};

static void set_format(struct tile *tile, int64_t bf16) {
    tile->bf16 = bf16;
    if (bf16)
        for (int64_t i = 0; i < tile->size; i++) tile->numbers[i] = f(tile->lanes[i] << 16);
    else
        for (int64_t i = 0; i < tile->size; i++) tile->numbers[i] = (float)(int8_t)tile->lanes[i];
}

// Rows that are not loaded are zeros.
static void load_tile(const struct step *s, int64_t dim, struct tile *tile) {
    int64_t narrow = s->b.form == I8_OF_8, across = s->transposed ? COLUMNS : 1;
    if (s->weight_rows < dim || dim < COLUMNS)
        __builtin_memset(tile->lanes, 0, (size_t)tile->size * 4);
    for (int64_t r = 0; r < s->weight_rows; r++) {
        const char *row = row_of(&s->b, r);
        for (int64_t block = 0; block < dim; block += COLUMNS) {  // of lanes
            int64_t k = s->transposed ? block : r, n = s->transposed ? r : block;
            uint32_t *to = tile->lanes + (n / COLUMNS * dim + k) * COLUMNS + n % COLUMNS;
            int64_t lanes = dim - block < COLUMNS ? dim - block : COLUMNS;
            if (narrow)
                for (int64_t i = 0; i < lanes; i++)
                    to[i * across] = ((const uint8_t *)row)[block + i];
            else if (across == 1)
                for (int64_t i = 0; i < lanes; i++) to[i] = ((const half *)row)[block + i];
            else
                for (int64_t i = 0; i < lanes; i++)
                    to[i * COLUMNS] = ((const half *)row)[block + i];
        }
    }
    set_format(tile, s->bf16);
}

// Set or add n sums of a row.
static inline __attribute__((always_inline)) void put_sums(const struct step *s, word *acc,
                                                           const float *sums, int64_t n) {
    if (s->bf16 && s->accumulate)
        for (int64_t i = 0; i < n; i++) acc[i] = canon(f(acc[i]) + sums[i]);
    else if (s->bf16)
        for (int64_t i = 0; i < n; i++) acc[i] = canon(sums[i]);
    else if (s->accumulate)
        for (int64_t i = 0; i < n; i++) acc[i] += (uint32_t)(int32_t)sums[i];
    else
        for (int64_t i = 0; i < n; i++) acc[i] = (uint32_t)(int32_t)sums[i];
}

// Sums of products of bf16, from +0 on, k ascending. Those of int8, at most 256 of them, stay below
// 2**24: they are exact.
static void matmul(const struct step *s, int64_t dim, struct tile *tile) {
    float acts[TOGETHER][256];
    int64_t lane = width(s->a.form);
    if (s->b.memory) load_tile(s, dim, tile);
    if (tile->bf16 != s->bf16) set_format(tile, s->bf16);
    for (int64_t at = 0; at < s->rows; at += TOGETHER) {
        int64_t rows = s->rows - at < TOGETHER ? s->rows - at : TOGETHER;
        for (int64_t r = 0; r < TOGETHER; r++) {
            const char *from = row_of(&s->a, r < rows ? at + r : at);
            if (s->bf16)
                for (int64_t k = 0; k < dim; k++)
                    acts[r][k] = f((uint32_t)((const half *)from)[k] << 16);
            else
                for (int64_t k = 0; k < dim; k++)
                    acts[r][k] = (float)*(const int8_t *)(from + k * lane);
        }
        for (int64_t block = 0; block < dim; block += COLUMNS) {
            const columns *weights = (const columns *)(tile->numbers + block * dim);
            columns sums[TOGETHER] = {0};
            for (int64_t k = 0; k < dim; k++)
                for (int r = 0; r < TOGETHER; r++) sums[r] += acts[r][k] * weights[k];
            int64_t n = dim - block < COLUMNS ? dim - block : COLUMNS;
            for (int64_t r = 0; r < rows; r++) {
                word *acc = (word *)row_of(&s->dst, at + r) + block;
                const float *found = (const float *)&sums[r];
                if (n == COLUMNS)
                    put_sums(s, acc, found, COLUMNS);
                else
                    put_sums(s, acc, found, n);
            }
        }
    }
}

#define CONVERT(to_type, from_type, what)                         \
    {                                                             \
        to_type *to = target;                                     \
        const from_type *from = source;                           \
        for (int64_t i = 0; i < n; i++) {                         \
            from_type x = from[i];                                \
            to[i] = (to_type)(what);                              \
        }                                                         \
        return;                                                   \
    }

// Elements between external memory and a chip's; numbers are those of native.py.
static void convert(int64_t how, const void *source, void *target, int64_t n) {
    switch (how) {
    case 0: CONVERT(word, word, x)
    case 1: CONVERT(half, half, x)
    case 2: CONVERT(int8_t, int8_t, x)
    case 3: CONVERT(half, word, to_bf16(x))
    case 4: CONVERT(word, half, (uint32_t)x << 16)
    case 5: CONVERT(half, int8_t, (int16_t)x)
    case 6: CONVERT(word, int8_t, (int32_t)x)
    case 7: CONVERT(int8_t, word, limited(SIGNED(x), -128, 127))
    default: CONVERT(int8_t, half, x)
    }
}

// `columns` elements a row, in groups of `dim`, of which the last may not be whole.
static void transfer(const struct step *s, int64_t dim) {
    int64_t groups = (s->columns + dim - 1) / dim, chip = width(s->a.form);
    for (int64_t r = 0; r < s->rows; r++)
        for (int64_t g = 0; g < groups; g++) {
            char *outside = (char *)s->outside + r * s->pitch + g * dim * s->size;
            char *lanes = row_of(&s->a, r * groups + g);
            int64_t n = s->columns - g * dim < dim ? s->columns - g * dim : dim;
            if (s->kind == STORE)
                convert(s->convert, lanes, outside, n);
            else {
                convert(s->convert, outside, lanes, n);
                __builtin_memset(lanes + n * chip, 0, (size_t)((dim - n) * chip));
            }
        }
}

// `tile` stays from one call to the next; `coefficients` are those of the tables.
__attribute__((visibility("default"))) void run(const struct step *steps, int64_t count,
                                                int64_t dim, struct tile *tile,
                                                const void *coefficients) {
    uint32_t before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr((before & 0xFFFF0000u) | 0x1F80 | DAZ_FTZ);
    tables = coefficients;
    for (const struct step *s = steps; s < steps + count; s++)
        if (s->kind == MATMUL)
            matmul(s, dim, tile);
        else if (s->kind == VECTOR)
            vector(s, dim);
        else
            transfer(s, dim);
    __builtin_ia32_ldmxcsr(before);
}

__attribute__((visibility("default"))) const int32_t exact = 1;
#else
__attribute__((visibility("default"))) const int32_t exact = 0;
#endif
