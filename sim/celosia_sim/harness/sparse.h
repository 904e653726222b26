// External memory: 4 GiB of bytes that read as zero until they are written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "state.h"

class SparseMemory {
public:
    static constexpr uint64_t SIZE = uint64_t{1} << 32;

    SparseMemory() : pages_(SIZE >> PAGE_BITS) {}

    // Spans may cross pages; bytes at and above SIZE read as zero and swallow writes.
    void read(uint64_t address, uint8_t* into, uint64_t size) const {
        each_page(address, size, [&](uint64_t page, uint64_t offset, uint64_t n, uint64_t done) {
            const uint8_t* bytes = page < pages_.size() ? pages_[page].get() : nullptr;
            if (bytes) std::memcpy(into + done, bytes + offset, n);
            else std::memset(into + done, 0, n);
        });
    }

    void write(uint64_t address, const uint8_t* from, uint64_t size) {
        each_page(address, size, [&](uint64_t page, uint64_t offset, uint64_t n, uint64_t done) {
            if (uint8_t* bytes = touch(page)) std::memcpy(bytes + offset, from + done, n);
        });
    }

    // One beat inside one page, bytes whose strobe is set.
    void write_strobed(uint64_t address, const uint8_t* from, const uint8_t* strobe, int size) {
        uint8_t* bytes = touch(address >> PAGE_BITS);
        if (!bytes) return;
        bytes += address & (PAGE - 1);
        for (int i = 0; i < size; i++)
            if (strobe[i >> 3] >> (i & 7) & 1) bytes[i] = from[i];
    }

    // Pages that were written.
    void keep(State& state) {
        uint64_t count = std::count_if(pages_.begin(), pages_.end(), [](auto& p) { return !!p; });
        state(count);
        if (state.loads()) {
            for (auto& page : pages_) page.reset();
            for (uint64_t number = 0; count-- && state.left();) {
                state(number);
                if (uint8_t* bytes = touch(number)) state.bytes(bytes, PAGE);
            }
            return;
        }
        for (uint64_t number = 0; number < pages_.size(); number++)
            if (pages_[number]) state(number), state.bytes(pages_[number].get(), PAGE);
    }

private:
    static constexpr int PAGE_BITS = 18;
    static constexpr uint64_t PAGE = uint64_t{1} << PAGE_BITS;
    struct Free {
        void operator()(uint8_t* p) const { std::free(p); }
    };
    std::vector<std::unique_ptr<uint8_t, Free>> pages_;

    uint8_t* touch(uint64_t page) {
        if (page >= pages_.size()) return nullptr;
        if (!pages_[page]) pages_[page].reset(static_cast<uint8_t*>(std::calloc(PAGE, 1)));
        return pages_[page].get();
    }

    template <typename F>
    static void each_page(uint64_t address, uint64_t size, F&& action) {
        for (uint64_t done = 0; done < size;) {
            const uint64_t offset = (address + done) & (PAGE - 1);
            const uint64_t n = std::min(size - done, PAGE - offset);
            action((address + done) >> PAGE_BITS, offset, n, done);
            done += n;
        }
    }
};
