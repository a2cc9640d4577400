#include "train_plan.hpp"

#include <algorithm>

namespace treetop {
namespace {

// Nodes with about as many positives need about as many epochs and keep about as many rows: they share a group.
void order_nodes(const TrainTree &tree, int64_t parent, std::vector<int32_t> &nodes) {
    const auto first = static_cast<std::ptrdiff_t>(nodes.size());
    for (int64_t child = tree.children_ptr[parent]; child < tree.children_ptr[parent + 1]; ++child)
        if (tree.positives(child) > 0) nodes.push_back(static_cast<int32_t>(child));
    std::stable_sort(nodes.begin() + first, nodes.end(),
                     [&](int32_t a, int32_t b) { return tree.positives(a) > tree.positives(b); });
}

int narrowest(int64_t lanes) { return lanes <= 4 ? 4 : lanes <= 8 ? 8 : 16; }

void group_nodes(int64_t first, int64_t last, std::vector<TrainGroup> &groups) {
    while (first < last) {
        const int lanes = static_cast<int>(std::min<int64_t>(16, last - first));
        groups.push_back({first, lanes, narrowest(lanes)});
        first += lanes;
    }
}

// Parents with a large share of the whole become one task per group; the others stay whole.
void split_large(const std::vector<TrainTask> &whole, std::vector<TrainTask> &tasks) {
    double total = 0;
    for (const TrainTask &task : whole) total += task.cost;
    for (const TrainTask &task : whole) {
        const int64_t groups = task.last_group - task.first_group;
        if (groups == 1 || task.cost * 16 < total) {
            tasks.push_back(task);
            continue;
        }
        for (int64_t g = task.first_group; g < task.last_group; ++g)
            tasks.push_back({task.parent, g, g + 1, true, task.cost / static_cast<double>(groups)});
    }
}

}  // namespace

TrainPlan plan_training(const TrainTree &tree) {
    TrainPlan plan;
    std::vector<TrainTask> whole;
    for (int64_t parent = 0; parent < tree.parents; ++parent) {
        const auto first_node = static_cast<int64_t>(plan.nodes.size());
        const auto first_group = static_cast<int64_t>(plan.groups.size());
        order_nodes(tree, parent, plan.nodes);
        group_nodes(first_node, static_cast<int64_t>(plan.nodes.size()), plan.groups);
        const auto last_group = static_cast<int64_t>(plan.groups.size());
        if (first_group == last_group) continue;
        const auto rows = static_cast<double>(tree.competing(parent) + 1);
        whole.push_back({parent, first_group, last_group, false, rows * static_cast<double>(last_group - first_group)});
    }
    std::stable_sort(whole.begin(), whole.end(), [](const TrainTask &a, const TrainTask &b) { return a.cost > b.cost; });
    split_large(whole, plan.tasks);
    return plan;
}

}  // namespace treetop
