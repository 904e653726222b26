// What a compiler calls where it sees a loop that does the same.

#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    uint8_t *target = to;
    const uint8_t *source = from;
    while (size--) {
        *target++ = *source++;
    }
    return to;
}

void *memset(void *to, int value, size_t size) {
    uint8_t *target = to;
    while (size--) {
        *target++ = (uint8_t)value;
    }
    return to;
}
