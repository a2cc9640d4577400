// Label trees by k-means on label features: recursive balanced 2-means, and unbalanced k-means with many centres.
#include <array>

#include "tree/bisection.hpp"
#include "tree/ways.hpp"

namespace treetop {
namespace kmeans {
namespace {

// Halves nodes down to the leaves. Nodes near the root are split one after another, each by all threads; below them
// every thread grows whole branches. Where one ends and the other begins depends on the labels only.
class BalancedTree {
public:
    BalancedTree(const Labels &labels, const Options &options, int depth)
        : labels_(labels), options_(options), depth_(depth), order_(labels.count) {}

    // The labels, leaf by leaf.
    std::vector<int32_t> grow() {
        const Run run = run_on(options_.threads);
        Bundle all;
        all.take_all(labels_.sparse, run);
        std::vector<std::vector<int32_t>> nodes{every_row(labels_.count)};
        const int top = top_levels();
        for (int level = 0; level < top; ++level) {
            std::vector<std::vector<int32_t>> below;
            for (size_t node = 0; node < nodes.size(); ++node)
                for (auto &half : split(all, nodes[node], level, node, run)) below.push_back(std::move(half));
            nodes = std::move(below);
        }
        std::vector<int64_t> first{0};
        for (const auto &node : nodes) first.push_back(first.back() + node.size());
        parallel_for(
            nodes.size(), options_.threads, [&] { return std::vector<Bundle>(depth_ - top + 1); },
            [&](std::vector<Bundle> &bundles, int64_t node) {
                grow_branch(all, nodes[node], top, node, first[node], bundles.data());
            });
        return std::move(order_);
    }

private:
    // Enough branches to share out, of no more than some entries each.
    int top_levels() const {
        constexpr int64_t worth_sharing = 1 << 17, most_entries = 1 << 24;
        const int64_t entries = labels_.sparse.end(labels_.count - 1) + labels_.count * labels_.dims;
        if (entries < worth_sharing) return 0;
        int level = 3;
        while ((entries >> level) > most_entries) ++level;
        return std::min(level, depth_);
    }

    static std::vector<int32_t> every_row(int64_t count) {
        std::vector<int32_t> rows(count);
        std::iota(rows.begin(), rows.end(), 0);
        return rows;
    }

    std::array<std::vector<int32_t>, 2> split(const Bundle &bundle, const std::vector<int32_t> &rows, int level,
                                              int64_t node, const Run &run) const {
        if (rows.size() < 2) return {std::vector<int32_t>(), rows};
        const std::vector<int8_t> side =
            Bisection(labels_, bundle, rows, options_, run).solve(Random(options_.seed, level, node));
        std::array<std::vector<int32_t>, 2> halves;
        for (size_t i = 0; i < rows.size(); ++i) halves[side[i]].push_back(rows[i]);
        return halves;
    }

    // `bundles` has room for one bundle per level below.
    void grow_branch(const Bundle &above, const std::vector<int32_t> &rows, int level, int64_t node, int64_t first,
                     Bundle *bundles) {
        if (level == depth_) {
            for (int32_t row : rows) order_[first++] = above.label(row);
            return;
        }
        Bundle &mine = bundles[0];
        mine.take(above, rows);
        const auto halves = split(mine, every_row(mine.rows()), level, node, run_here);
        grow_branch(mine, halves[0], level + 1, 2 * node, first, bundles + 1);
        grow_branch(mine, halves[1], level + 1, 2 * node + 1, first + halves[0].size(), bundles + 1);
    }

    const Labels &labels_;
    const Options &options_;
    const int depth_;
    std::vector<int32_t> order_;
};

std::vector<int64_t> leaf_bounds(int64_t labels, int depth) {
    std::vector<int64_t> bounds{0, labels};
    for (int level = 0; level < depth; ++level) {
        std::vector<int64_t> halves{0};
        for (size_t node = 0; node + 1 < bounds.size(); ++node) {
            halves.push_back(bounds[node] + (bounds[node + 1] - bounds[node]) / 2);
            halves.push_back(bounds[node + 1]);
        }
        bounds = std::move(halves);
    }
    return bounds;
}

Labels labels_of(const Vector<int64_t> &start, const Vector<int32_t> &column, const Vector<float> &value,
                 int64_t columns, const Matrix<float> &dense) {
    const int64_t count = dense.shape(0), dims = dense.shape(1);
    return {{start.data(), column.data(), value.data(), count, columns}, dense.data(), dims, count};
}

nb::tuple kmeans_tree(Vector<int64_t> start, Vector<int32_t> column, Vector<float> value, int64_t columns,
                      Matrix<float> dense, int depth, int max_iter, double tolerance, bool spherical, uint64_t seed,
                      int threads) {
    const Labels labels = labels_of(start, column, value, columns, dense);
    const Options options{max_iter, tolerance, spherical, seed, threads};
    if (labels.count == 0) throw nb::value_error("there are no labels");
    std::vector<int32_t> order = BalancedTree(labels, options, depth).grow();
    return nb::make_tuple(to_numpy(std::move(order)), to_numpy(leaf_bounds(labels.count, depth)));
}

// Splits the nodes order[bounds[j]:bounds[j+1]] of one level; the j-th result tells the child of each label.
NumpyVector<int32_t> kmeans_split(Vector<int64_t> start, Vector<int32_t> column, Vector<float> value, int64_t columns,
                                  Matrix<float> dense, Vector<int32_t> order, Vector<int64_t> bounds, int64_t ways,
                                  int64_t level, int max_iter, double tolerance, bool spherical, uint64_t seed,
                                  int threads) {
    const Labels labels = labels_of(start, column, value, columns, dense);
    const Options options{max_iter, tolerance, spherical, seed, threads};
    const int64_t nodes = bounds.size() - 1;
    const Run run = run_on(threads);
    Bundle all;
    all.take_all(labels.sparse, run);
    std::vector<int32_t> child(order.size());
    struct State {
        Bundle bundle;
        std::vector<float> memory;
    };
    auto split = [&](State &state, int64_t node, const Run &how) {
        const int64_t first = bounds.data()[node], last = bounds.data()[node + 1];
        if (first == last) return;
        state.bundle.take(all, std::vector<int32_t>(order.data() + first, order.data() + last));
        Ways split(labels, state.bundle, ways, options, how, state.memory);
        const std::vector<int32_t> centres = split.solve(Random(seed, level, node));
        std::copy(centres.begin(), centres.end(), child.begin() + first);
    };
    if (nodes >= 4 * threads) {  // enough nodes to keep every thread busy with its own
        parallel_for(nodes, threads, [] { return State(); },
                     [&](State &state, int64_t node) { split(state, node, run_here); });
    } else {
        State state;
        for (int64_t node = 0; node < nodes; ++node) split(state, node, run);
    }
    return to_numpy(std::move(child));
}

}  // namespace
}  // namespace kmeans

void bind_kmeans(nb::module_ &module) {
    using namespace kmeans;
    module.def("kmeans_tree", &kmeans_tree, nb::arg("start"), nb::arg("column"), nb::arg("value"), nb::arg("columns"),
               nb::arg("dense"), nb::arg("depth"), nb::arg("max_iter"), nb::arg("tolerance"), nb::arg("spherical"),
               nb::arg("seed"), nb::arg("threads"));
    module.def("kmeans_split", &kmeans_split, nb::arg("start"), nb::arg("column"), nb::arg("value"), nb::arg("columns"),
               nb::arg("dense"), nb::arg("order"), nb::arg("bounds"), nb::arg("ways"), nb::arg("level"),
               nb::arg("max_iter"), nb::arg("tolerance"), nb::arg("spherical"), nb::arg("seed"), nb::arg("threads"));
}

}  // namespace treetop
