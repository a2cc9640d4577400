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

    int64_t rows() const { return level_->row_ptr[parent_ + 1] - level_->row_ptr[parent_]; }

    // All rows of wanted features. Without a branch: whether a feature is wanted cannot be foreseen.
    void scan_rows(const FeatureSet &wanted) {
        const int32_t *feature = level_->row_feature + level_->row_ptr[parent_];
        const int64_t size = rows();
        make_room(size + 1);
        int32_t *row = rows_.data();
        int64_t kept = 0;
        for (int64_t r = 0; r < size; ++r) {
            row[kept] = static_cast<int32_t>(r);
            kept += wanted.has(feature[r]);
        }
        wanted_ = kept;
    }

    // Adds the rows of a few sorted features; a row may come twice.
    void seek_rows(const int32_t *feature, int64_t size) {
        const int32_t *begin = level_->row_feature + level_->row_ptr[parent_], *end = begin + rows();
        const int32_t *at = begin;
        make_room(wanted_ + size);
        for (int64_t i = 0; i < size && at < end; ++i) {
            at = std::lower_bound(at, end, feature[i]);
            if (at < end && *at == feature[i]) rows_[wanted_++] = static_cast<int32_t>(at - begin);
        }
    }

    void drop_doubles() {
        std::sort(rows_.begin(), rows_.begin() + wanted_);
        wanted_ = std::unique(rows_.begin(), rows_.begin() + wanted_) - rows_.begin();
    }

    // Fills the table with the rows collected before.
    void fill() {
        if (level_->wide) {
            if (level_->half) fill_as<uint32_t, uint16_t>();
            else fill_as<uint32_t, float>();
        } else {
            if (level_->half) fill_as<uint16_t, uint16_t>();
            else fill_as<uint16_t, float>();
        }
    }

    ChunkIndex index() const { return {table_.data(), level_->children_of(parent_)}; }

private:
    void make_room(int64_t size) {
        if (rows_.size() < static_cast<size_t>(size)) rows_.resize(static_cast<size_t>(size));
    }

    void clear() {
        for (const int32_t number : filled_) table_[number] = RowRef{0};
        filled_.clear();
    }

    template <typename Child, typename Value>
    void fill_as() {
        const Level &level = *level_;
        const auto *value = static_cast<const Value *>(level.entry_value);
        const auto *child = static_cast<const Child *>(level.entry_child);
        const int32_t *feature = level.row_feature + level.row_ptr[parent_];
        const int64_t *entry_ptr = level.entry_ptr + level.row_ptr[parent_];
        const int64_t children = level.children_of(parent_), broad = broad_from(children);
        const int64_t in_place = level.entries() - children - kOverread;  // later ones could be read over the end
        const int64_t stride = (children + kOverread - 1) / kOverread * kOverread;
        auto *free = static_cast<Value *>(room_for_spread(children, stride, sizeof(Value)));
        filled_.reserve(static_cast<size_t>(wanted_));
        for (int64_t i = 0; i < wanted_; ++i) {
            if (i + kAhead < wanted_) {
                __builtin_prefetch(entry_ptr + rows_[i + kAhead]);
                numbers_->prefetch(feature[rows_[i + kAhead]]);
            }
            const int32_t row = rows_[i];
            const int32_t number = numbers_->of(feature[row]);
            const int64_t first = entry_ptr[row], entries = entry_ptr[row + 1] - first;
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
        const int64_t first = level_->row_ptr[parent_], last = level_->row_ptr[parent_ + 1];
        const int64_t entries = level_->entry_ptr[last] - level_->entry_ptr[first];
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

    static constexpr size_t kCacheLine = 64;
    static constexpr int64_t kAhead = 16;  // rows between asking for memory and using it

    const Level *level_ = nullptr;
    const Numbering *numbers_ = nullptr;
    int64_t parent_ = 0;
    std::vector<RowRef> table_;  // by number; no bits set: no row
    std::vector<int32_t> rows_;  // of the chunk; the wanted ones come first
    int64_t wanted_ = 0;
    std::vector<int32_t> filled_;
    std::unique_ptr<char[]> spread_;
    size_t spread_bytes_ = 0;
};

}  // namespace treetop
