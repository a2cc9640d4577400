#include "train/plan.hpp"

#include <algorithm>
#include <cmath>

#include "train/problem.hpp"

namespace treetop {
namespace {

// Nodes with many positives take many epochs: they go first, and the quick ones fill the lanes that become free.
void list_nodes(const TrainTree &tree, int64_t parent, std::vector<int32_t> &nodes) {
    const auto first = static_cast<std::ptrdiff_t>(nodes.size());
    for (int64_t child = tree.children_ptr[parent]; child < tree.children_ptr[parent + 1]; ++child)
        if (tree.positives(child) > 0) nodes.push_back(static_cast<int32_t>(child));
    std::stable_sort(nodes.begin() + first, nodes.end(),
                     [&](int32_t a, int32_t b) { return tree.positives(a) > tree.positives(b); });
}

// In how many pieces to cut a parent: one unless it is a large share of its level, and never with idle lanes.
int64_t pieces(const TrainTask &task, double level_cost) {
    constexpr double large = 1.0 / 16, piece = 1.0 / 64;
    if (task.cost < large * level_cost) return 1;
    const auto wanted = static_cast<int64_t>(std::ceil(task.cost / (piece * level_cost)));
    return std::max<int64_t>(1, std::min(wanted, (task.last - task.first) / most_lanes));
}

void cut(const TrainTask &task, int64_t count, std::vector<TrainTask> &tasks) {
    const int64_t nodes = task.last - task.first;
    for (int64_t i = 0; i < count; ++i)
        tasks.push_back({task.parent, task.first + nodes * i / count, task.first + nodes * (i + 1) / count, count > 1,
                         task.cost / static_cast<double>(count)});
}

}  // namespace

TrainPlan plan_training(const TrainTree &tree) {
    TrainPlan plan;
    std::vector<TrainTask> whole;
    for (int64_t parent = 0; parent < tree.parents; ++parent) {
        const auto first = static_cast<int64_t>(plan.nodes.size());
        list_nodes(tree, parent, plan.nodes);
        const auto last = static_cast<int64_t>(plan.nodes.size());
        if (first == last) continue;
        const double cost = static_cast<double>(tree.competing(parent) + 1) * static_cast<double>(last - first);
        whole.push_back({parent, first, last, false, cost});
    }
    std::stable_sort(whole.begin(), whole.end(), [](const TrainTask &a, const TrainTask &b) { return a.cost > b.cost; });
    for (const TrainTask &task : whole) cut(task, pieces(task, tree.level_cost), plan.tasks);
    return plan;
}

}  // namespace treetop
