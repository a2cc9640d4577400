// Run independent tasks on a few threads: interruptible, fork-safe, deterministic.
//
// Plain threads instead of OpenMP: the calling thread stays free to notice Ctrl-C, a forked server worker is not
// stuck with a dead thread pool, and nothing clashes with the OpenMP runtime that torch brings along.
// Results cannot depend on the thread count as long as task t writes only to the places of task t.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include <nanobind/nanobind.h>

namespace treetop {

// Calls work(state, task) for every task in [0, tasks); each thread makes one state with make_state() and keeps it.
// Call it with the GIL held: it is released while the work runs. Tasks are handed out in order, one by one,
// so put the long ones first. Throws nb::python_error if Python has a pending signal such as Ctrl-C.
// A long task may take a third argument, `const std::atomic<bool> &stop`, and return early once it is set.
// `report()` is called now and then by the calling thread, with the GIL held: it may call Python, and may throw.
template <typename MakeState, typename Work, typename Report>
void parallel_for(int64_t tasks, int threads, MakeState make_state, Work work, Report report) {
    if (tasks <= 0) return;
    std::atomic<int64_t> next{0};
    std::atomic<bool> stop{false};
    std::mutex mutex;
    std::condition_variable finished;
    std::exception_ptr failure;
    std::exception_ptr interruption;
    int running = 0;

    auto run = [&] {
        try {
            auto state = make_state();
            for (int64_t task; !stop.load(std::memory_order_relaxed) && (task = next.fetch_add(1)) < tasks;)
                if constexpr (std::is_invocable_v<Work &, decltype(state) &, int64_t, const std::atomic<bool> &>)
                    work(state, task, stop);
                else
                    work(state, task);
        } catch (...) {
            std::lock_guard<std::mutex> lock(mutex);
            if (!failure) failure = std::current_exception();
            stop = true;
        }
        std::lock_guard<std::mutex> lock(mutex);
        --running;
        finished.notify_one();
    };

    // What the calling thread does while the others work.
    auto look_up = [&] {
        nanobind::gil_scoped_acquire acquire;
        try {
            if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
            report();
        } catch (...) {
            interruption = std::current_exception();
            stop = true;
        }
    };

    {
        nanobind::gil_scoped_release release;
        std::vector<std::thread> pool;
        const int count = static_cast<int>(std::max<int64_t>(1, std::min<int64_t>(threads, tasks)));
        running = count;
        for (int t = 0; t < count; ++t) pool.emplace_back(run);
        std::unique_lock<std::mutex> lock(mutex);
        while (!finished.wait_for(lock, std::chrono::milliseconds(50), [&] { return running == 0; })) {
            lock.unlock();
            if (!interruption) look_up();
            lock.lock();
        }
        lock.unlock();
        for (auto &thread : pool) thread.join();
    }
    if (interruption) std::rethrow_exception(interruption);
    if (failure) std::rethrow_exception(failure);
}

template <typename MakeState, typename Work>
void parallel_for(int64_t tasks, int threads, MakeState make_state, Work work) {
    parallel_for(tasks, threads, make_state, work, [] {});
}

}  // namespace treetop
