// Frames of the host link: bytes of the wire to checked bodies and back (docs/link.md).

#ifndef CELOSIA_FRAMES_H
#define CELOSIA_FRAMES_H

#include "machine.h"

// Body of a request, as it comes over the wire.
struct request {
    uint8_t sequence, kind;
    uint16_t count;
    uint32_t address;
    union {
        uint8_t payload[LINK_MAX_PAYLOAD];
        uint32_t word;
    };
};

extern struct request request;

// What receive_frame() returns where no frame stands; else it is the bytes of the payload.
enum { FRAME_NONE = -1, FRAME_LOST = -2 };

void frames_reset(void);
// Takes `byte` and what else there is, up to the end of a frame.
int receive_frame(int byte);

// A frame that is sent: begin_frame(), its body, end_frame().
void begin_frame(void);
void send_byte(uint32_t byte);  // bits 0 to 7
void send_word(uint32_t word);
void end_frame(void);

#endif
