// The rows still worth visiting, in a new random order each epoch.
#pragma once

#include "train_problem.hpp"

namespace treetop {
namespace TREETOP_ISA {

// xorshift64*: small, and the same everywhere, so a seed means the same model on every machine's order of rows.
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
    int64_t all = 0;
    int64_t active = 0;

    ActiveRows(const BlockView &block, const GroupView &group) : order(group.order) {
        for (int64_t row = 0; row < block.rows; ++row)
            if (group.member[row] != 0) order[all++] = static_cast<int32_t>(row);
        active = all;
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
