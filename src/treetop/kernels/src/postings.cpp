#include "postings.hpp"

namespace treetop {

Postings::Postings(const Level &level) : features_(static_cast<size_t>(level.features) + 1, Feature{0, 0}) {
    const int64_t rows = level.rows();
    for (int64_t row = 0; row < rows; ++row) ++features_[level.row_feature[row] + 1].first_row;
    for (size_t f = 1; f < features_.size(); ++f) features_[f].first_row += features_[f - 1].first_row;

    rows_.resize(static_cast<size_t>(rows));
    std::vector<int32_t> parents(static_cast<size_t>(rows));
    std::vector<int64_t> next(features_.size());
    for (size_t f = 0; f < features_.size(); ++f) next[f] = features_[f].first_row;
    for (int64_t parent = 0; parent < level.parents; ++parent)
        for (int64_t row = level.row_ptr[parent]; row < level.row_ptr[parent + 1]; ++row) {
            const int64_t at = next[level.row_feature[row]]++;
            rows_[at] = static_cast<uint32_t>(row - level.row_ptr[parent]);
            parents[at] = static_cast<int32_t>(parent);
        }

    for (size_t f = 0; f + 1 < features_.size(); ++f) {
        features_[f].first_posting = static_cast<int64_t>(postings_.size());
        const int64_t first = features_[f].first_row, last = features_[f + 1].first_row;
        for (int64_t at = first; at < last; ++at) {
            const uint32_t group = static_cast<uint32_t>(parents[at]) >> 6;
            if (at == first || postings_.back().group != group)
                postings_.push_back({0, group, static_cast<uint32_t>(at - first)});
            postings_.back().parents |= uint64_t{1} << (parents[at] & 63);
        }
    }
    features_.back().first_posting = static_cast<int64_t>(postings_.size());
    postings_.shrink_to_fit();
}

}  // namespace treetop
