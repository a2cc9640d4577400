// Trains one group of sibling nodes on their parent's block and collects the weights worth keeping.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "scratch.hpp"
#include "train_block.hpp"
#include "train_plan.hpp"
#include "train_problem.hpp"

namespace treetop {

// Weights of the nodes of a task, one node after the other; `TrainOutput::entries` says how many each has.
struct TaskWeights {
    std::vector<int32_t> feature;
    std::vector<float> value;
};

// Where results go; indexed by child. Each task writes only to its own children.
struct TrainOutput {
    int64_t *entries;
    float *dense;  // children × dims
    float *bias;
};

class GroupTrainer {
   public:
    GroupTrainer(const TrainTree &tree, const TrainSettings &settings, const TrainKernel &kernel)
        : tree_(tree), settings_(settings), kernel_(kernel) {}

    // `nodes`: the children that are trained, one per lane.
    void train(const Block &block, const int32_t *nodes, const TrainGroup &group, const std::atomic<bool> &stop,
               TrainOutput &output, TaskWeights &kept);

   private:
    void set_up(const Block &block, const int32_t *nodes, const TrainGroup &group);
    void mark_members(const Block &block);
    void mark_positives(const Block &block, const int32_t *nodes);
    void set_costs(const Block &block, const int32_t *nodes);
    void gather(const Block &block);
    void gather_lone(int32_t feature, LoneEntry entry, float smallest);
    void find_peaks(const Block &block);
    void keep_largest(int lane);
    void hand_over(const int32_t *nodes, int64_t dims, TrainOutput &output, TaskWeights &kept);

    const TrainTree &tree_;
    const TrainSettings &settings_;
    const TrainKernel &kernel_;
    GroupView view_{};
    Scratch<LaneBits> positive_, member_, live_, large_;
    Scratch<int32_t> order_, cost_slot_;
    Scratch<float> dual_, weight_, dense_weight_, peak_;
    std::vector<float> positive_cost_, sizes_;
    float bias_weight_[16];
    std::vector<int32_t> feature_[16];
    std::vector<float> value_[16];
};

}  // namespace treetop
