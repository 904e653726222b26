// All that something is, as bytes: counted, saved or loaded, by one list of its parts.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

class State {
public:
    enum class Way : int { COUNT = 0, SAVE = 1, LOAD = 2 };

    // LOAD: from the ``size`` bytes ``at``; SAVE: to ``at``, which has room for what was counted.
    State(Way way, uint8_t* at, uint64_t size) : way_(way), at_(at), size_(size) {}

    bool loads() const { return way_ == Way::LOAD; }

    void bytes(void* data, uint64_t size) {
        if (way_ == Way::LOAD && (broken_ |= size > size_ - done_)) return;
        if (way_ == Way::SAVE) std::memcpy(at_ + done_, data, size);
        if (way_ == Way::LOAD) std::memcpy(data, at_ + done_, size);
        done_ += size;
    }

    template <class... T>
    void operator()(T&... values) {
        static_assert((std::is_trivially_copyable_v<T> && ...));
        (bytes(&values, sizeof values), ...);
    }

    // A std::vector, std::deque or std::string of such, or of what ``part`` takes. How many there are
    // is not believed beyond the bytes that are there.
    template <class C, class F>
    void all(C& values, F&& part) {
        uint64_t count = values.size();
        (*this)(count);
        if (loads()) {
            if (broken_ |= count > size_ - done_) return;
            values.resize(count);
        }
        for (auto& each : values) part(each);
    }
    template <class C>
    void all(C& values) {
        all(values, [this](auto& each) { (*this)(each); });
    }

    uint64_t left() const { return broken_ ? 0 : size_ - done_; }

    // Bytes so far; 0: what was to be loaded is nothing of this kind.
    uint64_t end() const { return broken_ || (loads() && done_ != size_) ? 0 : done_; }

private:
    const Way way_;
    uint8_t* const at_;
    const uint64_t size_;
    uint64_t done_ = 0;
    bool broken_ = false;
};
