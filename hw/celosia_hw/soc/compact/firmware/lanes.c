// What the lanes of the vector unit compute.

#include "vector.h"

// The number that `shift` bits stand behind, rounded to the nearest one, ties upwards.
static inline int64_t rounded(int64_t number, uint32_t shift) {
    if (shift == 0) {
        return number;
    }
    int32_t high = (int32_t)(number >> 32);
    uint32_t low = (uint32_t)number;
    shift--;
    if (shift & 32) {
        low = (uint32_t)high;
        high >>= 31;
    }
    shift &= 31;
    low = low >> shift | (uint32_t)high << 1 << (31 - shift);
    high >>= shift;
    return ((int64_t)((uint64_t)(uint32_t)high << 32 | low) + 1) >> 1;
}

static inline int32_t saturate(int64_t number) {
    int32_t word = (int32_t)number;
    return word == number ? word : number < 0 ? INT32_MIN : INT32_MAX;
}

// Requantises a sum that has its bias: `scale` is a multiplier in 16 bits, and a shift.
static inline int32_t requantise(int32_t sum, uint32_t scale) {
    int32_t multiplier = scale & 0xFFFF, zero_point = vector_state.zero_point;
    uint32_t shift = scale >> 16 & 63;
    if (sum == (int16_t)sum && shift > 0) {  // the product is one word, as with most data
        shift = shift < 32 ? shift - 1 : 31;
        return (((sum * multiplier >> shift) + 1) >> 1) + zero_point;
    }
    return saturate(rounded((int64_t)sum * multiplier, shift) + zero_point);
}

void lanes(uint32_t op, const int32_t *a, const int32_t *b, const int32_t *c, uint32_t count,
           struct bounds bounds, void *to, bool narrow) {
    // Jumps to an operation are taken once for each word, so nothing is looked up for them there.
    static const void *const operations[] = {
        [OP_MOV] = &&mov, [OP_IADD] = &&iadd, [OP_ISUB] = &&isub, [OP_IMUL] = &&imul,
        [OP_IMAX] = &&imax, [OP_IMIN] = &&imin, [OP_REQUANT] = &&requant, [OP_AND] = &&and,
        [OP_OR] = &&or, [OP_XOR] = &&xor, [OP_NOT] = &&not, [OP_SHL] = &&shl, [OP_SHR] = &&shr,
        [OP_SAR] = &&sar, [OP_SELECT] = &&select, [OP_IEQ] = &&ieq, [OP_INE] = &&ine,
        [OP_ILT] = &&ilt, [OP_ILE] = &&ile, [OP_IGT] = &&igt, [OP_IGE] = &&ige,
        [OP_TRANSPOSE] = &&mov, [OP_ROTATE] = &&mov, [OP_GATHER] = &&mov, [OP_SCATTER] = &&mov,
    };
    _Static_assert(INT8_OPS == 0xf3fff7fu, "lanes must compute every operation on words");
    const void *const operation = operations[op];
    const int32_t *const end = a + count;
    while (a != end) {
        int32_t word = *a++;
        goto *operation;
    iadd:
        word = (int32_t)((uint32_t)word + (uint32_t)*b);
        goto mov;
    isub:
        word = (int32_t)((uint32_t)word - (uint32_t)*b);
        goto mov;
    imul:
        word = (int32_t)((uint32_t)word * (uint32_t)*b);
        goto mov;
    imax:
        word = word > *b ? word : *b;
        goto mov;
    imin:
        word = word < *b ? word : *b;
        goto mov;
    requant:
        word = requantise((int32_t)((uint32_t)word + (uint32_t)*c), (uint32_t)*b);
        goto mov;
    and:
        word &= *b;
        goto mov;
    or:
        word |= *b;
        goto mov;
    xor:
        word ^= *b;
        goto mov;
    not:
        word = ~word;
        goto mov;
    shl:
        word = (int32_t)((uint32_t)word << (*b & 31));
        goto mov;
    shr:
        word = (int32_t)((uint32_t)word >> (*b & 31));
        goto mov;
    sar:
        word >>= *b & 31;
        goto mov;
    select:
        word = word ? *b : *c;
        goto mov;
    ieq:
        word = -(word == *b);
        goto mov;
    ine:
        word = -(word != *b);
        goto mov;
    ilt:
        word = -(word < *b);
        goto mov;
    ile:
        word = -(word <= *b);
        goto mov;
    igt:
        word = -(word > *b);
        goto mov;
    ige:
        word = -(word >= *b);
    mov:
        b++;
        c++;
        word = word < bounds.low ? bounds.low : word;
        word = word > bounds.high ? bounds.high : word;
        if (narrow) {
            *(ub_lane *)to = (ub_lane)word;
            to = (ub_lane *)to + 1;
        } else {
            *(int32_t *)to = word;
            to = (int32_t *)to + 1;
        }
    }
}
