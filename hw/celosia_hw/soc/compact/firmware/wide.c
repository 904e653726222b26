// What the lanes of the vector unit compute with fp32 numbers, and beside int8 destinations.

#include "float.h"
#include "vector.h"

#if HAS_BF16

static uint32_t mask(bool holds) { return holds ? UINT32_MAX : 0; }

// The rest of first_stage is I2F, that of second_stage NONE: they have a case for every other one.
_Static_assert(NUM_FLOAT_OPS == 17, "first_stage must compute every floating operation");
_Static_assert(ALL_POSTS == (1u << 15) - 1, "second_stage must compute every second stage");

static uint32_t first_stage(uint32_t op, uint32_t a, uint32_t b, uint32_t c) {
    switch (op) {
    case OP_FSUB:
        b ^= 0x80000000u;
        // Falls through.
    case OP_FADD:
        return float_add(a, b);
    case OP_FMUL:
        return float_multiply(a, b);
    case OP_FMULC:
        b ^= 0x80000000u;
        c = a;
        // Of a zero or an infinite a, or a zero 1 - b, the sign is that of the product.
        if ((a << 1) + (1u << 24) < 2u << 24 || b == (FLOAT_ONE | 0x80000000u)) {
            b = float_add(FLOAT_ONE, b);
            c = 0x80000000u;
        }
        // Falls through.
    case OP_FFMA:
        return float_multiply_add(a, b, c);
    case OP_FMAX:
        return float_max(a, b);
    case OP_FMIN:
        return float_min(a, b);
    case OP_FABS:
        return a & ~0x80000000u;
    case OP_FNEG:
        return a ^ 0x80000000u;
    case OP_FEQ:
        return mask(float_equal(a, b));
    case OP_FNE:
        return mask(!float_equal(a, b));
    case OP_FLT:
        return mask(float_less(a, b));
    case OP_FLE:
        return mask(float_less(a, b) || float_equal(a, b));
    case OP_FGT:
        return mask(float_less(b, a));
    case OP_FGE:
        return mask(float_less(b, a) || float_equal(a, b));
    case OP_ISFINITE:
        return mask(float_is_finite(a));
    }
    return float_of_integer((int32_t)a);
}

static uint32_t clamped(uint32_t word, int32_t low, int32_t high) {
    int32_t number = (int32_t)word;
    number = number < low ? low : number;
    return (uint32_t)(number > high ? high : number);
}

static uint32_t second_stage(uint32_t post, uint32_t x, uint32_t numerator) {
    uint32_t param = vector_state.param;
    switch (post) {
    case POST_RELU_I:
        return clamped(x, 0, INT32_MAX);
    case POST_CLAMP_I:
        return clamped(x, (int16_t)param, (int16_t)(param >> 16));
    case POST_RELU_F:
        return float_max(x, 0);
    case POST_CLAMP_F:
        return float_min(float_max(x, param << 16), param & 0xFFFF0000u);
    case POST_SQUARE:
        return float_multiply(x, x);
    case POST_EXP2:
        return float_exp2(x);
    case POST_LOG2:
        return float_log2(x);
    case POST_RECIP:
        return float_divide(FLOAT_ONE, x);
    case POST_RSQRT:
        return float_root(x, true);
    case POST_SQRT:
        return float_root(x, false);
    case POST_DIV:
        return float_divide(numerator, x);
    case POST_F2I:
        return (uint32_t)float_to_integer(x, TO_NEAREST);
    case POST_F2I_FLOOR:
        return (uint32_t)float_to_integer(x, DOWN);
    case POST_F2I_TRUNC:
        return (uint32_t)float_to_integer(x, TO_ZERO);
    }
    return x;
}

void wide_lanes(int32_t *to) {
    const struct vector_state *v = &vector_state;
    const int32_t *a = v->sources[0].at, *b = v->sources[1].at, *c = v->sources[2].at;
    if (v->op < OP_FADD) {
        lanes(v->op, a, b, c, config.dim, v->op == OP_REQUANT ? v->bounds : all_words, to, false);
    }
    for (uint32_t i = 0; i < config.dim; i++) {
        uint32_t word = v->op < OP_FADD
                            ? (uint32_t)to[i]
                            : first_stage(v->op, (uint32_t)a[i], (uint32_t)b[i], (uint32_t)c[i]);
        to[i] = (int32_t)second_stage(v->post, word, (uint32_t)c[i]);
    }
}

int32_t wide_join(uint32_t join, int32_t a, int32_t b) {
    uint32_t x = (uint32_t)a, y = (uint32_t)b;
    return (int32_t)(join == JOIN_SUM_F   ? float_add(x, y)
                     : join == JOIN_MAX_F ? float_max(x, y)
                                          : float_min(x, y));
}

#endif
