// The rows still worth visiting, in a new random order each epoch.
#pragma once

#include "train/problem.hpp"

namespace treetop {
namespace TREETOP_ISA {

// xorshift64*: small and the same everywhere.
struct Dice {
    uint64_t state;

    explicit Dice(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15ull + 0x2545F4914F6CDD1Dull) {
        if (state == 0) state = 1;
    }
    uint32_t next() {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return static_cast<uint32_t>((state * 0x2545F4914F6CDD1Dull) >> 32);
    }
    uint32_t below(uint32_t n) { return static_cast<uint32_t>((static_cast<uint64_t>(next()) * n) >> 32); }
};

struct ActiveRows {
    int32_t *order;
    int64_t all;
    int64_t active = 0;

    ActiveRows(const BlockView &block, const LanesView &lanes) : order(lanes.order), all(block.rows) {
        for (int64_t row = 0; row < all; ++row) order[row] = static_cast<int32_t>(row);
    }
    void shuffle(Dice &dice) {
        for (int64_t i = 0; i + 1 < active; ++i) {
            const int64_t j = i + dice.below(static_cast<uint32_t>(active - i));
            const int32_t row = order[i];
            order[i] = order[j];
            order[j] = row;
        }
    }
    // Sets the row at position i aside; another takes its place.
    void drop(int64_t i) {
        const int32_t row = order[i];
        order[i] = order[--active];
        order[active] = row;
    }
    void restore() { active = all; }
};

}  // namespace TREETOP_ISA
}  // namespace treetop
