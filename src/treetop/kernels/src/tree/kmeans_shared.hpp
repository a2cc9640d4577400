// What the k-means kernels share: label features, options, and how work is spread over threads.
#pragma once

#include <functional>

#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "tree/random.hpp"

namespace treetop::kmeans {

struct Options {
    int max_iter;
    double tolerance;
    bool spherical;
    uint64_t seed;
    int threads;
};

// Label features: a sparse block, a dense block, or both side by side.
struct Labels {
    Rows sparse;
    const float *dense;
    int64_t dims;
    int64_t count;

    const float *row(int64_t label) const { return dense + label * dims; }
};

// Calls work(task) for every task in [0, tasks), here or on several threads; results may not depend on which.
using Work = std::function<void(int64_t task)>;
using Run = std::function<void(int64_t tasks, const Work &work)>;

inline void run_here(int64_t tasks, const Work &work) {
    for (int64_t task = 0; task < tasks; ++task) work(task);
}

// Also for one thread: it notices Ctrl-C, `run_here` does not. A single task is not worth starting a thread.
inline Run run_on(int threads) {
    return [threads](int64_t tasks, const Work &work) {
        if (tasks == 1) return work(0);
        parallel_for(tasks, threads, [] { return 0; }, [&](int, int64_t task) { work(task); });
    };
}

// Large nodes begin k-means with samples of `smallest`, 4 · smallest, … rows, and end with all of them.
inline std::vector<int64_t> sample_sizes(int64_t rows, int64_t smallest) {
    std::vector<int64_t> sizes;
    for (int64_t size = std::max<int64_t>(512, smallest); 4 * size <= rows; size *= 4) sizes.push_back(size);
    sizes.push_back(rows);
    return sizes;
}

// Rows at even distances. A larger sample contains the smaller ones.
inline std::vector<int64_t> even_sample(int64_t rows, int64_t size) {
    std::vector<int64_t> sample(size);
    for (int64_t j = 0; j < size; ++j) sample[j] = j * rows / size;
    return sample;
}

inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline float inverse(double x) { return x > 0 ? static_cast<float>(1 / x) : 0.0f; }

}  // namespace treetop::kmeans
