// Terms of texts, counted block by block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "common/arrays.hpp"
#include "text/cut_terms.hpp"

namespace treetop {

using Counts = std::tuple<NumpyVector<int64_t>, NumpyVector<int32_t>, NumpyVector<int32_t>>;
constexpr size_t block_bytes = size_t{1} << 19;

// The terms of some texts in numbers of their own: entries of row r are [ends[r-1], ends[r]).
struct TermBlock {
    size_t first, last;  // texts
    StringTable terms;
    std::vector<int64_t> ends;
    std::vector<int32_t> ids, counts;
};

inline std::string_view bytes_of(nb::handle text) {
    Py_ssize_t size = 0;
    if (PyBytes_Check(text.ptr())) {
        char *data = nullptr;
        if (PyBytes_AsStringAndSize(text.ptr(), &data, &size) != 0) throw nb::python_error();
        return {data, static_cast<size_t>(size)};
    }
    const char *data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    return {data, static_cast<size_t>(size)};
}

inline std::vector<TermBlock> cut(const std::vector<std::string_view> &texts) {
    std::vector<TermBlock> blocks;
    size_t bytes = block_bytes;
    for (size_t i = 0; i < texts.size(); ++i) {
        if (bytes >= block_bytes) {
            blocks.push_back({i, i, StringTable(), {}, {}, {}});
            bytes = 0;
        }
        blocks.back().last = i + 1;
        bytes += texts[i].size();
    }
    return blocks;
}

inline void count(TermBlock &block, const std::vector<std::string_view> &texts, const Analysis &how,
                  const Alphabet &alphabet, Parts &parts) {
    std::vector<int64_t> latest;  // the latest entry of each term
    for (size_t i = block.first; i < block.last; ++i) {
        const auto row_start = static_cast<int64_t>(block.ids.size());
        each_term(texts[i], how, alphabet, parts, [&](std::string_view term) {
            const int32_t id = block.terms.insert(Key::padded(term));
            if (static_cast<size_t>(id) == latest.size()) latest.push_back(-1);
            if (latest[id] >= row_start) {
                ++block.counts[latest[id]];
            } else {
                latest[id] = static_cast<int64_t>(block.ids.size());
                block.ids.push_back(id);
                block.counts.push_back(1);
            }
        });
        block.ends.push_back(static_cast<int64_t>(block.ids.size()));
    }
}

// Renumbers the entries of rows and sorts them.
class Arranger {
  public:
    // Entries without a column (-1) are dropped, equal columns added up; returns how many entries remain.
    size_t arrange(const int32_t *ids, const int32_t *counts, size_t size, const int32_t *columns, int32_t *ids_out,
                   int32_t *counts_out) {
        entries_.clear();
        for (size_t i = 0; i < size; ++i)
            if (columns[ids[i]] >= 0)
                entries_.push_back(uint64_t(uint32_t(columns[ids[i]])) << 32 | uint32_t(counts[i]));
        sort();
        size_t kept = 0;
        for (const uint64_t entry : entries_) {
            const auto column = static_cast<int32_t>(entry >> 32), n = static_cast<int32_t>(entry);
            if (kept > 0 && ids_out[kept - 1] == column) {
                counts_out[kept - 1] += n;
            } else {
                ids_out[kept] = column;
                counts_out[kept++] = n;
            }
        }
        return kept;
    }

  private:
    // By column. Long rows by radix, a byte of the column after another from the lowest: several times std::sort.
    void sort() {
        if (entries_.size() < 64) return std::sort(entries_.begin(), entries_.end());
        spare_.resize(entries_.size());
        uint64_t used = 0;
        for (const uint64_t entry : entries_) used |= entry;
        for (int shift = 32; shift < 64 && used >> shift != 0; shift += 8) {
            uint32_t place[256] = {};
            for (const uint64_t entry : entries_) ++place[entry >> shift & 255];
            uint32_t before = 0;
            for (uint32_t &p : place) before += std::exchange(p, before);
            for (const uint64_t entry : entries_) spare_[place[entry >> shift & 255]++] = entry;
            entries_.swap(spare_);
        }
    }

    std::vector<uint64_t> entries_, spare_;
};

// In place: a row only ever gets shorter.
inline void arrange(TermBlock &block, const std::vector<int32_t> &columns, Arranger &arranger) {
    size_t from = 0, kept = 0;
    for (int64_t &end : block.ends) {
        const size_t size = static_cast<size_t>(end) - from;
        kept += arranger.arrange(block.ids.data() + from, block.counts.data() + from, size, columns.data(),
                                 block.ids.data() + kept, block.counts.data() + kept);
        from = static_cast<size_t>(end);
        end = static_cast<int64_t>(kept);
    }
    block.ids.resize(kept);
    block.counts.resize(kept);
}

inline Counts gather(std::vector<TermBlock> &&blocks) {
    size_t rows = 0, entries = 0;
    for (const TermBlock &block : blocks) rows += block.ends.size(), entries += block.ids.size();
    std::vector<int64_t> start{0};
    std::vector<int32_t> ids, counts;
    start.reserve(rows + 1), ids.reserve(entries), counts.reserve(entries);
    for (TermBlock &block : blocks) {
        const auto before = static_cast<int64_t>(ids.size());
        for (const int64_t end : block.ends) start.push_back(before + end);
        ids.insert(ids.end(), block.ids.begin(), block.ids.end());
        counts.insert(counts.end(), block.counts.begin(), block.counts.end());
        block = TermBlock();
    }
    return {to_numpy(std::move(start)), to_numpy(std::move(ids)), to_numpy(std::move(counts))};
}

}  // namespace treetop
