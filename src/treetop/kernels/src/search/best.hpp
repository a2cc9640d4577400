// The k best candidates seen so far.
//
// Order: higher combined score, then higher margin (hinge links saturate at exactly 0, so ties are common), then lower
// id.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/half.hpp"

namespace treetop {

// Unsigned order of the result = order of the floats. Zeros of both signs must have been made equal before.
inline uint32_t sortable(float value) {
    const uint32_t bits = to_bits(value);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

inline float from_sortable(uint32_t key) { return from_bits(key & 0x80000000u ? key & 0x7fffffffu : ~key); }

struct Candidate {
    uint64_t key;  // score above margin, both sortable: one comparison instead of two
    int32_t id;

    float score() const { return from_sortable(static_cast<uint32_t>(key >> 32)); }
};

inline Candidate make_candidate(float score, float margin, int32_t id) {
    return {static_cast<uint64_t>(sortable(score)) << 32 | sortable(margin), id};
}

inline bool better(const Candidate &a, const Candidate &b) { return a.key != b.key ? a.key > b.key : a.id < b.id; }

// A few are kept sorted, best first; many as a heap whose root is the worst.
class Best {
public:
    Best(Candidate *storage, int64_t capacity) : kept_(storage), capacity_(capacity) {}

    int64_t size() const { return size_; }
    const Candidate *begin() const { return kept_; }
    const Candidate *end() const { return kept_ + size_; }

    // A candidate with a lower score than this cannot enter.
    float bar() const { return size_ < capacity_ ? -std::numeric_limits<float>::infinity() : worst().score(); }

    void offer(const Candidate &candidate) {
        if (size_ == capacity_ && (size_ == 0 || !better(candidate, worst()))) return;
        if (capacity_ <= kSorted) insert(candidate);
        else if (size_ < capacity_) push(candidate);
        else replace_root(candidate);
    }

    void prefetch() const {
        __builtin_prefetch(kept_);
        __builtin_prefetch(kept_ + 4);
    }

    void sort() {
        if (capacity_ > kSorted) std::sort(kept_, kept_ + size_, better);
    }

    void sort_by_id() {
        std::sort(kept_, kept_ + size_, [](const Candidate &a, const Candidate &b) { return a.id < b.id; });
    }

private:
    static constexpr int64_t kSorted = 32;

    const Candidate &worst() const { return capacity_ <= kSorted ? kept_[size_ - 1] : kept_[0]; }

    void insert(const Candidate &candidate) {
        int64_t place = size_ < capacity_ ? size_++ : size_ - 1;
        for (; place > 0 && better(candidate, kept_[place - 1]); --place) kept_[place] = kept_[place - 1];
        kept_[place] = candidate;
    }

    void push(const Candidate &candidate) {
        kept_[size_++] = candidate;
        std::push_heap(kept_, kept_ + size_, better);
    }

    void replace_root(const Candidate &candidate) {
        int64_t hole = 0;
        for (int64_t child; (child = 2 * hole + 1) < size_; hole = child) {
            if (child + 1 < size_ && better(kept_[child], kept_[child + 1])) ++child;
            if (!better(candidate, kept_[child])) break;
            kept_[hole] = kept_[child];
        }
        kept_[hole] = candidate;
    }

    Candidate *kept_;
    int64_t capacity_;
    int64_t size_ = 0;
};

}  // namespace treetop
