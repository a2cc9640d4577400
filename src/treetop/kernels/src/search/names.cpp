// Label names that occur in texts, counted into the scores of ranked labels.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "search/best.hpp"

namespace treetop {
namespace {

constexpr int64_t block_size = 64, few_texts = 16;  // fewer are done before a thread would have begun
constexpr double rounding = 1e-5;  // more than a few products of floats are off by

// Where each term occurs: labels with the term in their name, and the term's share of that name.
struct NameIndex {
    const int64_t *start;
    const int32_t *label;
    const float *share;
};

// The share of every label's name that a text has. All zero between texts; kept by a thread from call to call, so that
// a single text does not pay for an array as long as the catalogue.
class Shares {
  public:
    void fit(size_t labels) {
        if (share_.size() < labels) share_.resize(labels, 0.0f);
    }

    // What one term says of the labels that have it. A label is noted the first time, without a branch.
    void add(const int32_t *label, const float *share, int64_t size) {
        if (touched_.size() < size_ + size) touched_.resize(2 * (size_ + size));
        for (int64_t i = 0; i < size; ++i) {
            float &own = share_[label[i]];
            touched_[size_] = label[i];
            size_ += own == 0.0f;
            own += share[i];
        }
    }

    // The share of a label, which is not asked for again.
    float take(int32_t label) { return std::exchange(share_[label], 0.0f); }

    // The labels that are left whose share is above the least.
    template <typename Use>
    void take_rest(float least, Use use) {
        for (size_t i = 0; i < size_; ++i)
            if (const float share = take(touched_[i]); share > least) use(touched_[i], share);
        size_ = 0;
    }

  private:
    std::vector<float> share_;
    std::vector<int32_t> touched_;
    size_t size_ = 0;
};

void check(const Matrix<int32_t> &listed, size_t labels) {
    const int32_t *end = listed.data() + listed.size();
    const int32_t *largest = std::max_element(listed.data(), end);
    if (largest != end && *largest >= int64_t(labels))
        throw std::out_of_range("label " + std::to_string(*largest) + " is beyond the " + std::to_string(labels) +
                                " that names are worth something for");
}

struct Scratch {
    Shares shares;
    std::vector<Candidate> pool;
};

nb::tuple rank_by_names(Vector<int64_t> start, Vector<int32_t> term, Matrix<int32_t> listed, Matrix<float> scores,
                        Vector<int64_t> index_start, Vector<int32_t> index_label, Vector<float> index_share,
                        Vector<float> worth, float most, Vector<uint8_t> allowed, int power, double floor, int64_t k,
                        int threads) {
    const int64_t rows = listed.shape(0), depth = listed.shape(1);
    const NameIndex index{index_start.data(), index_label.data(), index_share.data()};
    const bool all = allowed.size() == 0;
    check(listed, worth.size());
    std::vector<int32_t> labels_out(rows * k, -1);
    std::vector<float> scores_out(rows * k, 0.0f);

    auto evidence = [power](float worth, float share) {
        for (int i = 0; i < power; ++i) worth *= share;
        return worth;
    };
    const auto unlisted = static_cast<float>(floor);
    // A share with which no label that is not listed gets over a bar. Nearly all labels have less: a common word.
    auto without_chance = [&](float bar) {
        const double needed = (double(bar) - unlisted) / most;
        return needed > 0 && most > 0 ? static_cast<float>(std::pow(needed, 1.0 / power) * (1 - rounding)) : 0.0f;
    };
    auto rank = [&](Scratch &scratch, int64_t row) {
        Shares &shares = scratch.shares;
        shares.fit(worth.size());
        scratch.pool.resize(static_cast<size_t>(k));
        Best best(scratch.pool.data(), k);
        auto offer = [&](float value, int32_t label) { best.offer(make_candidate(value + 0.0f, 0.0f, label)); };
        for (int64_t i = start.data()[row]; i < start.data()[row + 1]; ++i) {
            const int64_t first = index.start[term.data()[i]], last = index.start[term.data()[i] + 1];
            shares.add(index.label + first, index.share + first, last - first);
        }
        for (int64_t place = row * depth; place < (row + 1) * depth && listed.data()[place] >= 0; ++place) {
            const int32_t label = listed.data()[place];
            offer(scores.data()[place] + evidence(worth.data()[label], shares.take(label)), label);
        }
        shares.take_rest(without_chance(best.bar()), [&](int32_t label, float share) {
            if ((all || allowed.data()[label]) && worth.data()[label] > 0.0f)
                offer(unlisted + evidence(worth.data()[label], share), label);
        });
        best.sort();
        for (int64_t place = 0; place < best.size(); ++place) {
            labels_out[row * k + place] = best.begin()[place].id;
            scores_out[row * k + place] = best.begin()[place].score();
        }
    };
    auto own = []() -> Scratch & {
        static thread_local Scratch scratch;
        return scratch;
    };
    if (rows <= few_texts || threads == 1) {
        nb::gil_scoped_release release;
        for (int64_t row = 0; row < rows; ++row) rank(own(), row);
    } else {
        parallel_for((rows + block_size - 1) / block_size, threads, [] { return Scratch(); },
                     [&](Scratch &scratch, int64_t block) {
                         const int64_t end = std::min(rows, (block + 1) * block_size);
                         for (int64_t row = block * block_size; row < end; ++row) rank(scratch, row);
                     });
    }
    return nb::make_tuple(to_numpy(std::move(labels_out), rows, k), to_numpy(std::move(scores_out), rows, k));
}

}  // namespace

void bind_names(nb::module_ &module) {
    using namespace nb::literals;
    module.def("rank_by_names", &rank_by_names, "start"_a, "term"_a, "listed"_a, "scores"_a, "index_start"_a,
               "index_label"_a, "index_share"_a, "worth"_a, "most"_a, "allowed"_a, "power"_a, "floor"_a, "k"_a, "threads"_a);
}

}  // namespace treetop
