// A set of features as bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace treetop {

class FeatureSet {
public:
    void resize(int64_t features) {
        const size_t words = static_cast<size_t>(features) / 64 + 1;
        if (words_.size() < words) words_.resize(words, 0);
    }

    void add(const int32_t *feature, int64_t size) {
        for (int64_t i = 0; i < size; ++i) words_[feature[i] >> 6] |= uint64_t{1} << (feature[i] & 63);
    }

    // Forgets these and their neighbours: only for removing everything that was added.
    void clear(const int32_t *feature, int64_t size) {
        for (int64_t i = 0; i < size; ++i) words_[feature[i] >> 6] = 0;
    }

    bool has(int32_t feature) const { return words_[feature >> 6] >> (feature & 63) & 1; }

private:
    std::vector<uint64_t> words_;
};

}  // namespace treetop
