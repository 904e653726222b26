// Arithmetic of chips with bf16: to nearest even, subnormal numbers are zeros.

#include "float.h"
#include "machine.h"

#if HAS_BF16

#include "tables.h"

#define SIGN 0x80000000u
#define BIAS 127
#define FRACTION_BITS 23
#define FRACTION_MASK 0x7FFFFFu

// Subnormal numbers too.
static inline bool is_zero(uint32_t x) { return x << 1 < 1u << (FRACTION_BITS + 1); }
static inline bool is_infinite(uint32_t x) { return x << 1 == (uint32_t)FLOAT_INF << 1; }
static inline bool is_nan(uint32_t x) { return x << 1 > (uint32_t)FLOAT_INF << 1; }

static inline int32_t biased(uint32_t x) { return (int32_t)(x >> FRACTION_BITS & 0xFF); }
static inline int32_t exponent_of(uint32_t x) { return biased(x) - BIAS; }
static inline uint32_t fraction_of(uint32_t x) { return x & FRACTION_MASK; }
static inline uint32_t significand_of(uint32_t x) {
    return fraction_of(x) | 1u << FRACTION_BITS;
}

// x shifted to the right; what leaves it there sets the lowest bit.
static uint64_t shifted(uint64_t x, uint32_t count) {
    uint32_t high = (uint32_t)(x >> 32), low = (uint32_t)x, lost = 0;
    if (count >= 64) {
        return x != 0;
    }
    if (count & 32) {
        lost = low;
        low = high;
        high = 0;
    }
    count &= 31;
    lost |= low << 1 << (31 - count);
    low = low >> count | high << 1 << (31 - count);
    high >>= count;
    return (uint64_t)high << 32 | low | (lost != 0);
}

// The number significand * 2**exponent, rounded. The lowest bit may stand for what lies below.
static uint32_t pack(uint32_t sign, int32_t exponent, uint64_t significand) {
    uint32_t high = (uint32_t)(significand >> 32), low = (uint32_t)significand;
    if (high == 0) {
        high = low;
        low = 0;
        exponent -= 32;
    }
    if (high == 0) {
        return sign;
    }
    for (uint32_t step = 16; step > 0; step >>= 1) {
        if (high >> (32 - step) == 0) {
            high = high << step | low >> (32 - step);
            low <<= step;
            exponent -= (int32_t)step;
        }
    }
    uint32_t kept = high >> 8, below = (high & 0x7F) | low;
    if (high & 0x80 && (below || kept & 1)) {
        kept++;
    }
    exponent += 63 + BIAS + (int32_t)(kept >> 24);
    if (exponent < 1) {
        return sign;
    }
    if (exponent >= 255) {
        return sign | FLOAT_INF;
    }
    kept >>= kept >> 24;
    return sign | (uint32_t)exponent << FRACTION_BITS | fraction_of(kept);
}

uint32_t float_multiply_add(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t sign = (a ^ b) & SIGN;
    bool zero = is_zero(a) || is_zero(b);
    if (is_nan(a) || is_nan(b) || is_nan(c)) {
        return FLOAT_NAN;
    }
    if (is_infinite(a) || is_infinite(b)) {
        return zero || (is_infinite(c) && (sign ^ c) & SIGN) ? FLOAT_NAN : sign | FLOAT_INF;
    }
    if (zero || is_infinite(c)) {
        return is_zero(c) ? sign & c : c;
    }
    uint64_t product = b == FLOAT_ONE ? (uint64_t)significand_of(a) << FRACTION_BITS
                                      : (uint64_t)significand_of(a) * significand_of(b);
    int32_t exponent = exponent_of(a) + exponent_of(b) - 2 * FRACTION_BITS;
    if (is_zero(c)) {
        return pack(sign, exponent, product);
    }
    // The leading one of the product is in bit 60 or 61, that of the addend in bit 60.
    product <<= 14;
    exponent -= 14;
    uint64_t addend = (uint64_t)significand_of(c) << 37;
    int32_t distance = exponent - (exponent_of(c) - FRACTION_BITS - 37);
    if (distance < 0) {
        exponent -= distance;
        product = shifted(product, (uint32_t)-distance);
    } else {
        addend = shifted(addend, (uint32_t)distance);
    }
    if (((sign ^ c) & SIGN) == 0) {
        return pack(sign, exponent, product + addend);
    }
    if (product == addend) {
        return 0;
    }
    return product > addend ? pack(sign, exponent, product - addend)
                            : pack(c & SIGN, exponent, addend - product);
}

uint32_t float_add(uint32_t a, uint32_t b) { return float_multiply_add(a, FLOAT_ONE, b); }

uint32_t float_multiply(uint32_t a, uint32_t b) { return float_multiply_add(a, b, SIGN); }

static uint32_t flushed(uint32_t x) { return is_nan(x) ? FLOAT_NAN : is_zero(x) ? x & SIGN : x; }

// Integers in the order of the numbers, -0 below +0.
static inline int32_t ordered(uint32_t x) { return (int32_t)(x & SIGN ? x ^ ~SIGN : x); }

static uint32_t chosen(uint32_t a, uint32_t b, bool larger) {
    a = flushed(a);
    b = flushed(b);
    if (is_nan(a) || is_nan(b)) {
        return FLOAT_NAN;
    }
    return (ordered(a) > ordered(b)) == larger ? a : b;
}

uint32_t float_max(uint32_t a, uint32_t b) { return chosen(a, b, true); }
uint32_t float_min(uint32_t a, uint32_t b) { return chosen(a, b, false); }

bool float_equal(uint32_t a, uint32_t b) {
    return !is_nan(a) && !is_nan(b) && (a == b || (is_zero(a) && is_zero(b)));
}

bool float_less(uint32_t a, uint32_t b) {
    a = flushed(a);
    b = flushed(b);
    return !is_nan(a) && !is_nan(b) && ordered(a) < ordered(b) && !(is_zero(a) && is_zero(b));
}

bool float_is_finite(uint32_t x) { return biased(x) != 255; }

// Value of a quadratic: see celosia.arch.special.
static uint32_t quadratic(uint32_t table, uint32_t segment, uint32_t offset) {
    segment += table * SPECIAL_SEGMENTS;
    int64_t inner = (int64_t)c2[segment] * (int32_t)offset >> SPECIAL_OFFSET_BITS;
    int32_t slope = c1[segment] + (int32_t)inner;
    return c0[segment] + (uint32_t)((int64_t)slope * (int32_t)offset >> SPECIAL_OFFSET_BITS);
}

uint32_t float_exp2(uint32_t x) {
    int32_t exponent = exponent_of(x), below;
    if (is_nan(x)) {
        return FLOAT_NAN;
    }
    if (exponent >= 7) {
        return x & SIGN ? 0 : FLOAT_INF;
    }
    // Fixed point with 25 bits behind the point, towards zero.
    below = 6 - exponent;
    uint32_t fixed = below < 32 ? significand_of(x) << 8 >> below : 0;
    int32_t whole = (int32_t)(fixed >> 25);
    if (x & SIGN) {
        fixed = -fixed;
        whole = -whole - ((fixed & 0x1FFFFFF) != 0);
    }
    uint32_t y = quadratic(TABLE_EXP2, fixed >> SPECIAL_OFFSET_BITS & (SPECIAL_SEGMENTS - 1),
                           fixed & ((1u << SPECIAL_OFFSET_BITS) - 1));
    return pack(0, whole - SPECIAL_FRACTION, y);
}

uint32_t float_divide(uint32_t numerator, uint32_t x) {
    uint32_t sign = x & SIGN, fraction = fraction_of(x);
    if (is_zero(x) || is_infinite(x)) {
        return float_multiply(numerator, is_zero(x) ? sign | FLOAT_INF : sign);
    }
    if (is_zero(numerator) || !float_is_finite(numerator) || is_nan(x)) {
        return float_multiply(numerator, x);
    }
    uint32_t y = quadratic(TABLE_RECIP, fraction >> 16, (fraction & 0xFFFF) << 2);
    return pack(sign ^ (numerator & SIGN),
                biased(numerator) - biased(x) - FRACTION_BITS - SPECIAL_FRACTION,
                (uint64_t)significand_of(numerator) * y);
}

// What the root and the logarithm of a number are that is not positive and finite, in `result`.
static bool is_beyond(uint32_t x, uint32_t of_zero, uint32_t of_infinity, uint32_t *result) {
    *result = is_zero(x) ? of_zero : is_nan(x) || x & SIGN ? FLOAT_NAN : of_infinity;
    return is_zero(x) || !float_is_finite(x) || x & SIGN;
}

uint32_t float_root(uint32_t x, bool inverse) {
    uint32_t fraction = fraction_of(x), end = inverse ? FLOAT_INF : 0, result;
    int32_t exponent = exponent_of(x);
    if (is_beyond(x, (x & SIGN) | end, end ^ FLOAT_INF, &result)) {
        return result;
    }
    uint32_t y = quadratic(TABLE_RSQRT, (uint32_t)(exponent & 1) << 6 | fraction >> 17,
                           (fraction & 0x1FFFF) << 1);
    uint32_t factor = inverse ? 1u << FRACTION_BITS : significand_of(x);
    exponent = inverse ? -(exponent >> 1) : (exponent + 1) >> 1;
    return pack(0, exponent - FRACTION_BITS - SPECIAL_FRACTION, (uint64_t)factor * y);
}

uint32_t float_log2(uint32_t x) {
    uint32_t fraction = fraction_of(x), halved = fraction >> 22, result;  // from 1.5 on
    if (is_beyond(x, SIGN | FLOAT_INF, FLOAT_INF, &result)) {
        return result;
    }
    uint32_t slope = quadratic(TABLE_LOG2, fraction >> 16, (fraction & 0xFFFF) << 2);
    // Distance from 1, 24 bits behind the point.
    uint32_t distance = halved ? (1u << 23) - fraction : fraction << 1;
    uint64_t product = (uint64_t)distance * slope;  // 52 bits behind the point
    int32_t whole = exponent_of(x) + (int32_t)halved;
    if (whole == 0) {
        return pack(halved ? SIGN : 0, -52, product);
    }
    int64_t part = (int64_t)(product >> 9);
    int64_t total = (int64_t)((uint64_t)(int64_t)whole << 43) + (halved ? -part : part);
    return pack(whole < 0 ? SIGN : 0, -43, (uint64_t)(total < 0 ? -total : total));
}

uint32_t float_of_integer(int32_t integer) {
    return pack((uint32_t)integer & SIGN, 0,
                integer < 0 ? 0u - (uint32_t)integer : (uint32_t)integer);
}

int32_t float_to_integer(uint32_t x, enum rounding rounding) {
    uint32_t negative = x >> 31, significand = significand_of(x), whole;
    int32_t below = FRACTION_BITS - exponent_of(x);  // bits behind the point
    if (is_nan(x) || is_zero(x)) {
        return 0;
    }
    if (below < FRACTION_BITS - 30) {
        return negative ? INT32_MIN : INT32_MAX;
    }
    if (below <= 0) {
        whole = significand << -below;
    } else {
        below = below > 25 ? 25 : below;
        whole = significand >> below;
        uint32_t rest = significand & ((1u << below) - 1), half = 1u << (below - 1);
        if (rounding == TO_NEAREST ? rest > half || (rest == half && whole & 1)
                                   : rounding == DOWN && negative && rest) {
            whole++;
        }
    }
    return (int32_t)(negative ? 0u - whole : whole);
}

uint16_t float_to_bf16(uint32_t x) {
    x = flushed(x);
    return (uint16_t)(is_nan(x) ? FLOAT_NAN >> 16 : (x + 0x7FFF + (x >> 16 & 1)) >> 16);
}

#endif
