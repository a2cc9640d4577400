// Feeds the solver's lanes with sibling nodes and collects the weights worth keeping.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "train/parent_block.hpp"
#include "train/plan.hpp"
#include "train/problem.hpp"
#include "train/scratch.hpp"

namespace treetop {

// Weights of the nodes of a task, one node after the other; `TrainOutput::entries` says how many each has.
struct TaskWeights {
    std::vector<int32_t> node;
    std::vector<int32_t> feature;
    std::vector<float> value;
};

// Where results go; indexed by child. Each task writes only to its own children.
struct TrainOutput {
    int64_t *entries;
    float *dense;  // children × dims
    float *bias;
};

class LaneTrainer {
   public:
    LaneTrainer(const TrainTree &tree, const TrainSettings &settings, const TrainKernel &kernel)
        : tree_(tree), settings_(settings), kernel_(kernel) {}

    // Trains the children nodes[0 .. count) of the block's parent.
    void train(const ParentBlock &block, const int32_t *nodes, int64_t count, const std::atomic<bool> &stop,
               TrainOutput &output, TaskWeights &kept);

   private:
    void set_up(uint64_t first_node);
    uint32_t exchange(uint32_t finished);
    void clear(int lane);
    void place(int lane);
    void set_positive(int lane, int64_t row, float cost);
    void gather(uint32_t lanes);
    void gather_lone(uint32_t lanes, int32_t feature, LoneEntry entry, float smallest);
    void find_peaks(uint32_t lanes);
    void keep_largest(int lane);
    void hand_over(int lane);

    const TrainTree &tree_;
    const TrainSettings &settings_;
    const TrainKernel &kernel_;

    // The task at hand.
    const ParentBlock *block_ = nullptr;
    BlockView rows_{};
    TrainOutput *output_ = nullptr;
    TaskWeights *kept_ = nullptr;
    const int32_t *next_ = nullptr, *last_ = nullptr;  // nodes that no lane has had yet
    int32_t node_[most_lanes];                         // the node of each lane
    uint32_t empty_ = 0;                               // lanes that have not had a node yet
    uint32_t finished_ = 0;                            // lanes whose results are still to be taken

    LanesView lanes_{};
    Scratch<LaneBits> positive_, member_, live_, large_;
    Scratch<int32_t> order_, cost_slot_;
    Scratch<float> dual_, weight_, dense_weight_, peak_;
    std::vector<float> positive_cost_, sizes_;
    float bias_weight_[most_lanes];
    std::vector<int32_t> feature_[most_lanes];
    std::vector<float> value_[most_lanes];
};

}  // namespace treetop
