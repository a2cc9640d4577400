// From feature to row in one chunk: a bit per feature, and a count of the rows before each word of bits.
//
// Most lookups miss, and bits keep the misses in the first cache where a table of row numbers would not fit. Filling
// and clearing touch only the chunk's own features plus one sweep over the words.
#pragma once

#include <cstdint>
#include <vector>

#include "feature_map.hpp"
#include "level.hpp"
#include "search_kernels.hpp"

namespace treetop {

class Lookup {
public:
    void use(const Level &level, const FeatureMap &features) {
        level_ = &level;
        features_ = &features;
        parent_ = -1;
        bits_.assign(static_cast<size_t>(features.size() / 64 + 1), RowBits{0, 0});
    }

    // A parent that is built already stays: a level with a single parent is built once for all texts.
    void build(int64_t parent) {
        if (parent == parent_) return;
        for (RowBits &word : bits_) word.present = 0;
        for (int64_t row = level_->row_ptr[parent]; row < level_->row_ptr[parent + 1]; ++row) {
            const int32_t number = features_->of_row(level_->row_feature[row]);
            bits_[number >> 6].present |= uint64_t{1} << (number & 63);
        }
        uint64_t before = 0;
        for (RowBits &word : bits_) {
            word.before = before;
            before += static_cast<uint64_t>(__builtin_popcountll(word.present));
        }
        parent_ = parent;
    }

    const RowBits *bits() const { return bits_.data(); }

private:
    const Level *level_ = nullptr;
    const FeatureMap *features_ = nullptr;
    int64_t parent_ = -1;
    std::vector<RowBits> bits_;
};

}  // namespace treetop
