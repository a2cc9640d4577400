// Counts the terms of texts: the part of tf-idf that touches every character.
//
// Texts are cut into blocks of half a megabyte. A block is counted by one thread with a small table of its own that
// stays in the cache, then its distinct terms (few, as words repeat) are translated to the numbers of the whole
// index. Blocks do not depend on the thread count and are merged in order, so neither does the result.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "text/cut_terms.hpp"
#include "text/term_counts.hpp"

namespace treetop {
namespace {

constexpr size_t short_text = 4096;  // bytes

// MurmurHash3 (x86, 32 bits, seed 0; Austin Appleby, public domain): stable everywhere, so columns may be stored.
uint32_t murmur(std::string_view s) {
    auto rotate = [](uint32_t x, int by) { return x << by | x >> (32 - by); };
    auto scramble = [&](uint32_t k) { return rotate(k * 0xCC9E2D51u, 15) * 0x1B873593u; };
    auto byte = [&s](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(s[i])); };
    uint32_t h = 0;
    size_t i = 0;
    for (; i + 4 <= s.size(); i += 4) {
        const uint32_t word = byte(i) | byte(i + 1) << 8 | byte(i + 2) << 16 | byte(i + 3) << 24;
        h = rotate(h ^ scramble(word), 13) * 5 + 0xE6546B64u;
    }
    uint32_t tail = 0;
    for (size_t j = s.size(); j > i; --j) tail = tail << 8 | byte(j - 1);
    h ^= scramble(tail) ^ static_cast<uint32_t>(s.size());
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return h ^ h >> 16;
}

class TermIndex {
  public:
    TermIndex(const std::string &kind, int shortest, int longest, int token_length, const std::vector<nb::bytes> &stop)
        : how_{kind_of(kind), shortest, longest, token_length, StringTable(stop.size())} {
        for (const nb::bytes &word : stop) how_.stop.insert(Key(std::string_view(word.c_str(), word.size())));
    }

    // Counts the texts' terms and remembers those that are new; rows are in the order of first occurrence.
    Counts learn(const nb::list &texts, Vector<uint32_t> alphabet, int threads) {
        auto not_yet = [](const StringTable &, std::vector<int32_t> &) { return false; };
        std::vector<TermBlock> blocks = counted(texts, alphabet, threads, not_yet);
        {
            nb::gil_scoped_release release;
            for (TermBlock &block : blocks) merge(block);
        }
        return gather(std::move(blocks));
    }

    // Counts the known terms of the texts; rows are sorted.
    Counts look_up(const nb::list &texts, Vector<uint32_t> alphabet, int threads) const {
        if (texts.size() == 1)
            if (const std::string_view text = bytes_of(texts[0]); text.size() <= short_text)
                return look_up_short(text, alphabet);
        auto find = [this](const StringTable &terms, std::vector<int32_t> &columns) {
            for (int32_t id = 0; id < terms.size(); ++id) columns.push_back(terms_.find(terms.key(id)));
            return true;
        };
        return gather(counted(texts, alphabet, threads, find));
    }

    // Counts all terms of the texts in 2^bits columns that are chosen by a hash; rows are sorted.
    Counts hash(const nb::list &texts, Vector<uint32_t> alphabet, int bits, int threads) const {
        const uint32_t mask = (uint32_t{1} << bits) - 1;
        auto choose = [mask](const StringTable &terms, std::vector<int32_t> &columns) {
            for (int32_t id = 0; id < terms.size(); ++id) {
                const uint32_t h = murmur(terms[id]);
                columns.push_back(static_cast<int32_t>(std::min(h, 0u - h) & mask));  // |h| of the signed number
            }
            return true;
        };
        return gather(counted(texts, alphabet, threads, choose));
    }

    // Numbers terms that were stored: one after another, each from its offset to the next.
    void insert(Vector<uint8_t> bytes, Vector<int64_t> offsets) {
        const auto *data = reinterpret_cast<const char *>(bytes.data());
        for (size_t i = 0; i + 1 < offsets.size(); ++i)
            terms_.insert(Key(std::string_view(data + offsets(i), static_cast<size_t>(offsets(i + 1) - offsets(i)))));
        in_texts_.resize(terms_.size());
        occurrences_.resize(terms_.size());
    }

    // Numbers of the given terms in the order of their bytes, which is the order of their code points.
    NumpyVector<int32_t> sorted(Vector<int32_t> ids) const {
        std::vector<std::pair<uint64_t, int32_t>> keys;
        for (size_t i = 0; i < ids.size(); ++i) keys.emplace_back(sort_key(terms_[ids(i)]), ids(i));
        std::sort(keys.begin(), keys.end(), [this](const auto &a, const auto &b) {
            return a.first != b.first ? a.first < b.first : terms_[a.second] < terms_[b.second];
        });
        std::vector<int32_t> result;
        for (const auto &key : keys) result.push_back(key.second);
        return to_numpy(std::move(result));
    }

    // The terms to be stored, as `insert` takes them.
    std::tuple<NumpyVector<uint8_t>, NumpyVector<int64_t>> terms(Vector<int32_t> ids) const {
        std::vector<uint8_t> bytes;
        std::vector<int64_t> offsets{0};
        for (size_t i = 0; i < ids.size(); ++i) {
            const std::string_view term = terms_[ids(i)];
            bytes.insert(bytes.end(), term.begin(), term.end());
            offsets.push_back(static_cast<int64_t>(bytes.size()));
        }
        return {to_numpy(std::move(bytes)), to_numpy(std::move(offsets))};
    }

    int32_t size() const { return terms_.size(); }
    NumpyVector<int64_t> in_texts() const { return to_numpy(std::vector<int64_t>(in_texts_)); }
    NumpyVector<int64_t> occurrences() const { return to_numpy(std::vector<int64_t>(occurrences_)); }

  private:
    // The same for a short text, which hardly has a term twice: each is looked up where it stands, without a table of
    // the text's own.
    Counts look_up_short(std::string_view text, Vector<uint32_t> alphabet) const {
        std::vector<int32_t> found, ids, counts;
        {
            nb::gil_scoped_release release;
            Parts parts;
            each_term(text, how_, Alphabet(alphabet.data(), alphabet.size()), parts, [&](std::string_view term) {
                if (const int32_t id = terms_.find(Key::padded(term)); id >= 0) found.push_back(id);
            });
            std::sort(found.begin(), found.end());
            for (const int32_t id : found) {
                if (ids.empty() || ids.back() != id) ids.push_back(id), counts.push_back(0);
                ++counts.back();
            }
        }
        return {to_numpy(std::vector<int64_t>{0, static_cast<int64_t>(ids.size())}), to_numpy(std::move(ids)),
                to_numpy(std::move(counts))};
    }

    static Kind kind_of(const std::string &name) {
        if (name == "word") return Kind::word;
        if (name == "char") return Kind::character;
        if (name == "char_wb") return Kind::word_characters;
        throw nb::value_error("the kind of n-gram is one of word, char, char_wb");
    }

    static uint64_t sort_key(std::string_view term) {
        uint64_t key = 0;
        for (size_t i = 0; i < 8; ++i) key = key << 8 | (i < term.size() ? static_cast<uint8_t>(term[i]) : 0);
        return key;
    }

    // Counts block by block; translate(terms, columns) says whether it filled in the column of each term of a block.
    template <typename Translate>
    std::vector<TermBlock> counted(const nb::list &texts, Vector<uint32_t> alphabet, int threads,
                               Translate translate) const {
        std::vector<std::string_view> views;
        for (nb::handle text : texts) views.push_back(bytes_of(text));
        std::vector<TermBlock> blocks = cut(views);
        const Alphabet characters(alphabet.data(), alphabet.size());
        struct State {
            Parts parts;
            std::vector<int32_t> columns;
            Arranger arranger;
        };
        auto work = [&](State &state, int64_t task) {
            TermBlock &block = blocks[task];
            count(block, views, how_, characters, state.parts);
            state.columns.clear();
            if (translate(block.terms, state.columns)) {
                arrange(block, state.columns, state.arranger);
                block.terms = StringTable();
            }
            block.terms.close();
        };
        if (blocks.size() == 1) {  // starting a thread would cost more than a short text
            nb::gil_scoped_release release;
            State state;
            work(state, 0);
        } else {
            parallel_for(static_cast<int64_t>(blocks.size()), threads, [] { return State(); }, work);
        }
        return blocks;
    }

    void merge(TermBlock &block) {
        std::vector<int32_t> ids;
        for (int32_t id = 0; id < block.terms.size(); ++id) ids.push_back(terms_.insert(block.terms.key(id)));
        in_texts_.resize(terms_.size());
        occurrences_.resize(terms_.size());
        for (size_t i = 0; i < block.ids.size(); ++i) {
            const int32_t id = block.ids[i] = ids[block.ids[i]];
            ++in_texts_[id];
            occurrences_[id] += block.counts[i];
        }
        block.terms = StringTable();
    }

    Analysis how_;
    StringTable terms_;
    std::vector<int64_t> in_texts_, occurrences_;
};

// Renumbers and sorts the rows of counts; terms whose column is -1 are dropped.
Counts arrange_counts(Vector<int64_t> start, Vector<int32_t> ids, Vector<int32_t> counts, Vector<int32_t> columns,
                      int threads) {
    const auto rows = static_cast<int64_t>(start.size()) - 1;
    const int64_t rows_per_task = 1024, tasks = (rows + rows_per_task - 1) / rows_per_task;
    std::vector<TermBlock> blocks(static_cast<size_t>(tasks));
    parallel_for(tasks, threads, [] { return Arranger(); }, [&](Arranger &arranger, int64_t task) {
        TermBlock &block = blocks[task];
        const int64_t first = task * rows_per_task, last = std::min(rows, first + rows_per_task);
        const int64_t from = start(first), to = start(last);
        block.ids.resize(to - from);
        block.counts.resize(to - from);
        size_t kept = 0;
        for (int64_t row = first; row < last; ++row) {
            kept += arranger.arrange(ids.data() + start(row), counts.data() + start(row), start(row + 1) - start(row),
                                     columns.data(), block.ids.data() + kept, block.counts.data() + kept);
            block.ends.push_back(static_cast<int64_t>(kept));
        }
        block.ids.resize(kept);
        block.counts.resize(kept);
    });
    return gather(std::move(blocks));
}

}  // namespace

void bind_terms(nb::module_ &module) {
    using namespace nb::literals;
    nb::class_<TermIndex>(module, "TermIndex")
        .def(nb::init<const std::string &, int, int, int, const std::vector<nb::bytes> &>(), nb::kw_only(),
             "kind"_a, "shortest"_a, "longest"_a, "token_length"_a, "stop"_a)
        .def("learn", &TermIndex::learn, "texts"_a, "alphabet"_a, "threads"_a)
        .def("look_up", &TermIndex::look_up, "texts"_a, "alphabet"_a, "threads"_a)
        .def("hash", &TermIndex::hash, "texts"_a, "alphabet"_a, "bits"_a, "threads"_a)
        .def("insert", &TermIndex::insert, "data"_a, "offsets"_a)
        .def("sorted", &TermIndex::sorted, "ids"_a)
        .def("terms", &TermIndex::terms, "ids"_a)
        .def("__len__", &TermIndex::size)
        .def_prop_ro("in_texts", &TermIndex::in_texts, nb::rv_policy::move)
        .def_prop_ro("occurrences", &TermIndex::occurrences, nb::rv_policy::move);
    module.def("arrange_counts", &arrange_counts, "start"_a, "ids"_a, "counts"_a, "columns"_a, "threads"_a);
}

}  // namespace treetop
