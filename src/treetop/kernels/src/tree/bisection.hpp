// Balanced 2-means of the rows of one node.
//
// An iteration is one pass over the entries of the rows: the sums of both sides change only by the rows that moved.
// Large nodes begin with a small sample of their rows; that costs little and leaves little to do for all of them.
// Where k-means ends depends on where it starts, and near the root that moves many labels at once. On a sample several
// starts cost little as well, so the best of them goes on.
#pragma once

#include <cmath>

#include "tree/bundle.hpp"

namespace treetop::kmeans {

class Bisection {
public:
    // `rows` are rows of the bundle, in order of labels.
    Bisection(const Labels &labels, const Bundle &bundle, const std::vector<int32_t> &rows, const Options &options,
              const Run &run)
        : labels_(labels), bundle_(bundle), rows_(rows), options_(options), run_(run),
          sizes_(sample_sizes(rows.size(), 0)), side_(rows.size()), direction_(bundle.columns()),
          dense_direction_(labels.dims) {}

    // The side of each row: left (0) for n/2 of them, right (1) for the others.
    std::vector<int8_t> solve(Random random) {
        start(random);
        if (sizes_.size() > 1) start_again(random);
        for (size_t s = 1; s < sizes_.size(); ++s) go_on_with(sizes_[s]);
        return std::move(side_);
    }

private:
    static constexpr int8_t left = 0, right = 1, none = -1;
    static constexpr double clearly_better = 1e-5;  // in mean similarity; what is less may be rounding

    struct Pair {
        float side[2] = {0, 0};
    };
    struct Sums {
        std::vector<Pair> sparse, dense;
    };

    void start(Random &random) {
        start_from_two_rows(random);
        go_on_with(sizes_.front());
    }

    // Starts up to eight times in all, on no more rows together than half of the node's; returns to the best start.
    void start_again(Random &random) {
        const int64_t starts = std::min<int64_t>(8, rows_.size() / (2 * sizes_.front()));
        aim();
        double best = similarity_;
        std::vector<int8_t> best_side = side_;
        for (int64_t again = 1; again < starts; ++again) {
            start(random);
            aim();
            if (similarity_ <= best + clearly_better * sample_.size()) continue;
            best = similarity_;
            best_side = side_;
        }
        side_ = std::move(best_side);
        add_all();
    }

    // Halves a sample between the centres of the one before, then between its own.
    void go_on_with(int64_t size) {
        aim();
        choose(size);
        score();
        halve();
        add_all();
        improve();
    }

    void choose(int64_t size) {
        sample_ = even_sample(rows_.size(), size);
        scores_.resize(size);
    }

    void start_from_two_rows(Random &random) {
        const int64_t size = sizes_.front();
        choose(size);
        const int64_t a = random.below(size), b = (a + 1 + random.below(size - 1)) % size;
        sample_ = {sample_[a], sample_[b]};
        std::fill(side_.begin(), side_.end(), none);
        side_[sample_[0]] = left;
        side_[sample_[1]] = right;
        add_all();
    }

    void improve() {
        double reached = 0;
        for (int iteration = 1; iteration < options_.max_iter; ++iteration) {
            aim();
            const double gain = similarity_ - std::exchange(reached, similarity_);
            if (iteration > 1 && gain < options_.tolerance * sample_.size()) break;
            score();
            if (halve() == 0) break;
            move();
        }
    }

    // ---- the sums of both sides

    // Rows are summed in blocks, so that threads can share the work while the order of additions is always the same.
    // A block costs a pass over the sums, so there are only as many as the sample is worth.
    int64_t blocks() const {
        int64_t entries = 0;
        for (int64_t place : sample_) entries += bundle_.size(rows_[place]);
        return std::max<int64_t>(1, std::min<int64_t>(8, entries / (16 * bundle_.columns() + 1)));
    }

    void add_all() {
        sums_.resize(blocks());
        run_(sums_.size(), [&](int64_t b) {
            sums_[b].sparse.assign(bundle_.columns(), Pair());
            sums_[b].dense.assign(labels_.dims, Pair());
            for_block(b, [&](int64_t place) { add(sums_[b], place, side_[place], 1); });
        });
        summed_ = side_;
    }

    void move() {
        run_(sums_.size(), [&](int64_t b) {
            for_block(b, [&](int64_t place) {
                if (side_[place] == summed_[place]) return;
                add(sums_[b], place, summed_[place], -1);
                add(sums_[b], place, side_[place], 1);
            });
        });
        summed_ = side_;
    }

    template <typename Visit>
    void for_block(int64_t b, Visit visit) const {
        const int64_t size = sample_.size(), blocks = sums_.size();
        for (int64_t j = b * size / blocks; j < (b + 1) * size / blocks; ++j) visit(sample_[j]);
    }

    void add(Sums &sums, int64_t place, int8_t side, float sign) const {
        const int64_t row = rows_[place];
        for (int64_t k = bundle_.begin(row); k < bundle_.end(row); ++k)
            sums.sparse[bundle_.column(k)].side[side] += sign * bundle_.value(k);
        const float *dense = labels_.row(bundle_.label(row));
        for (int64_t j = 0; j < labels_.dims; ++j) sums.dense[j].side[side] += sign * dense[j];
    }

    // ---- the direction from the left centre to the right one

    void aim() {
        if (sums_.size() > 1) unite();
        const Sums &total = sums_.size() > 1 ? total_ : sums_[0];
        double squares[2] = {0, 0};
        add_squares(total.sparse, squares);
        add_squares(total.dense, squares);
        for (int64_t place : sample_) squares[side_[place]] += bundle_.own(rows_[place]);
        const int64_t size = sample_.size(), sizes[2] = {size / 2, size - size / 2};
        similarity_ = 0;
        for (int side : {left, right}) {
            scale_[side] = inverse(options_.spherical ? std::sqrt(squares[side]) : sizes[side]);
            similarity_ += squares[side] * scale_[side];
        }
        point(total.sparse, direction_);
        point(total.dense, dense_direction_);
    }

    void unite() {
        total_ = sums_[0];
        for (size_t b = 1; b < sums_.size(); ++b) {
            add_sums(sums_[b].sparse, total_.sparse);
            add_sums(sums_[b].dense, total_.dense);
        }
    }

    static void add_sums(const std::vector<Pair> &some, std::vector<Pair> &total) {
        for (size_t f = 0; f < total.size(); ++f)
            for (int side : {left, right}) total[f].side[side] += some[f].side[side];
    }

    static void add_squares(const std::vector<Pair> &sums, double *squares) {
        for (const Pair &sum : sums)
            for (int side : {left, right}) squares[side] += double(sum.side[side]) * sum.side[side];
    }

    void point(const std::vector<Pair> &sums, std::vector<float> &direction) const {
        for (size_t f = 0; f < sums.size(); ++f)
            direction[f] = sums[f].side[right] * scale_[right] - sums[f].side[left] * scale_[left];
    }

    // ---- scores along that direction

    void score() {
        constexpr int64_t block = 1024;
        const int64_t size = sample_.size();
        run_(divide_up(size, block), [&](int64_t b) {
            for (int64_t j = b * block; j < std::min(size, (b + 1) * block); ++j) {
                const int64_t row = rows_[sample_[j]];
                scores_[j] = sparse_dot(row) + dense_dot(row) + own_part(sample_[j]) * bundle_.own(row);
            }
        });
    }

    // Features that only this row has are in the sum of its side, if in any.
    float own_part(int64_t place) const {
        const int8_t side = side_[place];
        return side == none ? 0 : side == right ? scale_[right] : -scale_[left];
    }

    float sparse_dot(int64_t row) const {
        float sum[4] = {0, 0, 0, 0};
        int64_t k = bundle_.begin(row);
        const int64_t end = bundle_.end(row);
        for (; k + 4 <= end; k += 4)
            for (int lane = 0; lane < 4; ++lane)
                sum[lane] += bundle_.value(k + lane) * direction_[bundle_.column(k + lane)];
        for (; k < end; ++k) sum[0] += bundle_.value(k) * direction_[bundle_.column(k)];
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }

    float dense_dot(int64_t row) const {
        const float *x = labels_.row(bundle_.label(row));
        float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        int64_t j = 0;
        for (; j + 8 <= labels_.dims; j += 8)
            for (int lane = 0; lane < 8; ++lane) sum[lane] += x[j + lane] * dense_direction_[j + lane];
        for (; j < labels_.dims; ++j) sum[0] += x[j] * dense_direction_[j];
        return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    }

    // The lower half goes left; of equal scores, the lower label numbers. Returns how many changed sides.
    int64_t halve() {
        const int64_t size = sample_.size(), half = size / 2;
        ranked_ = scores_;
        std::nth_element(ranked_.begin(), ranked_.begin() + half, ranked_.end());
        const float middle = ranked_[half];
        int64_t ties = half, moved = 0;  // ties: how many of the middle score still go left
        for (float score : scores_) ties -= score < middle;
        for (int64_t j = 0; j < size; ++j) {
            const bool tie = scores_[j] == middle;
            const int8_t side = scores_[j] < middle || (tie && ties > 0) ? left : right;
            ties -= tie;
            moved += side != std::exchange(side_[sample_[j]], side);
        }
        return moved;
    }

    const Labels &labels_;
    const Bundle &bundle_;
    const std::vector<int32_t> &rows_;
    const Options &options_;
    const Run &run_;
    const std::vector<int64_t> sizes_;
    std::vector<int8_t> side_;    // of each row; `none` outside the sample
    std::vector<int8_t> summed_;  // the side that each row is added to in the sums
    std::vector<int64_t> sample_;
    std::vector<Sums> sums_;      // one for each block of the sample
    Sums total_;
    std::vector<float> direction_, dense_direction_, scores_, ranked_;
    float scale_[2] = {1, 1};
    double similarity_ = 0;  // the sum over rows of the similarity to their centre
};

}  // namespace treetop::kmeans
