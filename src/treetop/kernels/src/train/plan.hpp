// Who trains together, and in which order: decided by the data alone, so that it is the same for any thread count, and
// however a level is divided over several calls.
#pragma once

#include <cstdint>
#include <vector>

namespace treetop {

// The arguments of train_nodes that say which texts train which nodes.
struct TrainTree {
    int64_t parents;
    int64_t children;
    const int64_t *children_ptr;
    const int64_t *shortlisted_ptr;
    const int32_t *shortlisted;
    const int64_t *positive_ptr;
    const int32_t *positive;
    const float *positive_cost;  // or null
    const float *negative_cost;  // or null
    int64_t first_child;         // the number in the level of the first child here
    double level_cost;           // of all parents of the level, those trained elsewhere included

    int64_t positives(int64_t child) const { return positive_ptr[child + 1] - positive_ptr[child]; }
    int64_t competing(int64_t parent) const { return shortlisted_ptr[parent + 1] - shortlisted_ptr[parent]; }
};

// Some or all children of a parent.
struct TrainTask {
    int64_t parent;
    int64_t first, last;  // its nodes are plan.nodes[first .. last)
    bool shared;          // other tasks train the other children of this parent
    double cost;
};

struct TrainPlan {
    std::vector<int32_t> nodes;    // children with positives, parent by parent, those with most positives first
    std::vector<TrainTask> tasks;  // longest first
};

TrainPlan plan_training(const TrainTree &tree);

}  // namespace treetop
