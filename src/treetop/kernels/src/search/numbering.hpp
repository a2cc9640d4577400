// Numbers the features of a block of texts from 0, the frequent ones first.
//
// Tables indexed by these numbers are small, and what is looked up most lies together at their front, in the first
// cache. Features of a chunk that no text of the block has get no number and are never touched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace treetop {

class Numbering {
public:
    // Translates the features of a block; `columns` is the width of the texts.
    void use(const int32_t *feature, int64_t size, int64_t columns) {
        for (const int32_t seen : seen_) number_[seen] = -1;
        if (number_.size() < static_cast<size_t>(columns)) number_.resize(static_cast<size_t>(columns), -1);
        count(feature, size);
        rank();
        translated_.resize(static_cast<size_t>(size));
        for (int64_t i = 0; i < size; ++i) translated_[i] = number_[feature[i]];
    }

    int64_t size() const { return static_cast<int64_t>(seen_.size()); }
    int32_t of(int32_t feature) const { return number_[feature]; }  // -1: in none of the texts
    void prefetch(int32_t feature) const { __builtin_prefetch(number_.data() + feature); }
    const int32_t *translated() const { return translated_.data(); }

private:
    static constexpr int32_t kMostFrequent = 1024;  // counts beyond make no difference

    void count(const int32_t *feature, int64_t size) {
        seen_.clear();
        for (int64_t i = 0; i < size; ++i) {
            int32_t &times = number_[feature[i]];
            if (times < 0) {
                times = 0;
                seen_.push_back(feature[i]);
            }
            times += times < kMostFrequent;
        }
    }

    // Counting sort by falling frequency.
    void rank() {
        std::vector<int32_t> next(kMostFrequent + 2, 0);
        for (const int32_t feature : seen_) ++next[kMostFrequent - number_[feature] + 1];
        for (int32_t i = 1; i < kMostFrequent + 2; ++i) next[i] += next[i - 1];
        for (const int32_t feature : seen_) number_[feature] = next[kMostFrequent - number_[feature]]++;
    }

    std::vector<int32_t> number_;  // by feature
    std::vector<int32_t> seen_;
    std::vector<int32_t> translated_;
};

}  // namespace treetop
