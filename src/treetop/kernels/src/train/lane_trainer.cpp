#include "train/lane_trainer.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <functional>

namespace treetop {
namespace {

// A different order of rows for every task, the same on every run and however the level is divided over calls.
uint64_t mix(uint64_t seed, uint64_t node) {
    uint64_t z = seed * 0x9E3779B97F4A7C15ull + node + 1;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

int narrowest(int64_t lanes) { return lanes <= 4 ? 4 : lanes <= 8 ? 8 : most_lanes; }

// The lanes in a set, one after the other.
template <typename Do>
void each_lane(uint32_t lanes, Do action) {
    for (; lanes != 0; lanes &= lanes - 1) action(__builtin_ctz(lanes));
}

LaneBits with(LaneBits set, int lane) { return static_cast<LaneBits>(set | (1u << lane)); }
LaneBits without(LaneBits set, int lane) { return static_cast<LaneBits>(set & ~(1u << lane)); }

}  // namespace

void LaneTrainer::train(const ParentBlock &block, const int32_t *nodes, int64_t count, const std::atomic<bool> &stop,
                        TrainOutput &output, TaskWeights &kept) {
    block_ = &block;
    rows_ = block.view();
    output_ = &output;
    kept_ = &kept;
    next_ = nodes;
    last_ = nodes + count;
    finished_ = 0;
    lanes_.width = narrowest(count);
    empty_ = (1u << lanes_.width) - 1;
    set_up(static_cast<uint64_t>(tree_.first_child + nodes[0]));
    kernel_.solve(rows_, lanes_, settings_, stop);
    if (!stop) gather(finished_);
}

void LaneTrainer::set_up(uint64_t first_node) {
    lanes_.seed = mix(settings_.seed, first_node);
    lanes_.dual = dual_.reserve_zeros(rows_.rows * lanes_.width);
    lanes_.weight = weight_.reserve_zeros(rows_.features * lanes_.width);
    lanes_.dense_weight = dense_weight_.reserve_zeros(rows_.dims * lanes_.width);
    lanes_.bias_weight = bias_weight_;
    std::fill(bias_weight_, bias_weight_ + most_lanes, 0.0f);
    lanes_.live = live_.reserve_zeros(rows_.rows);
    lanes_.order = order_.reserve(rows_.rows);
    lanes_.positive = positive_.reserve_zeros(rows_.rows);
    lanes_.member = member_.reserve_zeros(rows_.rows);
    lanes_.cost_slot = nullptr;
    positive_cost_.clear();
    if (tree_.positive_cost) {
        lanes_.cost_slot = cost_slot_.reserve(rows_.rows);
        std::fill(cost_slot_.data(), cost_slot_.data() + rows_.rows, -1);
    }
    lanes_.owner = this;
    lanes_.exchange = [](void *owner, uint32_t finished) {
        return static_cast<LaneTrainer *>(owner)->exchange(finished);
    };
}

// Called by the solver: at the start, when all lanes are empty, then whenever lanes have finished.
uint32_t LaneTrainer::exchange(uint32_t finished) {
    finished_ |= finished;
    if (next_ == last_) return 0;  // taken at the end, all at once: going through the weights costs time
    gather(finished_);
    uint32_t fresh = 0;
    each_lane(finished_ | empty_, [&](int lane) {
        if (next_ == last_) return;
        if (finished_ >> lane & 1) clear(lane);
        place(lane);
        fresh |= 1u << lane;
    });
    finished_ = 0;
    empty_ = 0;
    return fresh;
}

void LaneTrainer::clear(int lane) {
    for (int64_t i = 0; i < rows_.rows; ++i) lanes_.dual[i * lanes_.width + lane] = 0;
    for (int64_t i = 0; i < rows_.features; ++i) lanes_.weight[i * lanes_.width + lane] = 0;
    for (int64_t i = 0; i < rows_.dims; ++i) lanes_.dense_weight[i * lanes_.width + lane] = 0;
    bias_weight_[lane] = 0;
    for (int64_t row = 0; row < rows_.rows; ++row) {
        positive_[row] = without(positive_[row], lane);
        member_[row] = without(member_[row], lane);
    }
}

// Gives the next node to a lane: every competing text is a negative unless it turns out to be a positive.
void LaneTrainer::place(int lane) {
    const int64_t child = node_[lane] = *next_++;
    for (int64_t row = 0; row < block_->competing(); ++row)
        if (!rows_.negative_cost || rows_.negative_cost[row] > 0) member_[row] = with(member_[row], lane);
    int64_t hint = 0;
    for (int64_t p = tree_.positive_ptr[child]; p < tree_.positive_ptr[child + 1]; ++p) {
        const int64_t row = block_->row_of(tree_.positive[p], hint);
        set_positive(lane, row, tree_.positive_cost ? tree_.positive_cost[p] : 1.0f);
    }
    lanes_.positive_cost = positive_cost_.data();
}

void LaneTrainer::set_positive(int lane, int64_t row, float cost) {
    positive_[row] = with(positive_[row], lane);
    member_[row] = cost > 0 ? with(member_[row], lane) : without(member_[row], lane);
    if (!lanes_.cost_slot) return;
    const auto width = static_cast<size_t>(lanes_.width);
    if (cost_slot_[row] < 0) {
        cost_slot_[row] = static_cast<int32_t>(positive_cost_.size() / width);
        positive_cost_.resize(positive_cost_.size() + width, 1.0f);
    }
    positive_cost_[static_cast<size_t>(cost_slot_[row]) * width + static_cast<size_t>(lane)] = cost;
}

// Features in ascending order, so that every node's weights come out sorted.
void LaneTrainer::gather(uint32_t lanes) {
    if (lanes == 0) return;
    const float smallest = std::max(settings_.threshold, FLT_MIN);
    LaneBits *large = large_.reserve(rows_.features);
    kernel_.find_large(lanes_.weight, rows_.features, lanes_.width, smallest, large);
    if (!block_->lone().empty()) find_peaks(lanes);
    for (const BlockFeature &f : block_->features()) {
        if (f.place < 0) {
            gather_lone(lanes, f.feature, block_->lone()[static_cast<size_t>(~f.place)], smallest);
            continue;
        }
        each_lane(large[f.place] & lanes, [&](int lane) {
            feature_[lane].push_back(f.feature);
            value_[lane].push_back(lanes_.weight[static_cast<int64_t>(f.place) * lanes_.width + lane]);
        });
    }
    each_lane(lanes, [&](int lane) { hand_over(lane); });
}

// The largest α of each row: what a lone feature's weight cannot exceed.
void LaneTrainer::find_peaks(uint32_t lanes) {
    float *peak = peak_.reserve(rows_.rows);
    std::fill(peak, peak + rows_.rows, 0.0f);
    each_lane(lanes, [&](int lane) {
        for (int64_t row = 0; row < rows_.rows; ++row)
            peak[row] = std::max(peak[row], lanes_.dual[row * lanes_.width + lane]);
    });
}

// A feature of one row only has the weight α·y·x of that row.
void LaneTrainer::gather_lone(uint32_t lanes, int32_t feature, LoneEntry entry, float smallest) {
    if (peak_[entry.row] * std::fabs(entry.value) < smallest) return;
    each_lane(lanes, [&](int lane) {
        const float weight = lanes_.dual[static_cast<int64_t>(entry.row) * lanes_.width + lane] * entry.value;
        if (std::fabs(weight) < smallest) return;
        feature_[lane].push_back(feature);
        value_[lane].push_back(positive_[entry.row] >> lane & 1 ? weight : -weight);
    });
}

// Of weights of the same size at the limit, the first features stay.
void LaneTrainer::keep_largest(int lane) {
    const auto most = static_cast<size_t>(settings_.max_weights);
    std::vector<float> &value = value_[lane];
    std::vector<int32_t> &feature = feature_[lane];
    if (most == 0 || value.size() <= most) return;
    sizes_.resize(value.size());
    std::transform(value.begin(), value.end(), sizes_.begin(), [](float w) { return std::fabs(w); });
    const auto limit_at = sizes_.begin() + static_cast<std::ptrdiff_t>(most - 1);
    std::nth_element(sizes_.begin(), limit_at, sizes_.end(), std::greater<float>());
    const float limit = *limit_at;
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

void LaneTrainer::hand_over(int lane) {
    const int64_t child = node_[lane], dims = rows_.dims;
    keep_largest(lane);
    output_->entries[child] = static_cast<int64_t>(feature_[lane].size());
    output_->bias[child] = bias_weight_[lane] * settings_.bias;
    for (int64_t k = 0; k < dims; ++k)
        output_->dense[child * dims + k] = lanes_.dense_weight[k * lanes_.width + lane];
    kept_->node.push_back(node_[lane]);
    kept_->feature.insert(kept_->feature.end(), feature_[lane].begin(), feature_[lane].end());
    kept_->value.insert(kept_->value.end(), value_[lane].begin(), value_[lane].end());
    feature_[lane].clear();
    value_[lane].clear();
}

}  // namespace treetop
