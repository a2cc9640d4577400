// How the rows of a level are read, whatever the widths of its numbers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "search/level.hpp"

namespace treetop {
namespace {  // internal linkage: each instruction set compiles its own copy

// Calls action(Feature{}), action(Offset{}), action(Child{}, Value{}) with the types of the level in hand.
template <typename Action>
decltype(auto) with_features(const Level &level, Action &&action) {
    return level.feature_bits == 16 ? action(uint16_t{}) : action(int32_t{});
}

template <typename Action>
decltype(auto) with_offsets(const Level &level, Action &&action) {
    return level.offset_bits == 16 ? action(uint16_t{}) : action(int64_t{});
}

template <typename Action>
decltype(auto) with_children(const Level &level, Action &&action) {
    if (level.child_bits == 8) return action(uint8_t{});
    return level.child_bits == 16 ? action(uint16_t{}) : action(uint32_t{});
}

template <typename Action>
decltype(auto) with_entries(const Level &level, Action &&action) {
    return with_children(level, [&](auto child) {
        if (level.value_bits == 8) return action(child, int8_t{});
        return level.value_bits == 16 ? action(child, uint16_t{}) : action(child, float{});
    });
}

// Calls action(row, feature) for the rows of a chunk in their order.
template <typename Feature, typename Action>
void for_rows(const Level &level, int64_t parent, Action &&action) {
    const auto *feature = static_cast<const Feature *>(level.row_feature);
    const int64_t *bound = level.row_ptr + parent * level.pages;
    for (int64_t page = 0; page < level.pages; ++page) {
        const int32_t base = static_cast<int32_t>(page << kPageBits);
        for (int64_t row = bound[page]; row < bound[page + 1]; ++row)
            action(row, base + static_cast<int32_t>(feature[row]));
    }
}

// How often offsets have begun anew up to a row; rows are asked for in rising order.
class Turns {
public:
    Turns(const Level &level, int64_t first_row)
        : turn_(level.entry_turn),
          count_(std::upper_bound(turn_, turn_ + level.turns, first_row) - turn_) {}
    Turns(const Level &level, int64_t, int64_t count) : turn_(level.entry_turn), count_(count) {}

    int64_t up_to(int64_t row) {
        while (turn_[count_] <= row) ++count_;
        return count_;
    }

private:
    const int64_t *turn_;
    int64_t count_;
};

struct EntryRange {
    int64_t first;
    int64_t size;
};

// The entries of a row, up to which offsets have begun anew `turns` times.
template <typename Offset>
inline EntryRange entries_of(const Level &level, int64_t row, int64_t turns) {
    const Offset *offset = static_cast<const Offset *>(level.entry_ptr) + row;
    if constexpr (sizeof(Offset) == 8) return {offset[0], offset[1] - offset[0]};
    const int64_t first = turns << kPageBits | static_cast<int64_t>(offset[0]);
    while (level.entry_turn[turns] <= row + 1) ++turns;
    return {first, (turns << kPageBits | static_cast<int64_t>(offset[1])) - first};
}

}  // namespace
}  // namespace treetop
