// Numbers the features that occur in a level from 0, in order. A text's features are translated once per level: those
// the level never uses are dropped, and the bits of a chunk (lookup.hpp) become few enough for the first cache.
#pragma once

#include <cstdint>
#include <vector>

#include "level.hpp"

namespace treetop {

class FeatureMap {
public:
    explicit FeatureMap(const Level &level) : number_(static_cast<size_t>(level.features), -1) {
        for (int64_t row = 0; row < level.rows(); ++row) number_[level.row_feature[row]] = 0;
        for (int32_t &number : number_)
            if (number == 0) number = static_cast<int32_t>(size_++);
    }

    int64_t size() const { return size_; }
    int32_t of_row(int32_t feature) const { return number_[feature]; }

    // Also drops ids that are out of range, so nothing behind this needs a check.
    int64_t translate(const int32_t *feature, const float *value, int64_t size, int32_t *numbers, float *values) const {
        int64_t kept = 0;
        for (int64_t i = 0; i < size; ++i) {
            const uint32_t id = static_cast<uint32_t>(feature[i]);
            if (id >= number_.size()) continue;
            numbers[kept] = number_[id];
            values[kept] = value[i];
            kept += numbers[kept] >= 0;
        }
        return kept;
    }

private:
    std::vector<int32_t> number_;
    int64_t size_ = 0;
};

}  // namespace treetop
