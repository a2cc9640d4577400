// Label names that occur in texts, counted into the scores of ranked labels.
#include <algorithm>
#include <vector>

#include "common/arrays.hpp"
#include "common/parallel.hpp"

namespace treetop {
namespace {

constexpr int64_t block_size = 64, few_texts = 16;  // fewer are done before a thread would have begun

// Where each term occurs: labels with the term in their name, and the term's share of that name.
struct NameIndex {
    const int64_t *start;
    const int32_t *label;
    const float *share;
};

struct Found {
    float value;
    int32_t label;

    bool before(const Found &other) const { return value > other.value || (value == other.value && label < other.label); }
};

// The share of every label's name that a text has. All zero between texts; kept by a thread from call to call, so that
// a single text does not pay for an array as long as the catalogue.
class Shares {
  public:
    void fit(size_t labels) {
        if (share_.size() < labels) share_.resize(labels, 0.0f);
    }

    void add(int32_t label, float share) {
        if (share_[label] == 0.0f) touched_.push_back(label);
        share_[label] += share;
    }

    // The share of a label, which is not asked for again.
    float take(int32_t label) {
        const float share = share_[label];
        share_[label] = 0.0f;
        return share;
    }

    template <typename Use>
    void take_rest(Use use) {
        for (const int32_t label : touched_)
            if (const float share = take(label); share > 0.0f) use(label, share);
        touched_.clear();
    }

  private:
    std::vector<float> share_;
    std::vector<int32_t> touched_;
};

struct Scratch {
    Shares shares;
    std::vector<Found> found;
};

nb::tuple rank_by_names(Vector<int64_t> start, Vector<int32_t> term, Matrix<int32_t> listed, Matrix<float> scores,
                        Vector<int64_t> index_start, Vector<int32_t> index_label, Vector<float> index_share,
                        Vector<float> worth, Vector<uint8_t> allowed, int power, double floor, int64_t k, int threads) {
    const int64_t rows = listed.shape(0), depth = listed.shape(1);
    const NameIndex index{index_start.data(), index_label.data(), index_share.data()};
    const bool all = allowed.size() == 0;
    std::vector<int32_t> labels_out(rows * k, -1);
    std::vector<float> scores_out(rows * k, 0.0f);

    auto evidence = [&](int32_t label, float share) {
        float value = worth.data()[label];
        for (int i = 0; i < power; ++i) value *= share;
        return value;
    };
    auto rank = [&](Scratch &scratch, int64_t row) {
        Shares &shares = scratch.shares;
        std::vector<Found> &found = scratch.found;
        shares.fit(worth.size());
        for (int64_t i = start.data()[row]; i < start.data()[row + 1]; ++i)
            for (int64_t j = index.start[term.data()[i]]; j < index.start[term.data()[i] + 1]; ++j)
                shares.add(index.label[j], index.share[j]);
        found.clear();
        for (int64_t place = row * depth; place < (row + 1) * depth && listed.data()[place] >= 0; ++place) {
            const int32_t label = listed.data()[place];
            found.push_back({scores.data()[place] + evidence(label, shares.take(label)), label});
        }
        shares.take_rest([&](int32_t label, float share) {
            if ((all || allowed.data()[label]) && worth.data()[label] > 0.0f)
                found.push_back({static_cast<float>(floor) + evidence(label, share), label});
        });
        const auto size = std::min<int64_t>(k, found.size());
        std::partial_sort(found.begin(), found.begin() + size, found.end(),
                          [](const Found &a, const Found &b) { return a.before(b); });
        for (int64_t place = 0; place < size; ++place) {
            labels_out[row * k + place] = found[place].label;
            scores_out[row * k + place] = found[place].value;
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
               "index_label"_a, "index_share"_a, "worth"_a, "allowed"_a, "power"_a, "floor"_a, "k"_a, "threads"_a);
}

}  // namespace treetop
