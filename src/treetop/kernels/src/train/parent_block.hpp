// The texts of one parent, copied once with features renumbered, so that all its children train on compact rows.
#pragma once

#include <cstdint>
#include <vector>

#include "common/arrays.hpp"
#include "train/plan.hpp"
#include "train/problem.hpp"
#include "train/scratch.hpp"

namespace treetop {

struct TrainFeatures {
    Rows sparse;         // rows.start is null without a sparse block
    const float *dense;  // null without a dense block
    int64_t dims;
    int64_t texts;

    int64_t width() const { return sparse.start ? sparse.columns : 0; }
};

// A feature of the block in ascending order: shared ones have weights at `place`, lone ones an entry in one row only.
struct BlockFeature {
    int32_t feature;
    int32_t place;  // number among the shared features, or ~number among the lone ones
};

struct LoneEntry {
    int32_t row;
    float value;
};

// How often each feature of the whole matrix occurs in a block; kept by a thread from block to block.
struct FeatureCounts {
    explicit FeatureCounts(int64_t features)
        : count(static_cast<size_t>(features), 0), seen(static_cast<size_t>(features + 63) / 64, 0) {}
    std::vector<int32_t> count;  // zeros between blocks
    std::vector<uint64_t> seen;  // one bit per feature, zeros between blocks
};

class ParentBlock {
   public:
    // Rows: first the texts competing at the parent, then those that are positive for a child without competing.
    void build(const TrainFeatures &features, float bias, const TrainTree &tree, int64_t parent, FeatureCounts &counts);

    BlockView view() const { return view_; }
    int64_t rows() const { return view_.rows; }
    int64_t competing() const { return competing_; }
    // The row of a text; it must be in the block. `hint` remembers where the last, smaller one was found.
    int64_t row_of(int32_t text, int64_t &hint) const;
    const std::vector<BlockFeature> &features() const { return features_; }
    const std::vector<LoneEntry> &lone() const { return lone_; }

   private:
    void list_texts(const TrainTree &tree, int64_t parent);
    void list_costs(const TrainTree &tree, int64_t parent);
    void list_features(const Rows &sparse, FeatureCounts &counts);
    void number_features(std::vector<int32_t> &count);
    template <typename Id>
    void copy_rows(const TrainFeatures &features, float bias, const int32_t *place, Id *id);
    int64_t padded_entries(const Rows &sparse) const;

    int64_t competing_ = 0;
    BlockView view_{};
    Scratch<int32_t> text_;
    Scratch<int64_t> start_;
    Scratch<uint16_t> narrow_;
    Scratch<uint32_t> wide_;
    Scratch<float> value_, square_, alone_, negative_cost_;
    std::vector<int32_t> outside_;
    std::vector<BlockFeature> features_;
    std::vector<LoneEntry> lone_;
};

}  // namespace treetop
