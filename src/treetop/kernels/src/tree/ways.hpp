// k-means of the rows of one node with many centres, not balanced.
//
// The sums of all centres are stored feature by feature, so that one look-up of a feature serves every centre, and
// change only by the rows that moved; the squared lengths of centres are kept up to date in the same additions.
// Large nodes begin with a sample, as in bisection.hpp.
#pragma once

#include <cmath>
#include <cstring>

#include "tree/bundle.hpp"

namespace treetop::kmeans {

class Ways {
public:
    // `memory` is for the sums; a thread that splits several nodes hands in the same.
    Ways(const Labels &labels, const Bundle &bundle, int64_t ways, const Options &options, const Run &run,
         std::vector<float> &memory)
        : labels_(labels), bundle_(bundle), options_(options), run_(run), memory_(memory), rows_(bundle.rows()),
          sizes_(sample_sizes(rows_, 8 * ways)), ways_(std::min(ways, rows_)), width_(divide_up(ways_, 8) * 8),
          centre_(rows_, none), squares_(ways_), members_(ways_), scale_(width_), shift_(width_) {
        const int64_t cells = (bundle_.columns() + labels_.dims) * width_;
        if (static_cast<int64_t>(memory_.size()) < cells) memory_.resize(cells);
    }

    // The centre of each row: 0, 1, 2, … without gaps.
    std::vector<int32_t> solve(Random random) {
        start_from_distinct_rows(random);
        for (int64_t size : sizes_) {
            measure();
            choose(size);
            assign();
            add_all();
            improve();
        }
        drop_empty();
        return std::move(centre_);
    }

private:
    static constexpr int32_t none = -1;

    void choose(int64_t size) { sample_ = even_sample(rows_, size); }

    void start_from_distinct_rows(Random &random) {
        choose(sizes_.front());
        for (int64_t c = 0; c < ways_; ++c) {  // the first steps of a shuffle
            std::swap(sample_[c], sample_[c + random.below(sample_.size() - c)]);
            centre_[sample_[c]] = static_cast<int32_t>(c);
        }
        sample_.resize(ways_);
        add_all();
    }

    void improve() {
        double reached = 0;
        for (int iteration = 1; iteration < options_.max_iter; ++iteration) {
            const double similarity = measure(), gain = similarity - std::exchange(reached, similarity);
            if (iteration > 1 && gain < options_.tolerance * sample_.size()) break;
            if (assign() == 0) break;
            move();
        }
    }

    // ---- the sums of the centres

    void add_all() {
        std::fill_n(memory_.begin(), (bundle_.columns() + labels_.dims) * width_, 0.0f);
        std::fill(squares_.begin(), squares_.end(), 0.0);
        std::fill(members_.begin(), members_.end(), 0);
        summed_.assign(rows_, none);
        move();
    }

    // A task owns some centres and visits rows in order, so that sums do not depend on the schedule.
    void move() {
        constexpr int32_t block = 8;
        run_(divide_up(ways_, block), [&](int64_t b) {
            for (int64_t row : sample_) {
                const int32_t from = summed_[row], to = centre_[row];
                if (from == to) continue;
                if (from != none && from / block == b) add(row, from, -1);
                if (to / block == b) add(row, to, 1);
            }
        });
        for (int64_t row : sample_) summed_[row] = centre_[row];
    }

    void add(int64_t row, int64_t centre, float sign) {
        double squares = sign * bundle_.own(row);
        auto add_one = [&](int64_t feature, float value) {
            float &sum = memory_[feature * width_ + centre];
            const float before = std::exchange(sum, sum + sign * value);
            squares += double(sum) * sum - double(before) * before;
        };
        for (int64_t k = bundle_.begin(row); k < bundle_.end(row); ++k) add_one(bundle_.column(k), bundle_.value(k));
        const float *dense = labels_.row(bundle_.label(row));
        for (int64_t j = 0; j < labels_.dims; ++j) add_one(bundle_.columns() + j, dense[j]);
        squares_[centre] += squares;
        members_[centre] += sign > 0 ? 1 : -1;
    }

    // A row's score is scale · <row, sum> - shift. Spherical: the cosine. Otherwise: the nearest mean m has the largest
    // <row, m> - |m|²/2. Returns the sum over rows of the similarity to their centre.
    double measure() {
        double similarity = 0;
        for (int64_t c = 0; c < ways_; ++c) {
            const double squares = members_[c] ? std::max(squares_[c], 0.0) : 0.0;
            const double scale = inverse(options_.spherical ? std::sqrt(squares) : members_[c]);
            scale_[c] = static_cast<float>(scale);
            shift_[c] = options_.spherical ? 0.0f : static_cast<float>(squares * scale * scale / 2);
            similarity += squares * scale;
        }
        return similarity;
    }

    // ---- the best centre of each row

    // Ties go to the first centre. Returns how many rows changed centres.
    int64_t assign() {
        constexpr int64_t block = 256;
        const int64_t size = sample_.size(), blocks = divide_up(size, block);
        std::vector<int64_t> moved(blocks, 0);
        run_(blocks, [&](int64_t b) {
            std::vector<float> dots(width_);
            for (int64_t j = b * block; j < std::min(size, (b + 1) * block); ++j) {
                const int32_t best = best_centre(sample_[j], dots.data());
                moved[b] += best != std::exchange(centre_[sample_[j]], best);
            }
        });
        return std::accumulate(moved.begin(), moved.end(), int64_t(0));
    }

    int32_t best_centre(int64_t row, float *dots) const {
        int64_t first = 0;
        for (; first + 32 <= width_; first += 32) dot<8>(row, first, dots + first);
        for (; first < width_; first += 8) dot<2>(row, first, dots + first);
        if (centre_[row] != none) dots[centre_[row]] += bundle_.own(row);
        for (int64_t c = 0; c < width_; ++c) dots[c] = dots[c] * scale_[c] - shift_[c];
        return static_cast<int32_t>(std::max_element(dots, dots + ways_) - dots);
    }

    // Products of one row with neighbouring sums, four to a vector. Written with vectors because compilers do not find
    // out by themselves that the totals fit in registers.
    typedef float Vec __attribute__((vector_size(16)));

    template <int vectors>
    void dot(int64_t row, int64_t first, float *result) const {
        Vec total[vectors] = {};
        const float *sums = memory_.data() + first;
        for (int64_t k = bundle_.begin(row); k < bundle_.end(row); ++k)
            add_scaled<vectors>(total, bundle_.value(k), sums + bundle_.column(k) * width_);
        const float *dense = labels_.row(bundle_.label(row));
        sums += bundle_.columns() * width_;
        for (int64_t j = 0; j < labels_.dims; ++j) add_scaled<vectors>(total, dense[j], sums + j * width_);
        std::memcpy(result, total, sizeof total);
    }

    template <int vectors>
    static void add_scaled(Vec *total, float value, const float *sums) {
        for (int i = 0; i < vectors; ++i) {
            Vec some;
            std::memcpy(&some, sums + 4 * i, sizeof some);
            total[i] += value * some;
        }
    }

    void drop_empty() {
        std::vector<int32_t> number(ways_, 0);
        for (int32_t c : centre_) number[c] = 1;
        std::partial_sum(number.begin(), number.end(), number.begin());
        for (int32_t &c : centre_) c = number[c] - 1;
    }

    const Labels &labels_;
    const Bundle &bundle_;
    const Options &options_;
    const Run &run_;
    std::vector<float> &memory_;  // features × centres: sums of the rows of each centre
    const int64_t rows_;
    const std::vector<int64_t> sizes_;
    const int64_t ways_, width_;  // width: rounded up to whole vectors
    std::vector<int32_t> centre_;  // of each row; `none` outside the sample
    std::vector<int32_t> summed_;  // the centre that each row is added to in the sums
    std::vector<double> squares_;
    std::vector<int64_t> members_, sample_;
    std::vector<float> scale_, shift_;
};

}  // namespace treetop::kmeans
