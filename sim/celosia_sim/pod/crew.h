// Threads that do one piece of work each, together, as often as they are asked to; the first one is
// the caller.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Crew {
public:
    Crew(int size, std::function<void()> work) : work_(std::move(work)) {
        for (int i = 1; i < size; i++) threads_.emplace_back([this] { serve(); });
    }

    ~Crew() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            ended_ = true;
        }
        go_.notify_all();
        for (std::thread& each : threads_) each.join();
    }

    void run() {
        if (threads_.empty()) return work_();
        {
            std::lock_guard<std::mutex> lock(mutex_);
            turn_++, busy_ = static_cast<int>(threads_.size());
        }
        go_.notify_all();
        work_();
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [this] { return busy_ == 0; });
    }

private:
    std::function<void()> work_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable go_, done_;
    uint64_t turn_ = 0;
    int busy_ = 0;
    bool ended_ = false;

    void serve() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (uint64_t seen = 0;;) {
            go_.wait(lock, [&] { return ended_ || turn_ != seen; });
            if (ended_) return;
            seen = turn_;
            lock.unlock();
            work_();
            lock.lock();
            if (--busy_ == 0) done_.notify_one();
        }
    }
};
