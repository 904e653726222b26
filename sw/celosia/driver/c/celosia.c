/* The driver of a Celosia board in one file: plain C99 and POSIX, no library. docs/link.md has the
 * wire that it speaks, and how to use this.
 *
 *     cc -std=c99 -O2 -DCELOSIA_MAIN celosia.c -o celosia       a command, see its main below
 *     #include "celosia.c"                                      or a part of your own program
 *
 * Every function that can fail returns 0 or -1; board.error then is a sentence that says why.
 * Numbers in tables and files are little-endian, whatever the machine.
 */
#define _DEFAULT_SOURCE 1 /* speeds of lines beyond those of POSIX */
#define _DARWIN_C_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* The wire: sw/celosia/arch/link.py. */
enum {
    LINK_FLAG = 0x7E, LINK_ESCAPE = 0x7D, LINK_ESCAPE_XOR = 0x20, LINK_WINDOW = 8,
    LINK_MAX_PAYLOAD = 512, LINK_PAGE_BYTES = 4096, LINK_PROTOCOL_VERSION = 1, LINK_REPLY = 0x80,
    KIND_HELLO = 1, KIND_POLL = 2, KIND_READ_REGISTER = 3, KIND_WRITE_REGISTER = 4,
    KIND_READ_MEMORY = 5, KIND_WRITE_MEMORY = 6, KIND_AGAIN = 7,
    STATUS_RESPONSE = 3, STATUS_REFUSED = 4, STATUS_NO_SESSION = 8, STATUS_INTERRUPT = 0x80
};
#define LINK_MAGIC 0x4B4E4C43u
/* The chip: sw/celosia/arch/registers.py. */
enum {
    REGISTER_MAGIC = 0x00, REGISTER_VERSION = 0x04, REGISTER_CONTROL = 0x40, REGISTER_STATUS = 0x44,
    REGISTER_IRQ_ENABLE = 0x48, REGISTER_IRQ_STATUS = 0x4C, REGISTER_PROGRAM = 0x50,
    REGISTER_LENGTH = 0x54, REGISTER_WATCHDOG = 0x58, REGISTER_FAULT_CAUSE = 0x60,
    REGISTER_FAULT_PC = 0x64, REGISTER_FAULT_ADDR = 0x68, REGISTER_WINDOW0_BASE = 0x80,
    REGISTER_CYCLES_LO = 0x200, NUM_WINDOWS = 4, PROGRAM_ALIGN = 128, INSTRUCTION_BYTES = 32,
    CONTROL_START = 1, CONTROL_RESET = 2, CHIP_IDLE = 0, CHIP_RUNNING = 1, CHIP_DONE = 2,
    CHIP_FAULTED = 3, FAULT_WATCHDOG = 14, ISA_VERSION = 2
};
/* Files of programs: sw/celosia/program/file.py. */
enum { FILE_VERSION = 2 };
#define CHIP_MAGIC 0x41534C43u
/* Its faults: sw/celosia/arch/faults.py. */
static const char *const celosia_faults[] = {
    "NONE", "ILLEGAL_OPCODE", "ILLEGAL_FIELD", "ILLEGAL_COUNT", "UB_RANGE", "ACC_RANGE", "WINDOW",
    "MISALIGNED", "OVERLAP", "PC_RANGE", "LOOP_DEPTH", "BUS_READ", "BUS_WRITE", "BUS_FETCH",
    "WATCHDOG", "INDEX_RANGE"};
enum { FAULTS = sizeof celosia_faults / sizeof *celosia_faults };

/* Times that a request is sent, and milliseconds without an answer after which it is sent again. */
enum { ATTEMPTS = 10, TIMEOUT_MS = 500 };

struct celosia {
    int file;                    /* of the port */
    uint32_t baud, fingerprint, buffer_bytes, session;
    uint64_t memory_bytes;
    uint8_t sequence;            /* of the next request */
    int interrupt;               /* of the chip, as the last reply had it */
    uint64_t resent;             /* requests that were sent again so far */
    uint8_t input[4096];         /* bytes of the port that were not looked at */
    size_t begin, end;
    uint8_t frame[1200];         /* that is coming, without its stuffing */
    size_t length;
    int escaped;
    char port[64], error[320];
};

struct celosia_buffer { char name[64], dtype[16], kind[16]; uint64_t offset, bytes; };

/* A compiled program of one file, as Program.save wrote it. Its arena lies in memory from address 0
 * on, its instructions behind that. */
struct celosia_program {
    uint8_t *file;
    uint64_t size, arena_bytes, instructions, code; /* code: address */
    uint32_t fingerprint;
    struct celosia_buffer *buffers;
    size_t buffer_count;
    uint64_t cycles;             /* of the last run */
};

static int fail(struct celosia *board, const char *format, ...) {
    va_list more;
    va_start(more, format);
    vsnprintf(board->error, sizeof board->error, format, more);
    va_end(more);
    return -1;
}

static uint32_t word_of(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put_word(uint8_t *at, uint32_t word) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(word >> 8 * i);
}

static uint32_t crc_of(const uint8_t *data, size_t size) {
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

static int64_t now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* ---- the wire ---- */

struct request {
    uint8_t kind, sequence;
    uint16_t count;
    uint32_t address;
    const uint8_t *payload;      /* of a write */
    uint8_t *into;               /* count bytes of a reply with some */
    int answered, attempts;
    uint8_t status;
};

static int is_write(const struct request *request) {
    return request->kind == KIND_WRITE_REGISTER || request->kind == KIND_WRITE_MEMORY;
}

static size_t stuff(uint8_t *out, const uint8_t *data, size_t size) {
    size_t length = 0;
    for (size_t i = 0; i < size; i++) {
        int special = data[i] == LINK_FLAG || data[i] == LINK_ESCAPE;
        if (special) out[length++] = LINK_ESCAPE;
        out[length++] = (uint8_t)(special ? data[i] ^ LINK_ESCAPE_XOR : data[i]);
    }
    return length;
}

static int send_request(struct celosia *board, struct request *request) {
    uint8_t body[8 + LINK_MAX_PAYLOAD + 4], out[2 * sizeof body + 2];
    size_t size = 8, length = 1, sent = 0;
    if (request->attempts++ == ATTEMPTS)
        return fail(board, "the board on %s must answer, but it did not, %d times", board->port,
                    ATTEMPTS);
    board->resent += request->attempts > 1;
    body[0] = request->sequence;
    body[1] = request->kind;
    body[2] = (uint8_t)request->count;
    body[3] = (uint8_t)(request->count >> 8);
    put_word(body + 4, request->address);
    if (is_write(request)) {
        memcpy(body + size, request->payload, request->count);
        size += request->count;
    }
    put_word(body + size, crc_of(body, size));
    out[0] = LINK_FLAG;
    length += stuff(out + 1, body, size + 4);
    out[length++] = LINK_FLAG;
    while (sent < length) {
        ssize_t some = write(board->file, out + sent, length - sent);
        if (some < 0 && errno != EINTR && errno != EAGAIN)
            return fail(board, "the board on %s must stay connected, but writing failed: %s",
                        board->port, strerror(errno));
        if (some > 0) sent += (size_t)some;
    }
    return 0;
}

/* Returns the length of the body of the next good frame, in board->frame; 0 where none came in
 * time; -1 where the port is gone. */
static int receive(struct celosia *board, int64_t deadline) {
    for (;;) {
        if (board->begin == board->end) {
            struct pollfd port = {board->file, POLLIN, 0};
            int64_t left = deadline - now_ms();
            int ready = poll(&port, 1, left > 0 ? (int)left : 0);
            if (ready == 0) return 0;
            ssize_t some = ready < 0 ? -1 : read(board->file, board->input, sizeof board->input);
            if (some < 0 && (errno == EINTR || errno == EAGAIN)) continue;
            if (some <= 0)
                return fail(board, "the board on %s must stay connected, but reading failed: %s",
                            board->port, some ? strerror(errno) : "the port was closed");
            board->begin = 0;
            board->end = (size_t)some;
        }
        uint8_t byte = board->input[board->begin++];
        if (byte == LINK_FLAG) {
            size_t length = board->length;
            int good = !board->escaped && length >= 7 && length <= sizeof board->frame
                && crc_of(board->frame, length - 4) == word_of(board->frame + length - 4);
            board->length = 0;
            board->escaped = 0;
            if (good) return (int)length - 4;
        } else if (byte == LINK_ESCAPE) {
            board->escaped = 1;
        } else {
            if (board->length < sizeof board->frame)
                board->frame[board->length] =
                    (uint8_t)(board->escaped ? byte ^ LINK_ESCAPE_XOR : byte);
            if (board->length <= sizeof board->frame) board->length++;
            board->escaped = 0;
        }
    }
}

/* Takes a reply for one of the requests; sends again what AGAIN asks for. */
static int take_reply(struct celosia *board, struct request *requests, int count, int length) {
    const uint8_t *body = board->frame;
    uint8_t index = (uint8_t)(body[0] - requests[0].sequence), status = body[length - 1];
    struct request *request = requests + index;
    if (status & STATUS_NO_SESSION && body[1] != (KIND_HELLO | LINK_REPLY))
        return fail(board, "the board on %s must know this session, but it was reset", board->port);
    if (body[1] == (KIND_AGAIN | LINK_REPLY) && index <= count) {
        for (int i = index == count ? 0 : index; i < count; i++)
            if (!requests[i].answered && send_request(board, requests + i) < 0) return -1;
        return 0;
    }
    if (index >= count || request->answered || body[1] != (request->kind | LINK_REPLY)) return 0;
    board->interrupt = (status & STATUS_INTERRUPT) != 0;
    if (status & STATUS_REFUSED)
        return fail(board, "the board must serve a request of kind %d with %d bytes, but it "
                    "refuses", request->kind, request->count);
    if (request->into) {
        if (length - 3 != request->count) return 0;
        memcpy(request->into, body + 2, request->count);
    }
    request->status = status;
    request->answered = 1;
    return 0;
}

/* Has up to LINK_WINDOW requests served, in order. */
static int exchange(struct celosia *board, struct request *requests, int count) {
    int left = count, bytes = 0;
    for (int i = 0; i < count; i++) {
        requests[i].sequence = board->sequence++;
        bytes += requests[i].count + 32;
        if (send_request(board, requests + i) < 0) return -1;
    }
    while (left) {
        int64_t deadline = now_ms() + TIMEOUT_MS + (int64_t)bytes * 20000 / board->baud;
        int length = receive(board, deadline);
        if (length < 0 || (length && take_reply(board, requests, count, length) < 0)) return -1;
        left = 0;
        for (int i = 0; i < count; i++) left += !requests[i].answered;
        for (int i = 0; i < count && !length; i++)
            if (!requests[i].answered && send_request(board, requests + i) < 0) return -1;
    }
    for (int i = 0; i < count; i++)
        if (requests[i].status & STATUS_RESPONSE)
            return fail(board, "the chip must answer OKAY to a request of kind %d at %#lx, not %d",
                        requests[i].kind, (unsigned long)requests[i].address,
                        requests[i].status & STATUS_RESPONSE);
    return 0;
}

/* ---- registers, memory, the interrupt ---- */

int celosia_read_register(struct celosia *board, uint32_t offset, uint32_t *value) {
    uint8_t word[4];
    struct request request = {KIND_READ_REGISTER, 0, 4, offset, NULL, word, 0, 0, 0};
    if (exchange(board, &request, 1) < 0) return -1;
    *value = word_of(word);
    return 0;
}

int celosia_write_register(struct celosia *board, uint32_t offset, uint32_t value) {
    uint8_t word[4];
    struct request request = {KIND_WRITE_REGISTER, 0, 4, offset, word, NULL, 0, 0, 0};
    put_word(word, value);
    return exchange(board, &request, 1);
}

static int move_memory(struct celosia *board, uint64_t address, uint8_t *into,
                       const uint8_t *from, uint64_t size) {
    if (address > board->memory_bytes || size > board->memory_bytes - address)
        return fail(board, "access to memory must end inside its %llu bytes, not at %llu",
                    (unsigned long long)board->memory_bytes, (unsigned long long)(address + size));
    for (uint64_t at = 0; at < size;) {
        struct request requests[LINK_WINDOW];
        uint32_t room = board->buffer_bytes;
        int count = 0;
        for (; count < LINK_WINDOW && at < size; count++) {
            uint64_t piece = size - at < LINK_MAX_PAYLOAD ? size - at : LINK_MAX_PAYLOAD;
            uint32_t stored = 12 + (uint32_t)(from ? piece : 0);
            if (stored > room) break;
            room -= stored;
            struct request request = {from ? KIND_WRITE_MEMORY : KIND_READ_MEMORY, 0,
                                      (uint16_t)piece, (uint32_t)(address + at),
                                      from ? from + at : NULL, into ? into + at : NULL, 0, 0, 0};
            requests[count] = request;
            at += piece;
        }
        if (exchange(board, requests, count) < 0) return -1;
    }
    return 0;
}

int celosia_read_memory(struct celosia *board, uint64_t address, void *into, uint64_t size) {
    return move_memory(board, address, into, NULL, size);
}

int celosia_write_memory(struct celosia *board, uint64_t address, const void *from,
                         uint64_t size) {
    return move_memory(board, address, NULL, from, size);
}

/* Waits for the interrupt; the board counts the cycles. Returns 1 where it came, 0 where more than
 * ``limit`` cycles (0: no limit) have passed, or -1. */
int celosia_wait(struct celosia *board, uint64_t limit) {
    uint64_t waited = 0;
    uint32_t before = 0;
    for (long pause = 500000, first = 1;; first = 0) {
        uint8_t word[4];
        struct request request = {KIND_POLL, 0, 0, 0, NULL, NULL, 0, 0, 0};
        if (exchange(board, &request, 1) < 0) return -1;
        memcpy(word, board->frame + 2, 4);
        waited += first ? 0 : word_of(word) - before;
        before = word_of(word);
        if (board->interrupt) return 1;
        if (limit && waited >= limit) return 0;
        nanosleep(&(struct timespec){0, pause}, NULL);
        if (pause < 20000000) pause *= 2;
    }
}

/* Resets the chip, and returns when it is idle. Memory keeps its bytes. */
int celosia_reset(struct celosia *board) {
    uint32_t status = 0;
    if (celosia_write_register(board, REGISTER_CONTROL, CONTROL_RESET) < 0) return -1;
    for (int i = 0; i < 100; i++) {
        if (celosia_read_register(board, REGISTER_STATUS, &status) < 0) return -1;
        if (status == CHIP_IDLE) return 0;
    }
    return fail(board, "register STATUS must become 0 (idle) after a soft reset, but it stays %u",
                (unsigned)status);
}

/* ---- the port ---- */

static int set_speed(struct celosia *board, struct termios *line) {
#ifdef __linux__
    static const struct { uint32_t baud; speed_t speed; } speeds[] = {
        {9600, B9600}, {115200, B115200}, {230400, B230400}, {460800, B460800}, {500000, B500000},
        {921600, B921600}, {1000000, B1000000}, {1500000, B1500000}, {2000000, B2000000},
        {2500000, B2500000}, {3000000, B3000000}, {3500000, B3500000}, {4000000, B4000000}};
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        if (speeds[i].baud == board->baud)
            return cfsetispeed(line, speeds[i].speed) | cfsetospeed(line, speeds[i].speed);
    return fail(board, "baud must be a speed of termios, such as 1000000 or 3000000, not %lu",
                (unsigned long)board->baud);
#else
    return cfsetispeed(line, board->baud) | cfsetospeed(line, board->baud);
#endif
}

void celosia_close(struct celosia *board) {
    if (board->file >= 0) close(board->file);
    board->file = -1;
}

static int greet(struct celosia *board) {
    uint8_t identity[24];
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    board->session = (uint32_t)time.tv_nsec ^ (uint32_t)time.tv_sec << 8 ^ (uint32_t)getpid() << 20;
    struct request request = {KIND_HELLO, 0, 0, board->session, NULL, NULL, 0, 0, 0};
    for (int length = 0; !request.answered;) {
        if (length == 0 && send_request(board, &request) < 0) return -1;
        length = receive(board, now_ms() + TIMEOUT_MS + 2000000 / board->baud);
        if (length < 0) return -1;
        /* Replies of another session may still be on their way. */
        request.answered = length == 27 && board->frame[1] == (KIND_HELLO | LINK_REPLY)
            && word_of(board->frame + 22) == board->session;
    }
    memcpy(identity, board->frame + 2, sizeof identity);
    if (word_of(identity) != LINK_MAGIC)
        return fail(board, "magic of the link on %s must be %#x, not %#lx", board->port, LINK_MAGIC,
                    (unsigned long)word_of(identity));
    if ((word_of(identity + 4) & 0xFFFF) != LINK_PROTOCOL_VERSION)
        return fail(board, "version of the link on %s must be %d, not %lu: the bitstream is of "
                    "another version", board->port, LINK_PROTOCOL_VERSION,
                    (unsigned long)(word_of(identity + 4) & 0xFFFF));
    board->buffer_bytes = word_of(identity + 8);
    board->memory_bytes = (uint64_t)word_of(identity + 12) * LINK_PAGE_BYTES;
    board->fingerprint = word_of(identity + 16);
    board->sequence = 0;
    return 0;
}

/* Opens a board at a serial port, resets its chip. ``baud`` is that of the bitstream. */
int celosia_open(struct celosia *board, const char *port, uint32_t baud) {
    struct termios line;
    uint32_t magic, version;
    memset(board, 0, sizeof *board);
    board->baud = baud;
    snprintf(board->port, sizeof board->port, "%s", port);
    board->file = open(port, O_RDWR | O_NOCTTY);
    if (board->file < 0 || tcgetattr(board->file, &line) < 0) {
        int why = errno;
        celosia_close(board);
        return fail(board, "port %s must be a serial port that can be opened: %s", port,
                    strerror(why));
    }
    line.c_iflag = line.c_oflag = line.c_lflag = 0;
    line.c_cflag = CS8 | CREAD | CLOCAL;
    line.c_cc[VMIN] = 1;
    line.c_cc[VTIME] = 0;
    if (set_speed(board, &line) || tcsetattr(board->file, TCSANOW, &line)) {
        celosia_close(board);
        return board->error[0] ? -1 : fail(board, "port %s must take %lu baud: %s", port,
                                           (unsigned long)baud, strerror(errno));
    }
    tcflush(board->file, TCIOFLUSH);
    if (greet(board) < 0 || celosia_read_register(board, REGISTER_MAGIC, &magic) < 0
            || celosia_read_register(board, REGISTER_VERSION, &version) < 0) {
        celosia_close(board);
        return -1;
    }
    if (magic != CHIP_MAGIC || version != ISA_VERSION) {
        celosia_close(board);
        return fail(board, "the chip must be a Celosia (magic %#x) with version %d of the ISA, not "
                    "%#lx with %lu", CHIP_MAGIC, ISA_VERSION, (unsigned long)magic,
                    (unsigned long)version);
    }
    return celosia_reset(board);
}

/* ---- programs ---- */

/* Of JSON what a header has: every function goes on behind a value, or to NULL if there is none. */
static const char *json_skip(const char *at);

static const char *json_space(const char *at) {
    while (at && (*at == ' ' || *at == ',' || *at == ':' || *at == '\n')) at++;
    return at;
}

/* Copies a string, as it is written, if ``text`` is no null pointer. */
static const char *json_text(const char *at, char *text, size_t size) {
    size_t length = 0;
    at = json_space(at);
    if (!at || *at++ != '"') return NULL;
    for (; *at && *at != '"'; at++) {
        if (text && length + 1 < size) text[length++] = *at;
        if (*at == '\\' && at[1]) at++;
    }
    if (text) text[length] = 0;
    return *at ? at + 1 : NULL;
}

static const char *json_number(const char *at, uint64_t *number) {
    char *end;
    at = json_space(at);
    if (!at || *at < '0' || *at > '9') return NULL;
    *number = strtoull(at, &end, 10);
    return end;
}

static const char *json_skip(const char *at) {
    at = json_space(at);
    if (!at || !*at) return NULL;
    if (*at == '"') return json_text(at, NULL, 0);
    if (*at != '[' && *at != '{') {
        while (*at && !strchr(",]} ", *at)) at++;
        return at;
    }
    for (at = json_space(at + 1); at && *at != ']' && *at != '}'; at = json_space(at))
        at = json_skip(at);
    return at ? at + 1 : NULL;
}

/* Returns the value of a member of an object. */
static const char *json_member(const char *at, const char *name) {
    char found[32];
    if (*at != '{') return NULL;
    for (at = json_space(at + 1); at && *at == '"'; at = json_space(json_skip(at))) {
        at = json_space(json_text(at, found, sizeof found));
        if (at && strcmp(found, name) == 0) return at;
    }
    return NULL;
}

static const char *json_buffer(const char *at, struct celosia_buffer *buffer) {
    uint64_t size;
    at = json_space(at);
    if (!at || *at++ != '[') return NULL;
    at = json_number(json_text(at, buffer->name, sizeof buffer->name), &buffer->offset);
    at = json_space(at);
    if (!at || *at++ != '[') return NULL;
    for (buffer->bytes = 1; at && *json_space(at) != ']'; buffer->bytes *= size)
        if (!(at = json_number(at, &size))) return NULL;
    at = json_text(json_space(at) + 1, buffer->dtype, sizeof buffer->dtype);
    at = json_space(json_text(at, buffer->kind, sizeof buffer->kind));
    if (!at || *at != ']') return NULL;
    buffer->bytes *= strcmp(buffer->dtype, "int8") == 0 ? 1
        : strcmp(buffer->dtype, "bfloat16") == 0 ? 2 : 4;
    return at + 1;
}

void celosia_unload(struct celosia_program *program) {
    free(program->file);
    free(program->buffers);
    memset(program, 0, sizeof *program);
}

static int read_file(struct celosia *board, struct celosia_program *program, const char *path) {
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
    if (size >= 0) {
        rewind(file);
        program->size = (uint64_t)size;
        program->file = malloc(program->size + 1);
        if (!program->file || fread(program->file, 1, program->size, file) != program->size)
            size = -1;
    }
    if (size < 0) fail(board, "%s must be a file that can be read: %s", path, strerror(errno));
    if (file) fclose(file);
    return size < 0 ? -1 : 0;
}

/* Reads what is wanted of the header, but for relocations: the arena is at address 0, for which the
 * instructions are right as they stand. Returns what is wrong, or NULL. */
static const char *read_header(struct celosia_program *program, const char *header,
                               uint64_t room) {
    uint64_t value;
    if (!json_number(json_member(header, "fingerprint"), &value)) return "fingerprint";
    program->fingerprint = (uint32_t)value;
    if (!json_number(json_member(header, "arena_bytes"), &program->arena_bytes))
        return "arena_bytes";
    if (!json_number(json_member(header, "instructions"), &program->instructions)
            || program->instructions > room / INSTRUCTION_BYTES)
        return "instructions";
    const char *at = json_member(header, "buffers");
    if (!at || *at != '[') return "buffers";
    for (at++; *json_space(at) == '[';) {
        size_t bytes = (program->buffer_count + 1) * sizeof *program->buffers;
        struct celosia_buffer *more = realloc(program->buffers, bytes);
        if (!more) return "buffers";
        program->buffers = more;
        struct celosia_buffer *buffer = more + program->buffer_count++;
        if (!(at = json_buffer(at, buffer)) || buffer->offset > program->arena_bytes
                || buffer->bytes > program->arena_bytes - buffer->offset)
            return "buffers";
    }
    return NULL;
}

/* Loads a program: constants, zeros in the rest of its arena, instructions. */
int celosia_load(struct celosia *board, struct celosia_program *program, const char *path) {
    memset(program, 0, sizeof *program);
    if (read_file(board, program, path) < 0) return -1;
    uint8_t *file = program->file, *zeros;
    uint64_t body = program->size > 28 ? program->size - 24 : 0;
    if (!body || memcmp(file, "CELOSIA\x1a", 8) != 0 || word_of(file + 8) != FILE_VERSION
            || word_of(file + 16) != (uint32_t)body || crc_of(file + 24, body) != word_of(file + 12))
        return fail(board, "%s must be a whole program file of version %d, as Program.save writes "
                    "it", path, FILE_VERSION);
    uint64_t length = word_of(file + 24), at = 28 + length;
    if (length > body - 4) return fail(board, "%s must have a header of %llu bytes", path,
                                       (unsigned long long)length);
    char *header = malloc(length + 1);
    if (!header) return fail(board, "there must be memory for the header of %s", path);
    memcpy(header, file + 28, length);
    header[length] = 0;
    const char *wrong = read_header(program, header, program->size - at);
    free(header);
    if (wrong) return fail(board, "%s must describe a program in its header, but for its %s", path,
                           wrong);
    if (program->fingerprint != board->fingerprint)
        return fail(board, "%s must be for this chip, with fingerprint %#lx, not %#lx", path,
                    (unsigned long)board->fingerprint, (unsigned long)program->fingerprint);
    uint64_t bytes = program->instructions * INSTRUCTION_BYTES;
    program->code = (program->arena_bytes + PROGRAM_ALIGN - 1) / PROGRAM_ALIGN * PROGRAM_ALIGN;
    if (celosia_write_memory(board, program->code, file + at, bytes) < 0) return -1;
    at += bytes;
    if (!(zeros = calloc(1, program->arena_bytes + 1)))
        return fail(board, "there must be memory for %llu bytes",
                    (unsigned long long)program->arena_bytes);
    for (size_t i = 0; i < program->buffer_count; i++) {
        struct celosia_buffer *buffer = program->buffers + i;
        if (strcmp(buffer->kind, "constant") != 0) continue;
        if (buffer->bytes > program->size - at) {
            free(zeros);
            return fail(board, "%s must have the bytes of constant %s", path, buffer->name);
        }
        memcpy(zeros + buffer->offset, file + at, buffer->bytes);
        at += buffer->bytes;
    }
    int done = celosia_write_memory(board, 0, zeros, program->arena_bytes);
    free(zeros);
    return done;
}

/* Returns a buffer of a program, or NULL; board->error then names those that there are. */
struct celosia_buffer *celosia_find(struct celosia *board, struct celosia_program *program,
                                    const char *name) {
    size_t length;
    for (size_t i = 0; i < program->buffer_count; i++)
        if (strcmp(program->buffers[i].name, name) == 0) return program->buffers + i;
    fail(board, "buffer must be one of the program's, not %s; it has", name);
    for (size_t i = 0; i < program->buffer_count; i++) {
        length = strlen(board->error);
        snprintf(board->error + length, sizeof board->error - length, " %s",
                 program->buffers[i].name);
    }
    return NULL;
}

static int move_buffer(struct celosia *board, struct celosia_program *program, const char *name,
                       void *into, const void *from, uint64_t size) {
    struct celosia_buffer *buffer = celosia_find(board, program, name);
    if (!buffer) return -1;
    if (size != buffer->bytes)
        return fail(board, "buffer %s must be given %llu bytes, not %llu", name,
                    (unsigned long long)buffer->bytes, (unsigned long long)size);
    return move_memory(board, buffer->offset, into, from, size);
}

/* Fill a buffer of a loaded program, or read one; the size is in bytes. */
int celosia_put(struct celosia *board, struct celosia_program *program, const char *name,
                const void *from, uint64_t size) {
    return move_buffer(board, program, name, NULL, from, size);
}

int celosia_get(struct celosia *board, struct celosia_program *program, const char *name,
                void *into, uint64_t size) {
    return move_buffer(board, program, name, into, NULL, size);
}

/* Runs a loaded program to its end, which must come within ``limit`` cycles (0: no limit). After an
 * error the chip has been reset, and the program is loaded still. */
int celosia_run(struct celosia *board, struct celosia_program *program, uint32_t limit) {
    uint32_t status, cause, pc, address, low, high;
    uint32_t last = (uint32_t)program->arena_bytes - 1;
    for (uint32_t i = 0; i < NUM_WINDOWS; i++) {
        int open = i == 0 && program->arena_bytes;
        uint32_t at = REGISTER_WINDOW0_BASE + 8 * i; /* from the first byte to the last */
        if (celosia_write_register(board, at, i == 0 && !program->arena_bytes ? 0 : !open) < 0
                || celosia_write_register(board, at + 4, open ? last : 0) < 0)
            return -1;
    }
    if (celosia_write_register(board, REGISTER_PROGRAM, (uint32_t)program->code) < 0
            || celosia_write_register(board, REGISTER_LENGTH, (uint32_t)program->instructions) < 0
            || celosia_write_register(board, REGISTER_WATCHDOG, limit) < 0
            || celosia_write_register(board, REGISTER_IRQ_STATUS, 1) < 0
            || celosia_write_register(board, REGISTER_IRQ_ENABLE, 1) < 0
            || celosia_write_register(board, REGISTER_CONTROL, CONTROL_START) < 0
            || celosia_wait(board, limit ? (uint64_t)limit + limit / 8 + 10000 : 0) < 0
            || celosia_read_register(board, REGISTER_STATUS, &status) < 0
            || celosia_read_register(board, REGISTER_CYCLES_LO, &low) < 0
            || celosia_read_register(board, REGISTER_CYCLES_LO + 4, &high) < 0)
        return -1;
    program->cycles = (uint64_t)high << 32 | low;
    if (status == CHIP_DONE) return celosia_write_register(board, REGISTER_IRQ_STATUS, 1);
    if (celosia_read_register(board, REGISTER_FAULT_CAUSE, &cause) < 0
            || celosia_read_register(board, REGISTER_FAULT_PC, &pc) < 0
            || celosia_read_register(board, REGISTER_FAULT_ADDR, &address) < 0
            || celosia_reset(board) < 0)
        return -1;
    if (status == CHIP_RUNNING || (status == CHIP_FAULTED && cause == FAULT_WATCHDOG))
        return fail(board, "the program must end within %lu cycles, but it did not",
                    (unsigned long)limit);
    return fail(board, "the program must run to its end, but the chip stopped with %s at "
                "instruction %lu, address %#lx", cause < FAULTS ? celosia_faults[cause] : "a fault",
                (unsigned long)pc, (unsigned long)address);
}

/* ---- an example ---- */

#ifdef CELOSIA_MAIN
/* usage: celosia PORT BAUD                                 what the board is
 *        celosia PORT BAUD FILE LIMIT NAME=IN.. NAME:OUT..  run a program: input buffers are filled
 *                                                          from files, others written into files */
static int complain(struct celosia *board) {
    fprintf(stderr, "celosia: %s\n", board->error);
    celosia_close(board);
    return 1;
}

/* Moves a buffer from a file, or into one. */
static int with_file(struct celosia *board, struct celosia_program *program, char *word) {
    char *path = strpbrk(word, "=:"), kind = path ? *path : 0;
    if (!path) return fail(board, "an argument must be NAME=FILE or NAME:FILE, not %s", word);
    *path++ = 0;
    struct celosia_buffer *buffer = celosia_find(board, program, word);
    uint8_t *data = buffer ? malloc(buffer->bytes + 1) : NULL;
    FILE *file = data ? fopen(path, kind == '=' ? "rb" : "wb") : NULL;
    int done = -1;
    if (data && !file) fail(board, "%s must be a file that can be opened: %s", path,
                            strerror(errno));
    if (file && kind == '=')
        done = celosia_put(board, program, word, data, fread(data, 1, buffer->bytes + 1, file));
    if (file && kind == ':' && (done = celosia_get(board, program, word, data, buffer->bytes)) == 0
            && fwrite(data, 1, buffer->bytes, file) != buffer->bytes)
        done = fail(board, "%s must take %llu bytes: %s", path, (unsigned long long)buffer->bytes,
                    strerror(errno));
    if (file) fclose(file);
    free(data);
    return done;
}

int main(int argc, char **argv) {
    static struct celosia board;
    struct celosia_program program;
    if (argc != 3 && argc < 5) {
        fprintf(stderr, "usage: celosia PORT BAUD [FILE LIMIT NAME=IN.. NAME:OUT..]\n");
        return 2;
    }
    if (celosia_open(&board, argv[1], (uint32_t)strtoul(argv[2], NULL, 10)) < 0)
        return complain(&board);
    printf("fingerprint %#lx, %llu bytes of memory\n", (unsigned long)board.fingerprint,
           (unsigned long long)board.memory_bytes);
    if (argc >= 5) {
        int done = celosia_load(&board, &program, argv[3]);
        for (int i = 5; i < argc && done == 0; i++)
            if (strchr(argv[i], '=')) done = with_file(&board, &program, argv[i]);
        if (done == 0)
            done = celosia_run(&board, &program, (uint32_t)strtoul(argv[4], NULL, 10));
        for (int i = 5; i < argc && done == 0; i++)
            if (strchr(argv[i], ':')) done = with_file(&board, &program, argv[i]);
        if (done == 0) printf("%llu cycles\n", (unsigned long long)program.cycles);
        celosia_unload(&program);
        if (done < 0) return complain(&board);
    }
    printf("%llu requests sent again\n", (unsigned long long)board.resent);
    celosia_close(&board);
    return 0;
}
#endif
