// Label trees by k-means on label features: recursive balanced 2-means, and unbalanced k-means with many centres.
//
// Sums of rows are updated only by the rows that moved, and lengths of centres come out of the scores themselves
// (|Σ z|² = Σ <z, Σ z>), so an iteration is one pass over the features of the labels and nothing as wide as the
// feature space is ever cleared or scanned.
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

#include "arrays.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace treetop {
namespace {

struct Options {
    int max_iter;
    double tolerance;
    bool spherical;
    uint64_t seed;
    int threads;
};

// Label features: a sparse block, a dense block, or both side by side.
struct Labels {
    Rows sparse;
    const float *dense;
    int64_t dims;
    int64_t count;

    const float *row(int64_t label) const { return dense + label * dims; }
};

// Sums of the labels on the left and on the right, interleaved so that one look-up serves both sides.
struct Pair {
    float left = 0, right = 0;
};

struct Centres {
    std::vector<Pair> sparse;
    std::vector<Pair> dense;

    explicit Centres(const Labels &labels) : sparse(labels.sparse.columns), dense(labels.dims) {}

    void add(const Labels &labels, int64_t label, float Pair::*side, float sign) {
        const Rows &x = labels.sparse;
        for (int64_t k = x.begin(label); k < x.end(label); ++k) sparse[x.column[k]].*side += sign * x.value[k];
        const float *row = labels.row(label);
        for (int64_t k = 0; k < labels.dims; ++k) dense[k].*side += sign * row[k];
    }

    void forget(const Labels &labels, int64_t label) {
        const Rows &x = labels.sparse;
        for (int64_t k = x.begin(label); k < x.end(label); ++k) sparse[x.column[k]] = Pair();
    }

    Pair dot(const Labels &labels, int64_t label) const {
        Pair total[4];
        const Rows &x = labels.sparse;
        int64_t k = x.begin(label);
        const int64_t end = x.end(label);
        for (; k + 4 <= end; k += 4)
            for (int lane = 0; lane < 4; ++lane) accumulate(total[lane], x.value[k + lane], sparse[x.column[k + lane]]);
        for (; k < end; ++k) accumulate(total[0], x.value[k], sparse[x.column[k]]);
        const float *row = labels.row(label);
        for (int64_t j = 0; j < labels.dims; ++j) accumulate(total[j & 3], row[j], dense[j]);
        return {(total[0].left + total[1].left) + (total[2].left + total[3].left),
                (total[0].right + total[1].right) + (total[2].right + total[3].right)};
    }

private:
    static void accumulate(Pair &total, float value, const Pair &centre) {
        total.left += value * centre.left;
        total.right += value * centre.right;
    }
};

// What one thread needs to split nodes.
struct Workspace {
    Centres centres;
    std::vector<Pair> dots;
    std::vector<float> scores, ranked;
    std::vector<char> right, before;
    std::vector<int32_t> other;

    explicit Workspace(const Labels &labels) : centres(labels) {}

    void resize(int64_t n) {
        dots.resize(n);
        scores.resize(n);
        right.assign(n, 0);
        other.resize(n);
    }
};

float inverse(double x) { return x > 0 ? static_cast<float>(1 / x) : 0.0f; }

// Labels with the n/2 lowest scores go left; of equal scores, the lower label numbers.
void halve(Workspace &work) {
    const int64_t n = work.scores.size(), half = n / 2;
    work.ranked = work.scores;
    std::nth_element(work.ranked.begin(), work.ranked.begin() + half, work.ranked.end());
    const float middle = work.ranked[half];
    int64_t ties = half;
    for (float score : work.scores) ties -= score < middle;
    for (int64_t i = 0; i < n; ++i) {
        const float score = work.scores[i];
        const bool left = score < middle || (score == middle && ties > 0);
        if (score == middle) --ties;
        work.right[i] = !left;
    }
}

void score(const Labels &labels, const int32_t *node, const Options &options, Workspace &work) {
    const int64_t n = work.scores.size();
    double left = 0, right = 0;
    for (int64_t i = 0; i < n; ++i) {
        work.dots[i] = work.centres.dot(labels, node[i]);
        if (work.right[i])
            right += work.dots[i].right;
        else
            left += work.dots[i].left;
    }
    const float left_scale = options.spherical ? inverse(std::sqrt(std::max(left, 0.0))) : inverse(n / 2);
    const float right_scale = options.spherical ? inverse(std::sqrt(std::max(right, 0.0))) : inverse(n - n / 2);
    for (int64_t i = 0; i < n; ++i) work.scores[i] = work.dots[i].right * right_scale - work.dots[i].left * left_scale;
}

void start_from_two_labels(const Labels &labels, const int32_t *node, Random &random, Workspace &work) {
    const int64_t n = work.scores.size();
    const int64_t a = random.below(n), b = (a + 1 + random.below(n - 1)) % n;
    work.centres.add(labels, node[a], &Pair::left, 1);
    work.centres.add(labels, node[b], &Pair::right, 1);
    for (int64_t i = 0; i < n; ++i) {
        const Pair dot = work.centres.dot(labels, node[i]);
        work.scores[i] = dot.right - dot.left;
    }
    work.centres.add(labels, node[a], &Pair::left, -1);
    work.centres.add(labels, node[b], &Pair::right, -1);
    halve(work);
    for (int64_t i = 0; i < n; ++i) work.centres.add(labels, node[i], work.right[i] ? &Pair::right : &Pair::left, 1);
}

int64_t move_labels(const Labels &labels, const int32_t *node, Workspace &work) {
    int64_t moved = 0;
    for (size_t i = 0; i < work.right.size(); ++i) {
        if (work.right[i] == work.before[i]) continue;
        ++moved;
        work.centres.add(labels, node[i], work.right[i] ? &Pair::right : &Pair::left, 1);
        work.centres.add(labels, node[i], work.right[i] ? &Pair::left : &Pair::right, -1);
    }
    return moved;
}

// Left half first, each half still in order of labels.
void partition(int32_t *node, Workspace &work) {
    const int64_t n = work.right.size();
    int64_t left = 0, right = n / 2;
    for (int64_t i = 0; i < n; ++i) work.other[work.right[i] ? right++ : left++] = node[i];
    std::copy(work.other.begin(), work.other.end(), node);
}

void split(const Labels &labels, int32_t *node, int64_t n, const Options &options, Random random, Workspace &work) {
    if (n < 2) return;
    work.resize(n);
    start_from_two_labels(labels, node, random, work);
    for (int iteration = 1; iteration < options.max_iter; ++iteration) {
        score(labels, node, options, work);
        work.before = work.right;
        halve(work);
        if (move_labels(labels, node, work) <= options.tolerance * n) break;
    }
    for (int64_t i = 0; i < n; ++i) work.centres.forget(labels, node[i]);
    std::fill(work.centres.dense.begin(), work.centres.dense.end(), Pair());
    partition(node, work);
}

nb::tuple kmeans_tree(Vector<int64_t> start, Vector<int32_t> column, Vector<float> value, int64_t columns,
                      Matrix<float> dense, int depth, int max_iter, double tolerance, bool spherical, uint64_t seed,
                      int threads) {
    const int64_t count = dense.shape(0);
    const Labels labels{{start.data(), column.data(), value.data(), count, columns}, dense.data(),
                        static_cast<int64_t>(dense.shape(1)), count};
    const Options options{max_iter, tolerance, spherical, seed, threads};
    std::vector<int32_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::vector<int64_t> bounds{0, count};
    for (int level = 0; level < depth; ++level) {
        const int64_t nodes = bounds.size() - 1;
        parallel_for(
            nodes, threads, [&] { return Workspace(labels); },
            [&](Workspace &work, int64_t node) {
                split(labels, order.data() + bounds[node], bounds[node + 1] - bounds[node], options,
                      Random(seed, level, node), work);
            });
        std::vector<int64_t> halves{0};
        for (int64_t node = 0; node < nodes; ++node) {
            halves.push_back(bounds[node] + (bounds[node + 1] - bounds[node]) / 2);
            halves.push_back(bounds[node + 1]);
        }
        bounds = std::move(halves);
    }
    return nb::make_tuple(to_numpy(std::move(order)), to_numpy(std::move(bounds)));
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

// Calls work(task) for every task, on this thread or on several; the results may not depend on which.
using Run = std::function<void(int64_t tasks, const std::function<void(int64_t)> &work)>;

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
        for (int iteration = 1; iteration < options_.max_iter; ++iteration) {
            measure(centre);
            const std::vector<int32_t> before(centre, centre + n_);
            assign(centre);
            if (move(before, centre) <= options_.tolerance * n_) break;
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
    void measure(const int32_t *centre) {
        std::vector<double> squares = sums_.squared_lengths();
        if (options_.spherical) {
            for (int64_t c = 0; c < ways_; ++c) scale_[c] = inverse(std::sqrt(squares[c]));
            return;
        }
        std::vector<double> sizes(ways_, 0.0);
        for (int64_t i = 0; i < n_; ++i) sizes[centre[i]] += 1;
        for (int64_t c = 0; c < ways_; ++c) {
            scale_[c] = inverse(sizes[c]);
            squares[c] *= double(scale_[c]) * scale_[c];
        }
        measure_shift(squares);
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
        const Run here = [](int64_t tasks, const std::function<void(int64_t)> &work) {
            for (int64_t task = 0; task < tasks; ++task) work(task);
        };
        parallel_for(nodes, threads, numbers, [&](std::vector<int32_t> &number, int64_t j) { solve(number, j, here); });
    } else {
        const Run spread = [&](int64_t tasks, const std::function<void(int64_t)> &work) {
            parallel_for(tasks, threads, [] { return 0; }, [&](int, int64_t task) { work(task); });
        };
        std::vector<int32_t> number = numbers();
        for (int64_t j = 0; j < nodes; ++j) solve(number, j, spread);
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
