// Turns the weights of a level's nodes into one chunk per parent: rows = features, entries = (child, weight).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "common/arrays.hpp"
#include "common/half.hpp"
#include "common/parallel.hpp"
#include "search/level.hpp"

namespace treetop {
namespace {

constexpr float kLargestHalf = 65504.0f;

int64_t stored_entries(int64_t entries, int64_t children) {
    return is_stored_in_full(entries, children) ? children : entries;
}

// Features of the chunk in hand; memory of one thread, clean between chunks.
struct ChunkCounts {
    std::vector<int64_t> entries;  // per feature: how many, then where the next one goes
    std::vector<int32_t> touched;  // features with entries

    void count(const Rows &weights, int64_t first, int64_t last) {
        touched.clear();
        for (int64_t e = weights.begin(first); e < weights.begin(last); ++e)
            if (entries[weights.column[e]]++ == 0) touched.push_back(weights.column[e]);
    }

    void clear() {
        for (const int32_t feature : touched) entries[feature] = 0;
    }
};

auto chunk_counts_maker(const Rows &weights) {
    return [&weights] {
        ChunkCounts counts;
        counts.entries.assign(static_cast<size_t>(weights.columns), 0);
        return counts;
    };
}

struct Sizes {
    std::vector<int64_t> row_ptr;    // rows before each chunk
    std::vector<int64_t> entry_ptr;  // entries before each chunk
};

Sizes measure(const Rows &weights, const int64_t *children_ptr, int64_t parents, int threads) {
    Sizes sizes{std::vector<int64_t>(static_cast<size_t>(parents) + 1, 0),
                std::vector<int64_t>(static_cast<size_t>(parents) + 1, 0)};
    parallel_for(parents, threads, chunk_counts_maker(weights), [&](ChunkCounts &counts, int64_t parent) {
        const int64_t children = children_ptr[parent + 1] - children_ptr[parent];
        counts.count(weights, children_ptr[parent], children_ptr[parent + 1]);
        sizes.row_ptr[parent + 1] = static_cast<int64_t>(counts.touched.size());
        for (const int32_t feature : counts.touched)
            sizes.entry_ptr[parent + 1] += stored_entries(counts.entries[feature], children);
        counts.clear();
    });
    std::partial_sum(sizes.row_ptr.begin(), sizes.row_ptr.end(), sizes.row_ptr.begin());
    std::partial_sum(sizes.entry_ptr.begin(), sizes.entry_ptr.end(), sizes.entry_ptr.begin());
    return sizes;
}

inline void store(float value, float &place) { place = value; }
inline void store(float value, uint16_t &place) { place = narrow(value); }

template <typename Child, typename Value>
struct Chunks {
    std::vector<int32_t> row_feature;
    std::vector<int64_t> entry_ptr;
    std::vector<Child> entry_child;
    std::vector<Value> entry_value;

    // Writes the rows and leaves in counts.entries where the first entry of each feature goes; of a row that is stored
    // in full, the place of child 0 as its complement, a negative number.
    void lay_out(int64_t row, int64_t entry, int64_t children, ChunkCounts &counts) {
        std::sort(counts.touched.begin(), counts.touched.end());
        for (const int32_t feature : counts.touched) {
            row_feature[row] = feature;
            entry_ptr[row++] = entry;
            int64_t &place = counts.entries[feature];
            const int64_t size = stored_entries(place, children);
            const bool full = is_stored_in_full(place, children);
            place = full ? ~entry : entry;
            for (int64_t c = 0; full && c < children; ++c) entry_child[entry + c] = static_cast<Child>(c);
            entry += size;
        }
    }

    void fill(const Rows &weights, int64_t first, int64_t last, ChunkCounts &counts) {
        for (int64_t node = first; node < last; ++node)
            for (int64_t e = weights.begin(node); e < weights.end(node); ++e) {
                int64_t &place = counts.entries[weights.column[e]];
                const int64_t child = node - first, at = place < 0 ? ~place + child : place++;
                entry_child[at] = static_cast<Child>(child);
                store(weights.value[e], entry_value[at]);
            }
    }
};

template <typename Child, typename Value>
nb::tuple pack_as(const Rows &weights, const int64_t *children_ptr, int64_t parents, int threads) {
    Sizes sizes = measure(weights, children_ptr, parents, threads);
    const int64_t rows = sizes.row_ptr.back(), entries = sizes.entry_ptr.back();
    Chunks<Child, Value> chunks;
    chunks.row_feature.resize(static_cast<size_t>(rows));
    chunks.entry_ptr.resize(static_cast<size_t>(rows) + 1);
    chunks.entry_ptr[rows] = entries;
    chunks.entry_child.resize(static_cast<size_t>(entries));
    chunks.entry_value.resize(static_cast<size_t>(entries));  // zeros: what is missing in full rows
    parallel_for(parents, threads, chunk_counts_maker(weights), [&](ChunkCounts &counts, int64_t parent) {
        const int64_t first = children_ptr[parent], last = children_ptr[parent + 1];
        counts.count(weights, first, last);
        chunks.lay_out(sizes.row_ptr[parent], sizes.entry_ptr[parent], last - first, counts);
        chunks.fill(weights, first, last, counts);
        counts.clear();
    });
    return nb::make_tuple(to_numpy(std::move(sizes.row_ptr)), to_numpy(std::move(chunks.row_feature)),
                          to_numpy(std::move(chunks.entry_ptr)), to_numpy(std::move(chunks.entry_child)),
                          to_numpy(std::move(chunks.entry_value)));
}

nb::tuple pack_sparse(Vector<int64_t> indptr, Vector<int32_t> indices, Vector<float> data, int64_t columns,
                      Vector<int64_t> children_ptr, bool wide, bool half, int threads) {
    const Rows weights{indptr.data(), indices.data(), data.data(), static_cast<int64_t>(indptr.size()) - 1, columns};
    const int64_t parents = static_cast<int64_t>(children_ptr.size()) - 1;
    const auto pack = wide ? (half ? pack_as<uint32_t, uint16_t> : pack_as<uint32_t, float>)
                           : (half ? pack_as<uint16_t, uint16_t> : pack_as<uint16_t, float>);
    return pack(weights, children_ptr.data(), parents, threads);
}

// Each chunk transposed: dimension by dimension, the weights of all children side by side.
template <typename Value>
NumpyVector<Value> pack_dense_as(const Matrix<float> &dense, const Vector<int64_t> &children_ptr, int threads) {
    const int64_t dims = static_cast<int64_t>(dense.shape(1)), parents = static_cast<int64_t>(children_ptr.size()) - 1;
    const float *from = dense.data();
    const int64_t *start = children_ptr.data();
    std::vector<Value> packed(dense.size());
    parallel_for(parents, threads, [] { return 0; }, [&](int, int64_t parent) {
        const int64_t first = start[parent], children = start[parent + 1] - first;
        Value *chunk = packed.data() + first * dims;
        for (int64_t c = 0; c < children; ++c)
            for (int64_t d = 0; d < dims; ++d) store(from[(first + c) * dims + d], chunk[d * children + c]);
    });
    return to_numpy(std::move(packed));
}

nb::object pack_dense(Matrix<float> dense, Vector<int64_t> children_ptr, bool half, int threads) {
    if (half) return nb::cast(pack_dense_as<uint16_t>(dense, children_ptr, threads));
    return nb::cast(pack_dense_as<float>(dense, children_ptr, threads));
}

// Whether all values are finite and, if they are to be halves, small enough; so that no score can become NaN.
bool storable(nb::ndarray<const float, nb::c_contig, nb::device::cpu> values, bool half) {
    const float limit = half ? kLargestHalf : 3.4028234e38f;
    const float *data = values.data();
    const size_t size = values.size();
    bool good = true;
    for (size_t i = 0; i < size; ++i) good &= std::fabs(data[i]) <= limit;
    return good;
}

}  // namespace

void bind_pack(nb::module_ &module) {
    module.def("pack_sparse", &pack_sparse, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("columns"),
               nb::arg("children_ptr"), nb::arg("wide"), nb::arg("half"), nb::arg("threads"));
    module.def("pack_dense", &pack_dense, nb::arg("dense"), nb::arg("children_ptr"), nb::arg("half"),
               nb::arg("threads"));
    module.def("storable", &storable, nb::arg("values"), nb::arg("half"));
}

}  // namespace treetop
