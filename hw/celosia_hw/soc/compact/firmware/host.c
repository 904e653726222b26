// The machine under a test on the host: memories, the wire, time, and the chip's thread.
//
// The firmware runs in a thread of its own, but never at the same time as the test: one of the two
// waits for the other. It gives way where it polls the wire, which is where a host's requests come
// in on the chip: so registers that the test reads and writes meanwhile are those of an instruction
// in the middle.

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "chip.h"

#define EXPORT __attribute__((visibility("default")))
#define WIRE_BYTES (1u << 20)

// A queue of bytes; the two counts wrap.
struct wire {
    uint8_t bytes[WIRE_BYTES];
    uint32_t put, taken;
};

struct config config;
ub_lane *unified_buffer;
int32_t *accumulators;
uint8_t *external_memory;

static struct wire to_chip, to_host;
static uint64_t cycles, pause_at;
static bool until_interrupt, fault_light;
static bool serving;  // runs until it has taken all that the wire holds

static pthread_t thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum turn { HOST, CHIP } turn;
static bool closing;

int firmware_main(void);

static void give_to(enum turn other, enum turn me) {
    pthread_mutex_lock(&mutex);
    turn = other;
    pthread_cond_broadcast(&changed);
    while (turn != me) {
        pthread_cond_wait(&changed, &mutex);
    }
    pthread_mutex_unlock(&mutex);
}

int uart_receive(void) {
    cycles++;
    if (serving ? to_chip.taken == to_chip.put
                : cycles >= pause_at || (until_interrupt && interrupt())) {
        give_to(HOST, CHIP);
        if (closing) {
            pthread_exit(NULL);
        }
    }
    return to_chip.taken == to_chip.put ? -1 : to_chip.bytes[to_chip.taken++ % WIRE_BYTES];
}

void uart_send(uint8_t byte) { to_host.bytes[to_host.put++ % WIRE_BYTES] = byte; }

uint64_t cycle_counter(void) { return ++cycles; }

void set_fault_light(void) { fault_light = true; }

static void *chip_thread(void *unused) {
    (void)unused;
    firmware_main();
    return NULL;
}

// Makes the chip: memories of zeros, the firmware before its first poll of the wire.
EXPORT bool host_open(const struct config *chosen) {
    config = *chosen;
    unified_buffer = calloc(config.ub_rows, config.dim * sizeof *unified_buffer);
    accumulators = calloc(config.acc_rows, config.dim * sizeof *accumulators);
    external_memory = mmap(NULL, config.memory_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (unified_buffer == NULL || accumulators == NULL || external_memory == MAP_FAILED) {
        return false;
    }
    turn = CHIP;
    if (pthread_create(&thread, NULL, chip_thread, NULL) != 0) {
        return false;
    }
    pthread_mutex_lock(&mutex);
    while (turn != HOST) {
        pthread_cond_wait(&changed, &mutex);
    }
    pthread_mutex_unlock(&mutex);
    return true;
}

EXPORT void host_close(void) {
    closing = true;
    pthread_mutex_lock(&mutex);
    turn = CHIP;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    free(unified_buffer);
    free(accumulators);
    munmap(external_memory, config.memory_bytes);
}

// Lets the firmware run for about so many cycles, at most until the interrupt is high where that is
// wanted; whether it is.
EXPORT bool host_run(uint64_t limit, bool to_interrupt) {
    if (limit > 0 && !(to_interrupt && interrupt())) {
        pause_at = cycles + limit;
        until_interrupt = to_interrupt;
        give_to(CHIP, HOST);
    }
    return interrupt();
}

// Lets the firmware run until it has taken, and answered, all that the wire holds.
EXPORT void host_serve(void) {
    serving = true;
    give_to(CHIP, HOST);
    serving = false;
}

EXPORT uint64_t host_cycles(void) { return cycles; }
EXPORT void host_skip(uint64_t count) { cycles += count; }
EXPORT bool host_fault_light(void) { return fault_light; }
EXPORT ub_lane *host_unified_buffer(void) { return unified_buffer; }
EXPORT int32_t *host_accumulators(void) { return accumulators; }
EXPORT uint8_t *host_external_memory(void) { return external_memory; }

EXPORT bool host_read(uint32_t offset, uint32_t *word) { return register_read(offset, word); }
EXPORT bool host_write(uint32_t offset, uint32_t word) {
    bool okay = register_write(offset, word);
    while (chip.reset) {  // which the firmware carries out
        host_run(1, false);
    }
    return okay;
}

// Bytes for the chip's UART; how many of them there was room for.
EXPORT uint32_t host_feed(const uint8_t *bytes, uint32_t count) {
    uint32_t fed = 0;
    while (fed < count && to_chip.put - to_chip.taken < WIRE_BYTES) {
        to_chip.bytes[to_chip.put++ % WIRE_BYTES] = bytes[fed++];
    }
    return fed;
}

// Bytes that the chip's UART has sent.
EXPORT uint32_t host_take(uint8_t *bytes, uint32_t room) {
    uint32_t count = 0;
    while (count < room && to_host.taken != to_host.put) {
        bytes[count++] = to_host.bytes[to_host.taken++ % WIRE_BYTES];
    }
    return count;
}
