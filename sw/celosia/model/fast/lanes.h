// What the lanes compute: the operations of celosia.arch.numerics and celosia.arch.special on words.
//
// SSE's arithmetic is wanted, with DAZ and FTZ: see native.c. Numbers of operations are those of
// celosia.arch.vector.

#include <stdint.h>

#define NAN_ 0x7FC00000u
#define INF_ 0x7F800000u
#define SIGN 0x80000000u

typedef uint32_t word __attribute__((may_alias, aligned(1)));
typedef uint16_t half __attribute__((may_alias, aligned(1)));

static inline float f(uint32_t bits) {
    float number;
    __builtin_memcpy(&number, &bits, 4);
    return number;
}

static inline uint32_t bits(float number) {
    uint32_t found;
    __builtin_memcpy(&found, &number, 4);
    return found;
}

static inline int is_nan(uint32_t x) { return (x & ~SIGN) > INF_; }

static inline uint32_t canon(float number) {
    uint32_t found = bits(number);
    return is_nan(found) ? NAN_ : found;
}

static inline uint32_t flush(uint32_t x) {
    x = x & INF_ ? x : x & SIGN;
    return is_nan(x) ? NAN_ : x;
}

static inline uint32_t mask(int holds) { return holds ? 0xFFFFFFFFu : 0; }

// Integers in the order of numbers, -0 below +0.
static inline int32_t ordered(uint32_t x) {
    int32_t i = (int32_t)x;
    return i ^ ((i >> 31) & 0x7FFFFFFF);
}

static inline uint32_t larger(uint32_t a, uint32_t b) {
    a = flush(a), b = flush(b);
    uint32_t found = ordered(a) >= ordered(b) ? a : b;
    return a == NAN_ || b == NAN_ ? NAN_ : found;
}

static inline uint32_t smaller(uint32_t a, uint32_t b) {
    a = flush(a), b = flush(b);
    uint32_t found = ordered(a) <= ordered(b) ? a : b;
    return a == NAN_ || b == NAN_ ? NAN_ : found;
}

static inline int32_t limited(int32_t x, int32_t low, int32_t high) {
    x = x > low ? x : low;
    return x < high ? x : high;
}

static inline uint32_t to_bf16(uint32_t x) {
    x = flush(x);  // the one NaN stays what it is
    return (x + 0x7FFF + (x >> 16 & 1)) >> 16;
}

static inline uint32_t to_i32(float whole) {
    if (whole >= 0x1p31f) return 0x7FFFFFFF;
    if (whole < -0x1p31f) return SIGN;
    return whole == whole ? (uint32_t)(int32_t)whole : 0;
}

static inline uint32_t requant(uint32_t x, uint32_t scale, uint32_t bias, int64_t param) {
    int64_t product = (int64_t)(int32_t)(x + bias) * (scale & 0xFFFF), shift = scale >> 16 & 63;
    int64_t value = (product + (shift ? (int64_t)1 << (shift - 1) : 0)) >> shift;
    int64_t low = (int8_t)(param >> 8), high = (int8_t)(param >> 16);
    value += (int8_t)param;
    value = value > low ? value : low;
    return (uint32_t)(int32_t)(value < high ? value : high);
}

static inline uint32_t mul_complement(uint32_t a, uint32_t b) {
    uint32_t exponent = a & INF_, one = 0x3F800000;
    if (exponent == 0 || exponent == INF_ || b == one)
        return canon(f(a) * f(canon(f(one) - f(b))));
    return canon(__builtin_fmaf(f(a), f(b ^ SIGN), f(a)));
}

// Functions with tables: the arithmetic of celosia.arch.special, where it is explained.

enum { EXP2, RECIP, RSQRT, LOG2 };
struct segment {
    int64_t c0, c1, c2;
};
static const struct segment (*tables)[128];

static inline int64_t evaluate(int table, int64_t segment, int64_t offset) {
    const struct segment *c = &tables[table][segment];
    return c->c0 + (((c->c1 + (c->c2 * offset >> 18)) * offset) >> 18);
}

// An integer below 2**53, times a power of two, as fp32.
static inline uint32_t scaled(int64_t y, int64_t power) {
    uint64_t factor = (uint64_t)(power + 1023) << 52;
    double by;
    __builtin_memcpy(&by, &factor, 8);
    return bits((float)((double)y * by));
}

static inline int64_t exponent_of(uint32_t x) { return (int64_t)(x >> 23 & 0xFF) - 127; }
static inline int64_t fraction_of(uint32_t x) { return x & 0x7FFFFF; }
static inline int has_no_root(uint32_t x) { return x == NAN_ || (x & SIGN && x & ~SIGN); }

static uint32_t exp2_of(uint32_t x) {
    x = flush(x);
    if (x == NAN_) return NAN_;
    int64_t exponent = exponent_of(x), distance = 7 - exponent;
    if (exponent >= 7) return x & SIGN ? 0 : INF_;
    int64_t fixed = ((fraction_of(x) | 0x800000) << 9) >> (distance > 63 ? 63 : distance);
    fixed = x & SIGN ? -fixed : fixed;
    return scaled(evaluate(EXP2, fixed >> 18 & 127, fixed & 0x3FFFF), (fixed >> 25) - 28);
}

static uint32_t div_of(uint32_t x, uint32_t numerator) {
    x = flush(x), numerator = flush(numerator);
    uint32_t sign = (x ^ numerator) & SIGN, size = numerator & ~SIGN, divisor = x & ~SIGN;
    if (x == NAN_ || numerator == NAN_ || (size == divisor && (size == 0 || size == INF_)))
        return NAN_;
    if (size == INF_ || divisor == 0) return INF_ | sign;
    if (size == 0 || divisor == INF_) return sign;
    int64_t fraction = fraction_of(x);
    int64_t y = evaluate(RECIP, fraction >> 16, (fraction & 0xFFFF) << 2);
    return sign | scaled((fraction_of(numerator) | 0x800000) * y,
                         exponent_of(numerator) - exponent_of(x) - 23 - 28);
}

static inline int64_t rsqrt_value(uint32_t x) {
    int64_t fraction = fraction_of(x);
    return evaluate(RSQRT, (exponent_of(x) & 1) << 6 | fraction >> 17, (fraction & 0x1FFFF) << 1);
}

static uint32_t rsqrt_of(uint32_t x) {
    x = flush(x);
    if (has_no_root(x)) return NAN_;
    if ((x & ~SIGN) == 0) return INF_ | x;
    return x == INF_ ? 0 : scaled(rsqrt_value(x), -(exponent_of(x) >> 1) - 28);
}

static uint32_t sqrt_of(uint32_t x) {
    x = flush(x);
    if (has_no_root(x)) return NAN_;
    if ((x & ~SIGN) == 0 || x == INF_) return x;
    return scaled((fraction_of(x) | 0x800000) * rsqrt_value(x),
                  ((exponent_of(x) + 1) >> 1) - 23 - 28);
}

static uint32_t log2_of(uint32_t x) {
    x = flush(x);
    if (has_no_root(x)) return NAN_;
    if ((x & ~SIGN) == 0) return INF_ | SIGN;
    if (x == INF_) return x;
    int64_t fraction = fraction_of(x), halved = fraction >> 22, whole = exponent_of(x) + halved;
    int64_t slope = evaluate(LOG2, fraction >> 16, (fraction & 0xFFFF) << 2);
    int64_t product = (halved ? (1 << 23) - fraction : fraction << 1) * slope;
    int64_t total = whole * ((int64_t)1 << 43) + (halved ? -(product >> 9) : product >> 9);
    uint32_t size = whole ? scaled(total < 0 ? -total : total, -43) : scaled(product, -52);
    return size | (whole < 0 || (whole == 0 && halved) ? SIGN : 0);
}

// The two stages of a vector instruction, on n words.

#define EACH(what)                                    \
    {                                                 \
        for (int64_t i = 0; i < n; i++) out[i] = what; \
        return;                                       \
    }
#define SIGNED(x) ((int32_t)(x))

static void first(int64_t op, const word *a, const word *b, const word *c, int64_t param,
                  uint32_t *out, int64_t n) {
    switch (op) {
    case 1: EACH(a[i] + b[i])
    case 2: EACH(a[i] - b[i])
    case 3: EACH(a[i] * b[i])
    case 4: EACH(SIGNED(a[i]) > SIGNED(b[i]) ? a[i] : b[i])
    case 5: EACH(SIGNED(a[i]) < SIGNED(b[i]) ? a[i] : b[i])
    case 6: EACH(requant(a[i], b[i], c[i], param))
    case 8: EACH(a[i] & b[i])
    case 9: EACH(a[i] | b[i])
    case 10: EACH(a[i] ^ b[i])
    case 11: EACH(~a[i])
    case 12: EACH(a[i] << (b[i] & 31))
    case 13: EACH(a[i] >> (b[i] & 31))
    case 14: EACH((uint32_t)(SIGNED(a[i]) >> (b[i] & 31)))
    case 15: EACH(a[i] ? b[i] : c[i])
    case 16: EACH(mask(a[i] == b[i]))
    case 17: EACH(mask(a[i] != b[i]))
    case 18: EACH(mask(SIGNED(a[i]) < SIGNED(b[i])))
    case 19: EACH(mask(SIGNED(a[i]) <= SIGNED(b[i])))
    case 20: EACH(mask(SIGNED(a[i]) > SIGNED(b[i])))
    case 21: EACH(mask(SIGNED(a[i]) >= SIGNED(b[i])))
    case 32: EACH(canon(f(a[i]) + f(b[i])))
    case 33: EACH(canon(f(a[i]) - f(b[i])))
    case 34: EACH(canon(f(a[i]) * f(b[i])))
    case 35: EACH(canon(__builtin_fmaf(f(a[i]), f(b[i]), f(c[i]))))
    case 36: EACH(larger(a[i], b[i]))
    case 37: EACH(smaller(a[i], b[i]))
    case 38: EACH(a[i] & ~SIGN)
    case 39: EACH(a[i] ^ SIGN)
    case 40: EACH(mask(f(a[i]) == f(b[i])))
    case 41: EACH(mask(f(a[i]) != f(b[i])))
    case 42: EACH(mask(f(a[i]) < f(b[i])))
    case 43: EACH(mask(f(a[i]) <= f(b[i])))
    case 44: EACH(mask(f(a[i]) > f(b[i])))
    case 45: EACH(mask(f(a[i]) >= f(b[i])))
    case 46: EACH(mask((a[i] & INF_) != INF_))
    case 47: EACH(bits((float)SIGNED(a[i])))
    case 48: EACH(mul_complement(a[i], b[i]))
    default: EACH(a[i])  // MOV, and what has been moved
    }
}

static void second(int64_t post, const word *numerator, int64_t param, uint32_t *out, int64_t n) {
    uint32_t low = (uint32_t)param << 16, high = (uint32_t)param & 0xFFFF0000u;
    switch (post) {
    case 1: EACH((uint32_t)(SIGNED(out[i]) > 0 ? SIGNED(out[i]) : 0))
    case 2: EACH((uint32_t)limited(SIGNED(out[i]), (int16_t)param, (int16_t)(param >> 16)))
    case 3: EACH(larger(out[i], 0))
    case 4: EACH(smaller(larger(out[i], low), high))
    case 5: EACH(canon(f(out[i]) * f(out[i])))
    case 6: EACH(exp2_of(out[i]))
    case 7: EACH(log2_of(out[i]))
    case 8: EACH(div_of(out[i], 0x3F800000))
    case 9: EACH(rsqrt_of(out[i]))
    case 10: EACH(to_i32(__builtin_rintf(f(flush(out[i])))))
    case 11: EACH(to_i32(__builtin_floorf(f(flush(out[i])))))
    case 12: EACH(to_i32(__builtin_truncf(f(flush(out[i])))))
    case 13: EACH(sqrt_of(out[i]))
    case 14: EACH(div_of(out[i], numerator[i]))
    default: return;
    }
}
