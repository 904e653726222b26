// Rows of the chip's memories as the words that the vector unit has of them.

#include <stdint.h>

#include "lanes.h"

enum form { WORD, BF16, I8_OF_16, I8_OF_8, VALUE };

// Rows of a memory. Row i begins at memory + offsets[i] * pitch; without offsets they are all the
// first. A VALUE is `memory` itself. `spread`: every lane is the one at memory. `together`: the rows
// lie one behind the other.
struct operand {
    int64_t memory;
    const int64_t *offsets;
    int64_t pitch, form, spread, together;
};

static inline uint32_t element(const char *lane, int64_t form) {
    switch (form) {
    case BF16: return (uint32_t)*(const half *)lane << 16;
    case I8_OF_16:
    case I8_OF_8: return (uint32_t)(int32_t)*(const int8_t *)lane;
    default: return *(const word *)lane;
    }
}

static inline int64_t width(int64_t form) { return form == WORD ? 4 : form == I8_OF_8 ? 1 : 2; }

static inline char *row_of(const struct operand *o, int64_t row) {
    return (char *)o->memory + (o->offsets ? o->offsets[row] * o->pitch : 0);
}

// Rows of an operand as words, `dim` of each: in place where they lie so, else in `buffer`.
static const word *taken(const struct operand *o, int64_t row, int64_t rows, int64_t dim,
                         uint32_t *buffer) {
    if (o->form == WORD && o->together) return (const word *)row_of(o, row);
    for (int64_t r = 0; r < rows; r++, buffer += dim) {
        const char *from = o->form == VALUE ? 0 : row_of(o, row + r);
        uint32_t all = o->form == VALUE ? (uint32_t)o->memory : o->spread ? element(from, o->form) : 0;
        int64_t step = width(o->form);
        if (o->form == VALUE || o->spread)
            for (int64_t i = 0; i < dim; i++) buffer[i] = all;
        else if (o->form == WORD)
            for (int64_t i = 0; i < dim; i++) buffer[i] = ((const word *)from)[i];
        else
            for (int64_t i = 0; i < dim; i++) buffer[i] = element(from + i * step, o->form);
    }
    return (const word *)(buffer - rows * dim);
}

static void given(const struct operand *o, int64_t row, int64_t rows, int64_t dim,
                  const uint32_t *words) {
    if (o->together) dim *= rows, rows = 1;
    for (int64_t r = 0; r < rows; r++, words += dim) {
        char *to = row_of(o, row + r);
        switch (o->form) {
        case WORD:
            for (int64_t i = 0; i < dim; i++) ((word *)to)[i] = words[i];
            break;
        case BF16:
            for (int64_t i = 0; i < dim; i++) ((half *)to)[i] = (uint16_t)to_bf16(words[i]);
            break;
        case I8_OF_16:
            for (int64_t i = 0; i < dim; i++)
                ((half *)to)[i] = (uint16_t)limited(SIGNED(words[i]), -128, 127);
            break;
        default:
            for (int64_t i = 0; i < dim; i++)
                ((int8_t *)to)[i] = (int8_t)limited(SIGNED(words[i]), -128, 127);
        }
    }
}
