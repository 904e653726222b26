// Frames: FLAGs, stuffing and CRC, as celosia_hw.soc.link.deframer and framer have them.

#include "frames.h"

struct request request;

// Of the frame that is coming.
static uint32_t place;     // bytes so far, those that found no room too
static uint32_t stuffing;  // what the next byte is to be changed by
static uint32_t checksum;

// CRC of each half of a byte: two steps a byte are fast enough for the wire.
static const uint32_t crc_table[16] = {
    0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
    0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
    0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
};

static inline uint32_t crc_add(uint32_t crc, uint32_t byte) {
    crc ^= byte;
    crc = crc >> 4 ^ crc_table[crc & 15];
    return crc >> 4 ^ crc_table[crc & 15];
}

void frames_reset(void) {
    place = stuffing = 0;
    checksum = ~0u;
}

int receive_frame(int byte) {
    // In registers: this is what every byte of the wire costs.
    uint32_t at = place, change = stuffing, crc = checksum;
    int result = FRAME_NONE;
    do {
        if (byte == LINK_ESCAPE) {
            change = LINK_ESCAPE_XOR;
        } else if (byte != LINK_FLAG) {
            byte ^= (int)change;
            change = 0;
            if (at < sizeof request) {
                ((uint8_t *)&request)[at] = (uint8_t)byte;
            }
            at++;
            crc = crc_add(crc, (uint32_t)byte);
        } else {
            // Nothing between two FLAGs is no frame.
            if (at != 0) {
                result = (int)at - LINK_REQUEST_BYTES - LINK_CRC_BYTES;
                if (crc != CRC_RESIDUE || change || result < 0 || at > config.buffer_bytes) {
                    result = FRAME_LOST;
                }
            }
            at = change = 0;
            crc = ~0u;
        }
    } while (result == FRAME_NONE && (byte = uart_receive()) >= 0);
    place = at;
    stuffing = change;
    checksum = crc;
    return result;
}

// CRC of the frame that is being sent.
static uint32_t sent;

// Functions that are called from many places, and would be inlined there, are kept from it.
__attribute__((noinline)) void begin_frame(void) {
    uart_send(LINK_FLAG);
    sent = ~0u;
}

void send_byte(uint32_t byte) {
    byte &= 0xFF;
    sent = crc_add(sent, byte);
    if (byte == LINK_FLAG || byte == LINK_ESCAPE) {
        uart_send(LINK_ESCAPE);
        byte ^= LINK_ESCAPE_XOR;
    }
    uart_send((uint8_t)byte);
}

__attribute__((noinline)) void send_word(uint32_t word) {
    for (int i = 0; i < 4; i++) {
        send_byte(word);
        word >>= 8;
    }
}

void end_frame(void) {
    send_word(~sent);
    uart_send(LINK_FLAG);
}
