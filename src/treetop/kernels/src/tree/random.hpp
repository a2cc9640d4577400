// Random numbers that depend only on a seed and a node's place in the tree, never on the schedule of threads.
#pragma once

#include <cstdint>

namespace treetop::kmeans {

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a counter through a bijective hash.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}
    Random(uint64_t seed, uint64_t level, uint64_t node) : state_(mix(seed) + (level << 40) + node) {
        state_ = next();
    }

    uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15ull); }

    // A whole number in [0, n), n < 2^32.
    uint64_t below(uint64_t n) { return ((next() >> 32) * n) >> 32; }

private:
    static uint64_t mix(uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }

    uint64_t state_;
};

}  // namespace treetop::kmeans
