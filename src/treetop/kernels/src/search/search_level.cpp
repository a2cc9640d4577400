#include "search/search_level.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "search/rows.hpp"

namespace treetop {
namespace {

template <typename Feature>
bool features_rise(const Level &level, int64_t parent) {
    int64_t last = -1;
    bool rises = true;
    for_rows<Feature>(level, parent, [&](int64_t, int32_t feature) {
        rises &= last < feature;
        last = feature;
    });
    return rises && last < level.features;
}

// Offsets of a chunk's rows: within the level, and no row longer than there are children.
template <typename Offset>
bool offsets_rise(const Level &level, int64_t parent) {
    const int64_t children = level.children_of(parent), first = level.first_row(parent);
    Turns turns(level, first);
    bool good = true;
    for (int64_t row = first; row < first + level.rows_of(parent); ++row) {
        const EntryRange found = entries_of<Offset>(level, row, turns.up_to(row));
        good &= found.first >= 0 && found.size >= 0 && found.size <= children;
        good &= found.first + found.size <= level.entries;
    }
    return good;
}

// To be asked of rows with sound offsets: then their entries lie one after the other.
template <typename Offset, typename Child>
bool children_exist(const Level &level, int64_t parent) {
    const int64_t first = level.first_row(parent), last = level.first_row(parent + 1) - 1;
    if (last < first) return true;
    const auto at = [&](int64_t row) { return entries_of<Offset>(level, row, Turns(level, row).up_to(row)); };
    const auto *child = static_cast<const Child *>(level.entry_child);
    const int64_t begin = at(first).first, end = at(last).first + at(last).size;
    Child largest = 0;
    for (int64_t e = begin; e < end; ++e) largest = std::max(largest, child[e]);
    return begin == end || largest < level.children_of(parent);
}

// Null if the chunk is sound.
const char *damage_of(const Level &level, int64_t parent) {
    const auto rising = [&](auto feature) { return features_rise<decltype(feature)>(level, parent); };
    if (!with_features(level, rising)) return "row_feature does not rise";
    return with_offsets(level, [&](auto offset) -> const char * {
        using Offset = decltype(offset);
        if (!offsets_rise<Offset>(level, parent)) return "entry_ptr does not rise";
        const auto exist = [&](auto child) { return children_exist<Offset, decltype(child)>(level, parent); };
        return with_children(level, exist) ? nullptr : "entry_child is too large";
    });
}

}  // namespace

SearchLevel::SearchLevel(const Level &level, size_t number)
    : level_(level), number_(number), checked_(new std::atomic<bool>[static_cast<size_t>(level.parents)]()),
      directories_(new std::atomic<const Directory *>[static_cast<size_t>(level.parents)]()) {}

SearchLevel::~SearchLevel() {
    for (int64_t parent = 0; parent < level_.parents; ++parent) delete directories_[parent].load();
}

void SearchLevel::check_now(int64_t parent) {
    if (const char *damage = damage_of(level_, parent))
        throw std::domain_error(std::to_string(number_) + ": " + damage + " among the children of node " +
                                std::to_string(parent));
    checked_[parent].store(true, std::memory_order_relaxed);
}

const Directory &SearchLevel::make_directory(int64_t parent) {
    check(parent);
    const int64_t rows = level_.rows_of(parent);
    auto made = std::make_unique<Directory>();
    made->first_row = level_.first_row(parent);
    made->turns = Turns(level_, made->first_row).up_to(made->first_row);
    const int widest = level_.pages > 1 ? kPageBits : 31;
    while (made->shift < widest && (level_.features >> made->shift) + 1 > std::max<int64_t>(1, rows / 2)) ++made->shift;
    made->start.assign(static_cast<size_t>(level_.features >> made->shift) + 2, 0);
    with_features(level_, [&](auto kind) {
        for_rows<decltype(kind)>(level_, parent, [&](int64_t, int32_t feature) {
            ++made->start[(feature >> made->shift) + 1];
        });
    });
    for (size_t range = 1; range < made->start.size(); ++range) made->start[range] += made->start[range - 1];
    const Directory *expected = nullptr;  // another thread may be first; its directory is the same
    const bool first_here = directories_[parent].compare_exchange_strong(expected, made.get());
    return first_here ? *made.release() : *expected;
}

}  // namespace treetop
