#include "train_group.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <functional>

namespace treetop {
namespace {

// A different order of rows for every group, the same on every run.
uint64_t mix(uint64_t seed, uint64_t node) {
    uint64_t z = seed * 0x9E3779B97F4A7C15ull + node + 1;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

}  // namespace

void GroupTrainer::train(const Block &block, const int32_t *nodes, const TrainGroup &group,
                         const std::atomic<bool> &stop, TrainOutput &output, TaskWeights &kept) {
    set_up(block, nodes, group);
    kernel_.solve(block.view(), view_, settings_, stop);
    gather(block);
    hand_over(nodes, block.view().dims, output, kept);
}

void GroupTrainer::set_up(const Block &block, const int32_t *nodes, const TrainGroup &group) {
    const BlockView all = block.view();
    view_.width = group.width;
    view_.lanes = group.lanes;
    view_.seed = mix(settings_.seed, static_cast<uint64_t>(nodes[0]));
    view_.dual = dual_.reserve_zeros(all.rows * group.width);
    view_.weight = weight_.reserve_zeros(all.features * group.width);
    view_.dense_weight = dense_weight_.reserve_zeros(all.dims * group.width);
    view_.bias_weight = bias_weight_;
    view_.live = live_.reserve(all.rows);
    view_.order = order_.reserve(all.rows);
    view_.positive = positive_.reserve_zeros(all.rows);
    view_.member = member_.reserve_zeros(all.rows);
    mark_members(block);
    mark_positives(block, nodes);
    view_.cost_slot = nullptr;
    if (tree_.positive_cost) set_costs(block, nodes);
}

// Every competing text is a negative of every node unless it turns out to be a positive.
void GroupTrainer::mark_members(const Block &block) {
    const auto everyone = static_cast<LaneBits>((1u << view_.lanes) - 1);
    const float *cost = block.view().negative_cost;
    for (int64_t row = 0; row < block.competing(); ++row)
        if (!cost || cost[row] > 0) member_[row] = everyone;
}

void GroupTrainer::mark_positives(const Block &block, const int32_t *nodes) {
    for (int lane = 0; lane < view_.lanes; ++lane) {
        int64_t hint = 0;
        for (int64_t p = tree_.positive_ptr[nodes[lane]]; p < tree_.positive_ptr[nodes[lane] + 1]; ++p) {
            const int64_t row = block.row_of(tree_.positive[p], hint);
            const auto bit = static_cast<LaneBits>(1u << lane);
            positive_[row] = static_cast<LaneBits>(positive_[row] | bit);
            member_[row] = static_cast<LaneBits>(member_[row] | bit);
            if (tree_.positive_cost && tree_.positive_cost[p] == 0) member_[row] = static_cast<LaneBits>(member_[row] & ~bit);
        }
    }
}

// One slot of costs per row that is positive somewhere in the group.
void GroupTrainer::set_costs(const Block &block, const int32_t *nodes) {
    int32_t *slot = cost_slot_.reserve(block.rows());
    int32_t slots = 0;
    for (int64_t row = 0; row < block.rows(); ++row) slot[row] = positive_[row] ? slots++ : -1;
    positive_cost_.assign(static_cast<size_t>(slots) * view_.width, 1.0f);
    for (int lane = 0; lane < view_.lanes; ++lane) {
        int64_t hint = 0;
        for (int64_t p = tree_.positive_ptr[nodes[lane]]; p < tree_.positive_ptr[nodes[lane] + 1]; ++p) {
            const int64_t row = block.row_of(tree_.positive[p], hint);
            positive_cost_[static_cast<size_t>(slot[row]) * view_.width + lane] = tree_.positive_cost[p];
        }
    }
    view_.cost_slot = slot;
    view_.positive_cost = positive_cost_.data();
}

// Features in ascending order, so that every node's weights come out sorted.
void GroupTrainer::gather(const Block &block) {
    for (int lane = 0; lane < view_.lanes; ++lane) {
        feature_[lane].clear();
        value_[lane].clear();
    }
    const float smallest = std::max(settings_.threshold, FLT_MIN);
    const int64_t features = block.view().features;
    LaneBits *large = large_.reserve(features);
    kernel_.find_large(view_.weight, features, view_.width, smallest, large);
    if (!block.lone().empty()) find_peaks(block);
    for (const BlockFeature &f : block.features()) {
        if (f.place < 0) {
            gather_lone(f.feature, block.lone()[~f.place], smallest);
            continue;
        }
        for (unsigned bits = large[f.place] & ((1u << view_.lanes) - 1); bits != 0; bits &= bits - 1) {
            const int lane = __builtin_ctz(bits);
            feature_[lane].push_back(f.feature);
            value_[lane].push_back(view_.weight[static_cast<int64_t>(f.place) * view_.width + lane]);
        }
    }
}

// The largest α of each row: what a lone feature's weight cannot exceed.
void GroupTrainer::find_peaks(const Block &block) {
    float *peak = peak_.reserve(block.rows());
    for (int64_t row = 0; row < block.rows(); ++row)
        peak[row] = *std::max_element(view_.dual + row * view_.width, view_.dual + (row + 1) * view_.width);
}

// A feature of one row only has the weight α·y·x of that row.
void GroupTrainer::gather_lone(int32_t feature, LoneEntry entry, float smallest) {
    if (peak_[entry.row] * std::fabs(entry.value) < smallest) return;
    for (int lane = 0; lane < view_.lanes; ++lane) {
        const float weight = view_.dual[static_cast<int64_t>(entry.row) * view_.width + lane] * entry.value;
        if (std::fabs(weight) < smallest) continue;
        feature_[lane].push_back(feature);
        value_[lane].push_back(view_.positive[entry.row] >> lane & 1 ? weight : -weight);
    }
}

// Of weights of the same size at the limit, the first features stay.
void GroupTrainer::keep_largest(int lane) {
    const auto most = static_cast<size_t>(settings_.max_weights);
    std::vector<float> &value = value_[lane];
    std::vector<int32_t> &feature = feature_[lane];
    if (most == 0 || value.size() <= most) return;
    sizes_.resize(value.size());
    std::transform(value.begin(), value.end(), sizes_.begin(), [](float w) { return std::fabs(w); });
    std::nth_element(sizes_.begin(), sizes_.begin() + static_cast<std::ptrdiff_t>(most - 1), sizes_.end(), std::greater<float>());
    const float limit = sizes_[most - 1];
    size_t at_limit = most;
    for (float w : value) at_limit -= std::fabs(w) > limit;
    size_t kept = 0;
    for (size_t i = 0; i < value.size(); ++i) {
        const float size = std::fabs(value[i]);
        if (size < limit || (size == limit && at_limit == 0)) continue;
        at_limit -= size == limit;
        value[kept] = value[i];
        feature[kept++] = feature[i];
    }
    value.resize(kept);
    feature.resize(kept);
}

void GroupTrainer::hand_over(const int32_t *nodes, int64_t dims, TrainOutput &output, TaskWeights &kept) {
    for (int lane = 0; lane < view_.lanes; ++lane) {
        const int64_t child = nodes[lane];
        keep_largest(lane);
        output.entries[child] = static_cast<int64_t>(feature_[lane].size());
        output.bias[child] = bias_weight_[lane] * settings_.bias;
        for (int64_t k = 0; k < dims; ++k) output.dense[child * dims + k] = view_.dense_weight[k * view_.width + lane];
        kept.feature.insert(kept.feature.end(), feature_[lane].begin(), feature_[lane].end());
        kept.value.insert(kept.value.end(), value_[lane].begin(), value_[lane].end());
    }
}

}  // namespace treetop
