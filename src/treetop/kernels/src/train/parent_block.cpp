#include "train/parent_block.hpp"

#include <algorithm>
#include <iterator>

namespace treetop {
namespace {

constexpr int32_t most_counted = 1023;  // more frequent than this: all the same to the order of features

int32_t bucket(int32_t count) { return most_counted - std::min(count, most_counted); }

}  // namespace

void ParentBlock::build(const TrainFeatures &features, float bias, const TrainTree &tree, int64_t parent,
                        FeatureCounts &counts) {
    list_texts(tree, parent);
    list_costs(tree, parent);
    features_.clear();
    lone_.clear();
    if (features.sparse.start) list_features(features.sparse, counts);
    number_features(counts.count);
    const int64_t most = features.sparse.start ? padded_entries(features.sparse) : 0;
    const bool small = view_.features <= 1 << 16;
    view_.narrow = small ? narrow_.reserve(most) : nullptr;
    view_.wide = small ? nullptr : wide_.reserve(most);
    value_.reserve(most);
    if (small)
        copy_rows(features, bias, counts.count.data(), narrow_.data());
    else
        copy_rows(features, bias, counts.count.data(), wide_.data());
    for (const BlockFeature &f : features_) counts.count[static_cast<size_t>(f.feature)] = 0;
    view_.dense = features.dense;
    view_.dims = features.dense ? features.dims : 0;
}

void ParentBlock::list_texts(const TrainTree &tree, int64_t parent) {
    const int32_t *shortlisted = tree.shortlisted + tree.shortlisted_ptr[parent], *end = tree.shortlisted + tree.shortlisted_ptr[parent + 1];
    outside_.clear();
    for (int64_t child = tree.children_ptr[parent]; child < tree.children_ptr[parent + 1]; ++child)
        std::set_difference(tree.positive + tree.positive_ptr[child], tree.positive + tree.positive_ptr[child + 1],
                            shortlisted, end, std::back_inserter(outside_));
    std::sort(outside_.begin(), outside_.end());
    outside_.erase(std::unique(outside_.begin(), outside_.end()), outside_.end());
    competing_ = end - shortlisted;
    view_.rows = competing_ + static_cast<int64_t>(outside_.size());
    int32_t *text = text_.reserve(view_.rows);
    std::copy(outside_.begin(), outside_.end(), std::copy(shortlisted, end, text));
    view_.text = text;
}

void ParentBlock::list_costs(const TrainTree &tree, int64_t parent) {
    view_.negative_cost = nullptr;
    if (tree.negative_cost == nullptr) return;
    float *cost = negative_cost_.reserve(view_.rows);
    const float *given = tree.negative_cost + tree.shortlisted_ptr[parent];
    std::fill(std::copy(given, given + competing_, cost), cost + view_.rows, 1.0f);
    view_.negative_cost = cost;
}

// All features of the rows, ascending.
void ParentBlock::list_features(const Rows &sparse, FeatureCounts &counts) {
    int32_t *count = counts.count.data();
    uint64_t *seen = counts.seen.data();
    for (int64_t r = 0; r < view_.rows; ++r)
        for (int64_t k = sparse.begin(view_.text[r]); k < sparse.end(view_.text[r]); ++k) {
            const int32_t feature = sparse.column[k];
            ++count[feature];
            seen[feature >> 6] |= uint64_t{1} << (feature & 63);
        }
    for (size_t word = 0; word < counts.seen.size(); ++word) {
        for (uint64_t bits = seen[word]; bits != 0; bits &= bits - 1)
            features_.push_back({static_cast<int32_t>(word * 64) + __builtin_ctzll(bits), 0});
        seen[word] = 0;
    }
}

// Counts become places: frequent features first, so that the weights in use all the time lie close together.
void ParentBlock::number_features(std::vector<int32_t> &count) {
    std::vector<int32_t> next(most_counted + 1, 0);
    for (const BlockFeature &f : features_) ++next[bucket(count[static_cast<size_t>(f.feature)])];
    next[bucket(1)] = 0;
    int32_t before = 0;
    for (int32_t &n : next) {
        const int32_t size = n;
        n = before;
        before += size;
    }
    view_.features = before + 1;
    for (BlockFeature &f : features_) {
        int32_t &times = count[static_cast<size_t>(f.feature)];
        if (times == 1) {
            f.place = ~static_cast<int32_t>(lone_.size());
            lone_.push_back({0, 0.0f});
        } else {
            f.place = next[bucket(times)]++;
        }
        times = f.place;
    }
}

int64_t ParentBlock::padded_entries(const Rows &sparse) const {
    int64_t sum = 0;
    for (int64_t r = 0; r < view_.rows; ++r) sum += (sparse.size(view_.text[r]) + 3) / 4 * 4;
    return sum;
}

template <typename Id>
void ParentBlock::copy_rows(const TrainFeatures &features, float bias, const int32_t *place, Id *id) {
    const Rows &sparse = features.sparse;
    int64_t *start = start_.reserve(view_.rows + 1);
    float *square = square_.reserve(view_.rows), *alone = alone_.reserve(view_.rows), *value = value_.data();
    int64_t at = 0;
    for (int64_t r = 0; r < view_.rows; ++r) {
        const int64_t text = view_.text[r];
        double shared = static_cast<double>(bias) * bias, lonely = 0;
        start[r] = at;
        for (int64_t k = sparse.start ? sparse.begin(text) : 0; sparse.start && k < sparse.end(text); ++k) {
            const float x = sparse.value[k];
            const int32_t where = place[sparse.column[k]];
            if (where < 0) {
                lone_[static_cast<size_t>(~where)] = {static_cast<int32_t>(r), x};
                lonely += static_cast<double>(x) * x;
            } else {
                id[at] = static_cast<Id>(where);
                value[at++] = x;
                shared += static_cast<double>(x) * x;
            }
        }
        for (; at % 4 != 0; ++at) {
            id[at] = static_cast<Id>(view_.features - 1);
            value[at] = 0;
        }
        for (int64_t k = 0; features.dense && k < features.dims; ++k) {
            const float x = features.dense[text * features.dims + k];
            shared += static_cast<double>(x) * x;
        }
        square[r] = static_cast<float>(shared + lonely);
        alone[r] = static_cast<float>(lonely);
    }
    start[view_.rows] = at;
    view_.start = start;
    view_.value = value;
    view_.square = square;
    view_.alone = alone;
}

int64_t ParentBlock::row_of(int32_t text, int64_t &hint) const {
    const int32_t *begin = view_.text, *middle = begin + competing_;
    const int32_t *found = std::lower_bound(begin + hint, middle, text);
    hint = found - begin;
    if (found != middle && *found == text) return hint;
    return std::lower_bound(middle, begin + view_.rows, text) - begin;
}

}  // namespace treetop
