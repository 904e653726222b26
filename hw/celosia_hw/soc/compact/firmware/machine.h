// What the firmware runs on: memories and devices of the compact chip, or of a test on the host.

#ifndef CELOSIA_MACHINE_H
#define CELOSIA_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "arch.h"  // made from celosia.arch and celosia_hw.soc.compact.memory_map

// Formats of the chips that this image is for: int8 alone, or with bf16.
#ifdef CELOSIA_BF16
#define HAS_BF16 1
typedef int16_t ub_lane;  // of the unified buffer; an int8 is extended by its sign
#else
#define HAS_BF16 0
typedef int8_t ub_lane;
#endif

// What a chip is; the words follow the reset jump in the firmware's image, where the builder of a
// bitstream writes them (celosia_hw.soc.compact.firmware).
struct config {
    uint32_t fingerprint;
    uint32_t dim;
    uint32_t formats;
    uint32_t ub_rows;
    uint32_t acc_rows;
    uint32_t bus_bytes;
    uint32_t window;
    uint32_t ibuf;
    uint32_t memory_bytes;  // external memory: a power of two, a multiple of 4096
    uint32_t buffer_bytes;  // requests that the receiver holds
    uint32_t log2_dim;
    uint32_t reserved;
};

#ifdef CELOSIA_HOST

// The test owns all of these (celosia_hw/compact/firmware/host.c).
extern struct config config;
extern ub_lane *unified_buffer;
extern int32_t *accumulators;
extern uint8_t *external_memory;
int uart_receive(void);          // next byte, or -1 where none has come
void uart_send(uint8_t byte);    // waits for room
uint64_t cycle_counter(void);
static inline uint32_t cycles_low(void) { return (uint32_t)cycle_counter(); }
void set_fault_light(void);      // an access beyond the memory

#else

extern const volatile struct config config;
#define unified_buffer ((ub_lane *)UNIFIED_BUFFER_BASE)     // row r, lane k: r * dim + k
#define accumulators ((int32_t *)ACCUMULATORS_BASE)         // likewise
#define external_memory ((uint8_t *)EXTERNAL_BASE)

// A register of the devices or the matrix engine: see celosia_hw.soc.compact.memory_map.
#define REGISTER(address) (*(volatile uint32_t *)(address))

static inline int uart_receive(void) {
    uint32_t word = REGISTER(DEVICE_UART_RECEIVE);
    return (int32_t)word < 0 ? -1 : (int)(word & 0xFF);
}

static inline void uart_send(uint8_t byte) {
    while (REGISTER(DEVICE_UART_SEND) & 1) {
    }
    REGISTER(DEVICE_UART_SEND) = byte;
}

static inline uint32_t cycles_low(void) { return REGISTER(DEVICE_CYCLES_LOW); }

static inline uint64_t cycle_counter(void) {
    uint32_t low = cycles_low();
    return (uint64_t)REGISTER(DEVICE_CYCLES_HIGH) << 32 | low;
}

static inline void set_fault_light(void) { REGISTER(DEVICE_LIGHTS) = 1; }

#endif

// There is no divider, and all memories are little-endian. Words at addresses that are not a
// multiple of 4 (halves: of 2) are not accessed: the chip would take the multiple below.

#endif
