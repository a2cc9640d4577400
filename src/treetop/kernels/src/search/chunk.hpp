// A chunk made ready for a group of texts: a table from feature number (numbering.hpp) to row. Broad rows that are not
// stored in full are spread out, so that adding one is a few vector operations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "search/feature_set.hpp"
#include "search/level.hpp"
#include "search/numbering.hpp"
#include "search/rows.hpp"
#include "search/search_kernels.hpp"

namespace treetop {

class Chunk {
public:
    void use(const Level &level, const Numbering &numbers) {
        clear();
        level_ = &level;
        numbers_ = &numbers;
        if (table_.size() < static_cast<size_t>(numbers.size())) table_.resize(numbers.size(), RowRef{0});
    }

    void use_parent(int64_t parent) {
        clear();
        parent_ = parent;
        wanted_ = 0;
    }

    int64_t rows() const { return level_->rows_of(parent_); }

    // All rows of wanted features. Without a branch: whether a feature is wanted cannot be foreseen.
    void scan_rows(const FeatureSet &wanted) {
        const int64_t first = level_->first_row(parent_);
        make_room(rows() + 1);
        Row *kept = rows_.data();
        with_features(*level_, [&](auto kind) {
            for_rows<decltype(kind)>(*level_, parent_, [&](int64_t row, int32_t feature) {
                *kept = {static_cast<int32_t>(row - first), feature};
                kept += wanted.has(feature);
            });
        });
        wanted_ = kept - rows_.data();
    }

    // Adds the rows of a few sorted features; a row may come twice.
    void seek_rows(const int32_t *feature, int64_t size) {
        make_room(wanted_ + size);
        with_features(*level_, [&](auto kind) { seek_as<decltype(kind)>(feature, size); });
    }

    void drop_doubles() {
        const auto first = rows_.begin(), last = first + wanted_;
        std::sort(first, last, [](const Row &a, const Row &b) { return a.row < b.row; });
        wanted_ = std::unique(first, last, [](const Row &a, const Row &b) { return a.row == b.row; }) - first;
    }

    // Fills the table with the rows collected before.
    void fill() {
        with_entries(*level_, [&](auto child, auto value) {
            with_offsets(*level_, [&](auto offset) { fill_as<decltype(child), decltype(value), decltype(offset)>(); });
        });
    }

    ChunkIndex index() const { return {table_.data(), level_->children_of(parent_)}; }

private:
    struct Row {
        int32_t row;  // within the chunk
        int32_t feature;
    };

    void make_room(int64_t size) {
        if (rows_.size() < static_cast<size_t>(size)) rows_.resize(static_cast<size_t>(size));
    }

    void clear() {
        for (const int32_t number : filled_) table_[number] = RowRef{0};
        filled_.clear();
    }

    template <typename Feature>
    void seek_as(const int32_t *feature, int64_t size) {
        const auto *known = static_cast<const Feature *>(level_->row_feature);
        const int64_t *bound = level_->row_ptr + parent_ * level_->pages;
        const int64_t first = bound[0];
        int64_t at = first;
        for (int64_t i = 0; i < size; ++i) {
            const int64_t page = level_->pages == 1 ? 0 : feature[i] >> kPageBits;
            const auto wanted = static_cast<Feature>(feature[i]);
            const Feature *end = known + bound[page + 1];
            const Feature *found = std::lower_bound(known + std::max(at, bound[page]), end, wanted);
            if (found < end && *found == wanted) rows_[wanted_++] = {static_cast<int32_t>(found - known - first), feature[i]};
            at = found - known;
        }
    }

    template <typename Child, typename Value, typename Offset>
    void fill_as() {
        const Level &level = *level_;
        const auto *value = static_cast<const Value *>(level.entry_value);
        const auto *child = static_cast<const Child *>(level.entry_child);
        const int64_t first_row = level.first_row(parent_);
        const auto *offset = static_cast<const Offset *>(level.entry_ptr) + first_row;
        Turns turns(level, first_row);
        const int64_t children = level.children_of(parent_), broad = broad_from(children);
        const int64_t in_place = level.entries - children - kOverread;  // later ones could be read over the end
        const int64_t stride = (children + kOverread - 1) / kOverread * kOverread;
        auto *free = static_cast<Value *>(room_for_spread(children, stride, sizeof(Value)));
        filled_.reserve(static_cast<size_t>(wanted_));
        for (int64_t i = 0; i < wanted_; ++i) {
            if (i + kAhead < wanted_) {
                __builtin_prefetch(offset + rows_[i + kAhead].row);
                numbers_->prefetch(rows_[i + kAhead].feature);
            }
            const auto [row, feature] = rows_[i];
            const int32_t number = numbers_->of(feature);
            const auto [first, entries] = entries_of<Offset>(level, first_row + row, turns.up_to(first_row + row));
            filled_.push_back(number);
            if (entries < broad) {
                table_[number] = RowRef::narrow(first, entries);
            } else if (entries == children && first <= in_place) {
                table_[number] = RowRef::broad(value + first);
            } else {
                table_[number] = RowRef::broad(free);
                std::fill_n(free, stride, Value{0});
                for (int64_t e = first; e < first + entries; ++e) free[child[e]] = value[e];
                free += stride;
            }
        }
    }

    // Enough for all broad rows of the chunk. Not initialised: what is never used costs no memory.
    void *room_for_spread(int64_t children, int64_t stride, size_t value_size) {
        const int64_t entries = entries_of_chunk();
        const int64_t most = std::min(wanted_, 8 * entries / std::max<int64_t>(1, children));
        const size_t bytes = static_cast<size_t>(most * stride) * value_size + kCacheLine;
        if (bytes > spread_bytes_) {
            spread_.reset(new char[bytes]);
            spread_bytes_ = bytes;
        }
        void *start = spread_.get();
        size_t room = bytes;
        return std::align(kCacheLine, bytes - kCacheLine, start, room);
    }

    int64_t entries_of_chunk() const {
        const int64_t first = level_->first_row(parent_), last = first + level_->rows_of(parent_) - 1;
        if (last < first) return 0;
        return with_offsets(*level_, [&](auto kind) {
            const auto start = [&](int64_t row) {
                return entries_of<decltype(kind)>(*level_, row, Turns(*level_, row).up_to(row));
            };
            const EntryRange end = start(last);
            return end.first + end.size - start(first).first;
        });
    }

    static constexpr size_t kCacheLine = 64;
    static constexpr int64_t kAhead = 16;  // rows between asking for memory and using it

    const Level *level_ = nullptr;
    const Numbering *numbers_ = nullptr;
    int64_t parent_ = 0;
    std::vector<RowRef> table_;  // by number; no bits set: no row
    std::vector<Row> rows_;      // of the chunk; the wanted ones come first
    int64_t wanted_ = 0;
    std::vector<int32_t> filled_;
    std::unique_ptr<char[]> spread_;
    size_t spread_bytes_ = 0;
};

}  // namespace treetop
