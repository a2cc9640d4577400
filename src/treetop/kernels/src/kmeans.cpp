// Label trees by k-means on label features: recursive balanced 2-means, and unbalanced k-means with many centres.
//
// Sums of rows are updated only by the rows that moved, and lengths of centres come out of the scores themselves
// (|Σ z|² = Σ <z, Σ z>), so an iteration is one pass over the features of the labels and nothing as wide as the
// feature space is ever cleared or scanned.
#include <array>
#include <cmath>
#include <numeric>

#include "bisection.hpp"

namespace treetop {
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

nb::tuple kmeans_tree(Vector<int64_t> start, Vector<int32_t> column, Vector<float> value, int64_t columns,
                      Matrix<float> dense, int depth, int max_iter, double tolerance, bool spherical, uint64_t seed,
                      int threads) {
    const int64_t count = dense.shape(0);
    const Labels labels{{start.data(), column.data(), value.data(), count, columns}, dense.data(),
                        static_cast<int64_t>(dense.shape(1)), count};
    const Options options{max_iter, tolerance, spherical, seed, threads};
    if (count == 0) throw nb::value_error("there are no labels");
    return nb::make_tuple(to_numpy(BalancedTree(labels, options, depth).grow()), to_numpy(leaf_bounds(count, depth)));
}

// ---------------------------------------------------------------------------------------------------------------------
// k-means with many centres, not balanced

// The rows of one node with its features numbered 0, 1, 2, … in order of appearance, so that the centres of the node
// are as small as they can be.
struct LocalRows {
    std::vector<int64_t> start{0};
    std::vector<int32_t> column;
    int64_t columns = 0;

    LocalRows(const Labels &labels, const int32_t *node, int64_t n, std::vector<int32_t> &number) {
        const Rows &x = labels.sparse;
        for (int64_t i = 0; i < n; ++i) start.push_back(start.back() + x.size(node[i]));
        column.reserve(start.back());
        for (int64_t i = 0; i < n; ++i)
            for (int64_t k = x.begin(node[i]); k < x.end(node[i]); ++k) {
                int32_t &local = number[x.column[k]];
                if (local < 0) local = static_cast<int32_t>(columns++);
                column.push_back(local);
            }
        for (int64_t i = 0; i < n; ++i)
            for (int64_t k = x.begin(node[i]); k < x.end(node[i]); ++k) number[x.column[k]] = -1;
    }
};

constexpr int lanes = 32;

// The sums of the labels of each centre, stored feature by feature: one row of the matrix holds that feature of all.
class Sums {
public:
    Sums(const Labels &labels, const int32_t *node, const LocalRows &rows, int64_t ways)
        : labels_(labels), node_(node), rows_(rows), width_((ways + lanes - 1) / lanes * lanes),
          sum_((rows.columns + labels.dims) * width_, 0.0f) {}

    void clear() { std::fill(sum_.begin(), sum_.end(), 0.0f); }

    void add(int64_t i, int64_t centre, float sign) {
        const float *value = labels_.sparse.value + labels_.sparse.begin(node_[i]);
        for (int64_t k = rows_.start[i]; k < rows_.start[i + 1]; ++k)
            sum_[rows_.column[k] * width_ + centre] += sign * value[k - rows_.start[i]];
        const float *row = labels_.row(node_[i]);
        for (int64_t j = 0; j < labels_.dims; ++j) sum_[(rows_.columns + j) * width_ + centre] += sign * row[j];
    }

    // The products of one label with every centre.
    void dot(int64_t i, float *result) const {
        const float *value = labels_.sparse.value + labels_.sparse.begin(node_[i]);
        const int64_t first = rows_.start[i], size = rows_.start[i + 1] - first;
        for (int64_t c = 0; c < width_; c += lanes) {
            float total[lanes] = {};
            for (int64_t k = 0; k < size; ++k)
                accumulate(total, value[k], &sum_[rows_.column[first + k] * width_ + c]);
            for (int64_t j = 0; j < labels_.dims; ++j)
                accumulate(total, labels_.row(node_[i])[j], &sum_[(rows_.columns + j) * width_ + c]);
            std::copy(total, total + lanes, result + c);
        }
    }

    std::vector<double> squared_lengths() const {
        std::vector<double> squares(width_, 0.0);
        for (size_t k = 0; k < sum_.size(); k += width_)
            for (int64_t c = 0; c < width_; ++c) squares[c] += double(sum_[k + c]) * sum_[k + c];
        return squares;
    }

    int64_t width() const { return width_; }

private:
    static void accumulate(float *total, float value, const float *sum) {
        for (int c = 0; c < lanes; ++c) total[c] += value * sum[c];
    }

    const Labels &labels_;
    const int32_t *node_;
    const LocalRows &rows_;
    int64_t width_;
    std::vector<float> sum_;
};

// k-means of the n labels of one node; centre[i] is the centre of its i-th label.
class Ways {
public:
    Ways(const Labels &labels, const int32_t *node, int64_t n, int64_t ways, const Options &options, const Run &run,
         std::vector<int32_t> &number)
        : n_(n), ways_(std::min(ways, n)), options_(options), run_(run), rows_(labels, node, n, number),
          sums_(labels, node, rows_, ways_), scale_(sums_.width(), 1.0f), shift_(sums_.width(), 0.0f) {}

    void solve(Random random, int32_t *centre) {
        seed(random);
        assign(centre);
        sums_.clear();
        move(std::vector<int32_t>(n_, -1), centre);
        double reached = 0;
        for (int iteration = 1; iteration < options_.max_iter; ++iteration) {
            const double similarity = measure(centre), gain = similarity - std::exchange(reached, similarity);
            if (iteration > 1 && gain < options_.tolerance * n_) break;
            const std::vector<int32_t> before(centre, centre + n_);
            assign(centre);
            if (move(before, centre) == 0) break;
        }
        drop_empty(centre);
    }

private:
    // Distinct labels, by the first steps of a shuffle.
    void seed(Random &random) {
        std::vector<int64_t> deck(n_);
        std::iota(deck.begin(), deck.end(), 0);
        for (int64_t c = 0; c < ways_; ++c) {
            std::swap(deck[c], deck[c + random.below(n_ - c)]);
            sums_.add(deck[c], c, 1);
        }
        if (!options_.spherical) measure_shift(sums_.squared_lengths());
    }

    // To the centre of the highest score; of equal ones, the first.
    void assign(int32_t *centre) {
        constexpr int64_t block = 256;
        run_((n_ + block - 1) / block, [&](int64_t b) {
            std::vector<float> dots(sums_.width());
            for (int64_t i = b * block; i < std::min(n_, (b + 1) * block); ++i) {
                sums_.dot(i, dots.data());
                int32_t best = 0;
                for (int32_t c = 0; c < ways_; ++c) {
                    dots[c] = dots[c] * scale_[c] - shift_[c];
                    if (dots[c] > dots[best]) best = c;
                }
                centre[i] = best;
            }
        });
    }

    // A task owns some centres and adds their labels in order, so that no two threads write to one sum.
    int64_t move(const std::vector<int32_t> &before, const int32_t *centre) {
        constexpr int64_t block = 8;
        run_((ways_ + block - 1) / block, [&](int64_t b) {
            for (int64_t i = 0; i < n_; ++i) {
                if (before[i] == centre[i]) continue;
                if (before[i] >= 0 && before[i] / block == b) sums_.add(i, before[i], -1);
                if (centre[i] / block == b) sums_.add(i, centre[i], 1);
            }
        });
        int64_t moved = 0;
        for (int64_t i = 0; i < n_; ++i) moved += before[i] != centre[i];
        return moved;
    }

    // Spherical: cosine to the sum. Otherwise: nearest mean, |z - m|² = |z|² - 2 (<z, m> - |m|²/2).
    // Returns the sum over labels of the similarity to their centre.
    double measure(const int32_t *centre) {
        std::vector<double> squares = sums_.squared_lengths(), sizes(ways_, 0.0);
        for (int64_t i = 0; i < n_; ++i) sizes[centre[i]] += 1;
        double similarity = 0;
        for (int64_t c = 0; c < ways_; ++c) {
            scale_[c] = inverse(options_.spherical ? std::sqrt(squares[c]) : sizes[c]);
            similarity += squares[c] * scale_[c];
            squares[c] *= double(scale_[c]) * scale_[c];
        }
        if (!options_.spherical) measure_shift(squares);
        return similarity;
    }

    void measure_shift(const std::vector<double> &squares) {
        for (int64_t c = 0; c < ways_; ++c) shift_[c] = static_cast<float>(squares[c] / 2);
    }

    void drop_empty(int32_t *centre) const {
        std::vector<int32_t> number(ways_, 0);
        for (int64_t i = 0; i < n_; ++i) number[centre[i]] = 1;
        std::partial_sum(number.begin(), number.end(), number.begin());
        for (int64_t i = 0; i < n_; ++i) centre[i] = number[centre[i]] - 1;
    }

    int64_t n_, ways_;
    const Options &options_;
    const Run &run_;
    LocalRows rows_;
    Sums sums_;
    std::vector<float> scale_, shift_;
};

// Splits the nodes order[bounds[j]:bounds[j+1]] of one level; the j-th result tells the child of each label.
NumpyVector<int32_t> kmeans_split(Vector<int64_t> start, Vector<int32_t> column, Vector<float> value, int64_t columns,
                                  Matrix<float> dense, Vector<int32_t> order, Vector<int64_t> bounds, int64_t ways,
                                  int64_t level, int max_iter, double tolerance, bool spherical, uint64_t seed,
                                  int threads) {
    const int64_t count = dense.shape(0);
    const Labels labels{{start.data(), column.data(), value.data(), count, columns}, dense.data(),
                        static_cast<int64_t>(dense.shape(1)), count};
    const Options options{max_iter, tolerance, spherical, seed, threads};
    const int64_t nodes = bounds.size() - 1;
    std::vector<int32_t> child(order.size());
    auto numbers = [&] { return std::vector<int32_t>(columns, -1); };
    auto solve = [&](std::vector<int32_t> &number, int64_t j, const Run &run) {
        const int64_t first = bounds.data()[j], n = bounds.data()[j + 1] - first;
        if (n == 0) return;
        Ways(labels, order.data() + first, n, ways, options, run, number)
            .solve(Random(seed, level, j), child.data() + first);
    };
    if (nodes >= 4 * threads) {  // enough nodes to keep every thread busy with its own
        parallel_for(nodes, threads, numbers,
                     [&](std::vector<int32_t> &number, int64_t j) { solve(number, j, run_here); });
    } else {
        std::vector<int32_t> number = numbers();
        for (int64_t j = 0; j < nodes; ++j) solve(number, j, run_on(threads));
    }
    return to_numpy(std::move(child));
}

}  // namespace

void bind_kmeans(nb::module_ &module) {
    module.def("kmeans_tree", &kmeans_tree, nb::arg("start"), nb::arg("column"), nb::arg("value"), nb::arg("columns"),
               nb::arg("dense"), nb::arg("depth"), nb::arg("max_iter"), nb::arg("tolerance"), nb::arg("spherical"),
               nb::arg("seed"), nb::arg("threads"));
    module.def("kmeans_split", &kmeans_split, nb::arg("start"), nb::arg("column"), nb::arg("value"), nb::arg("columns"),
               nb::arg("dense"), nb::arg("order"), nb::arg("bounds"), nb::arg("ways"), nb::arg("level"),
               nb::arg("max_iter"), nb::arg("tolerance"), nb::arg("spherical"), nb::arg("seed"), nb::arg("threads"));
}

}  // namespace treetop
