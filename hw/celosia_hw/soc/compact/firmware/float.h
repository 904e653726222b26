// Arithmetic of chips with bf16, on the bits of fp32 numbers (celosia.arch.numerics, special).

#ifndef CELOSIA_FLOAT_H
#define CELOSIA_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

#define FLOAT_ONE 0x3F800000u

uint32_t float_add(uint32_t a, uint32_t b);
uint32_t float_multiply(uint32_t a, uint32_t b);
uint32_t float_multiply_add(uint32_t a, uint32_t b, uint32_t c);
uint32_t float_divide(uint32_t numerator, uint32_t x);
uint32_t float_max(uint32_t a, uint32_t b);
uint32_t float_min(uint32_t a, uint32_t b);
bool float_equal(uint32_t a, uint32_t b);
bool float_less(uint32_t a, uint32_t b);
bool float_is_finite(uint32_t x);
uint32_t float_exp2(uint32_t x);
uint32_t float_log2(uint32_t x);
uint32_t float_root(uint32_t x, bool inverse);
uint32_t float_of_integer(int32_t integer);
uint16_t float_to_bf16(uint32_t x);

enum rounding { TO_NEAREST, DOWN, TO_ZERO };
// The integer, saturated; that of a NaN is 0.
int32_t float_to_integer(uint32_t x, enum rounding rounding);

#endif
