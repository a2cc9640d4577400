// Rows of the label matrix with features renumbered by frequency, so that the frequent ones share few cache lines.
#pragma once

#include <numeric>
#include <vector>

#include "tree/kmeans_shared.hpp"

namespace treetop::kmeans {

// New numbers of features: by falling frequency, then by old number. Features of fewer than `least` rows have none (-1).
struct Numbering {
    std::vector<int32_t> number;
    int64_t count = 0;

    Numbering(std::vector<int32_t> frequency, int64_t rows, int32_t least) : number(std::move(frequency)) {
        std::vector<int32_t> next(rows + 1, 0);
        for (int32_t f : number) ++next[f];
        for (int64_t f = rows; f >= least; --f) {
            const int32_t features = next[f];
            next[f] = static_cast<int32_t>(count);
            count += features;
        }
        for (int32_t &f : number) f = f >= least ? next[f]++ : -1;
    }

    // Whether all features keep their old numbers.
    bool keeps() const {
        for (int64_t f = 0; f < count; ++f)
            if (number[f] != f) return false;
        return true;
    }
};

class Bundle {
public:
    // All rows. Offsets and values stay where they are; columns are copied with their new numbers, unless that is what
    // they have already.
    void take_all(const Rows &x, const Run &run) {
        const Numbering numbering(frequencies(x, run), x.rows, 1);
        columns_ = numbering.count;
        start_ = x.start;
        value_ = x.value;
        own_.assign(x.rows, 0.0f);
        labels_.resize(x.rows);
        std::iota(labels_.begin(), labels_.end(), 0);
        if (numbering.keeps()) {
            column_ = x.column;
            return;
        }
        column_store_.resize(x.start[x.rows]);
        run(blocks, [&](int64_t b) {
            for (int64_t k = x.start[b * x.rows / blocks]; k < x.start[(b + 1) * x.rows / blocks]; ++k)
                column_store_[k] = numbering.number[x.column[k]];
        });
        column_ = column_store_.data();
    }

    // Some rows of another bundle, side by side. A feature that only one of them has matters to no other row: it is
    // left out, and `own` keeps its part of the row's squared length.
    void take(const Bundle &from, const std::vector<int32_t> &rows) {
        int64_t entries = 0;
        for (int32_t row : rows) entries += from.size(row);
        reserve(entries, rows.size());
        const Numbering numbering(from.frequencies(rows), rows.size(), 2);
        columns_ = numbering.count;
        start_store_[0] = 0;
        for (size_t i = 0; i < rows.size(); ++i) {
            labels_[i] = from.labels_[rows[i]];
            start_store_[i + 1] = copy_row(from, rows[i], numbering.number, i);
        }
    }

    int64_t rows() const { return static_cast<int64_t>(labels_.size()); }
    int64_t columns() const { return columns_; }
    int64_t begin(int64_t row) const { return start_[row]; }
    int64_t end(int64_t row) const { return start_[row + 1]; }
    int64_t size(int64_t row) const { return start_[row + 1] - start_[row]; }
    int32_t column(int64_t k) const { return column_[k]; }
    float value(int64_t k) const { return value_[k]; }
    float own(int64_t row) const { return own_[row]; }
    int32_t label(int64_t row) const { return labels_[row]; }

private:
    static constexpr int64_t blocks = 16;

    static std::vector<int32_t> frequencies(const Rows &x, const Run &run) {
        std::vector<std::vector<int32_t>> counts(blocks);
        run(blocks, [&](int64_t b) {
            counts[b].assign(x.columns, 0);
            for (int64_t k = x.start[b * x.rows / blocks]; k < x.start[(b + 1) * x.rows / blocks]; ++k)
                ++counts[b][x.column[k]];
        });
        for (int64_t b = 1; b < blocks; ++b)
            for (int64_t f = 0; f < x.columns; ++f) counts[0][f] += counts[b][f];
        return std::move(counts[0]);
    }

    std::vector<int32_t> frequencies(const std::vector<int32_t> &rows) const {
        std::vector<int32_t> counts(columns_, 0);
        for (int32_t row : rows)
            for (int64_t k = begin(row); k < end(row); ++k) ++counts[column_[k]];
        return counts;
    }

    // Memory of an earlier `take` is used again: fresh memory costs more than what is done with it here.
    void reserve(int64_t entries, int64_t rows) {
        if (static_cast<int64_t>(column_store_.size()) < entries) {
            column_store_.resize(entries);
            value_store_.resize(entries);
        }
        start_store_.resize(rows + 1);
        own_.resize(rows);
        labels_.resize(rows);
        start_ = start_store_.data();
        column_ = column_store_.data();
        value_ = value_store_.data();
    }

    int64_t copy_row(const Bundle &from, int32_t row, const std::vector<int32_t> &number, int64_t to) {
        int64_t end = start_store_[to];
        float own = from.own_[row];
        for (int64_t k = from.begin(row); k < from.end(row); ++k) {
            const int32_t f = number[from.column_[k]];
            const float value = from.value_[k];
            column_store_[end] = f;  // written in any case, which is cheaper than an unforeseeable branch
            value_store_[end] = value;
            end += f >= 0;
            own += f < 0 ? value * value : 0.0f;
        }
        own_[to] = own;
        return end;
    }

    const int64_t *start_ = nullptr;
    const int32_t *column_ = nullptr;
    const float *value_ = nullptr;
    std::vector<int64_t> start_store_;
    std::vector<int32_t> column_store_;
    std::vector<float> value_store_;
    std::vector<float> own_;
    std::vector<int32_t> labels_;
    int64_t columns_ = 0;
};

}  // namespace treetop::kmeans
