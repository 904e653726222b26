// The board's side of the host link, as celosia_hw.soc.link.bridge has it: each request once, in order.

#include "chip.h"
#include "frames.h"

static bool is_open;
static uint32_t session;
static uint8_t expected;          // sequence number
static bool muted;                // AGAIN was sent, and what it asked for has not come
static uint8_t answers[LINK_WINDOW];  // of the last writes, by the low bits of their numbers

void link_reset(void) {
    is_open = muted = false;
    expected = 0;
    frames_reset();
}

static void begin_reply(uint32_t sequence, uint32_t kind) {
    begin_frame();
    send_byte(sequence);
    send_byte(kind | LINK_REPLY);
}

static void end_reply(uint32_t status) {
    if (!is_open) {
        status |= LINK_STATUS_NO_SESSION;
    }
    if (interrupt()) {
        status |= LINK_STATUS_INTERRUPT;
    }
    send_byte(status);
    end_frame();
}

static void ask_again(void) {
    muted = true;
    begin_reply(expected, KIND_AGAIN);
    end_reply(RESPONSE_OKAY);
}

static void hello(void) {
    if (!is_open || session != request.address) {
        is_open = true;
        session = request.address;
        expected = 0;
        muted = false;
    }
    begin_reply(request.sequence, KIND_HELLO);
    send_word(LINK_MAGIC);
    send_word(LINK_PROTOCOL_VERSION | config.bus_bytes << 16);
    send_word(config.buffer_bytes);
    send_word(config.memory_bytes / LINK_PAGE_BYTES);
    send_word(config.fingerprint);
    send_word(session);
    end_reply(RESPONSE_OKAY);
}

static bool is_write(void) {
    return request.kind == KIND_WRITE_REGISTER || request.kind == KIND_WRITE_MEMORY;
}

// Whether the request has a meaning.
static bool is_sound(uint32_t payload) {
    uint32_t count = request.count;
    if (payload != (is_write() ? count : 0)) {
        return false;
    }
    switch (request.kind) {
    case KIND_POLL:
        return count == 0;
    case KIND_READ_REGISTER:
    case KIND_WRITE_REGISTER:
        return count == LINK_WORD_BYTES;
    case KIND_READ_MEMORY:
    case KIND_WRITE_MEMORY:
        return count - 1 < LINK_MAX_PAYLOAD;
    default:
        return false;
    }
}

// Reads or writes, byte by byte: a span may leave the memory, and come back at address 0.
static uint32_t access_memory(bool write) {
    uint32_t response = RESPONSE_OKAY, address = request.address, end = config.memory_bytes;
    for (uint32_t i = 0; i < request.count; i++, address++) {
        uint8_t byte = 0;
        if (address >= end) {
            response = RESPONSE_DECERR;
        } else if (write) {
            external_memory[address] = request.payload[i];
        } else {
            byte = external_memory[address];
        }
        if (!write) {
            send_byte(byte);
        }
    }
    if (response != RESPONSE_OKAY) {
        set_fault_light();
    }
    return response;
}

// Does what the request asks for; returns the response.
static uint32_t serve(void) {
    uint32_t offset = request.address & ((1 << ADDRESS_BITS) - 1);
    bool okay = true;
    switch (request.kind) {
    case KIND_POLL:
        send_word(cycles_low());
        return RESPONSE_OKAY;
    case KIND_READ_REGISTER: {
        uint32_t word = 0;
        okay = register_read(offset, &word);
        send_word(word);
        break;
    }
    case KIND_WRITE_REGISTER:
        okay = register_write(offset, request.word);
        break;
    default:
        return access_memory(is_write());
    }
    return okay ? RESPONSE_OKAY : RESPONSE_SLVERR;
}

void link_take(int byte) {
    int payload = receive_frame(byte);
    if (payload == FRAME_NONE) {
        return;
    }
    if (payload == FRAME_LOST) {
        if (!muted) {
            ask_again();
        }
        return;
    }
    if (request.kind == KIND_HELLO) {
        hello();
        return;
    }
    uint8_t age = (uint8_t)(expected - request.sequence);
    if (!is_open || age > LINK_WINDOW) {
        if (!is_open || !muted) {
            ask_again();
        }
        return;
    }
    if (age == 0) {
        expected++;
        muted = false;
    }
    uint8_t *answer = &answers[request.sequence % LINK_WINDOW];
    uint32_t status;
    begin_reply(request.sequence, request.kind);
    if (!is_sound((uint32_t)payload)) {
        status = LINK_STATUS_REFUSED;
    } else if (!is_write()) {
        status = serve();
    } else {
        // What came twice is not done again.
        if (age == 0) {
            *answer = (uint8_t)serve();
        }
        status = *answer;
    }
    end_reply(status);
}
