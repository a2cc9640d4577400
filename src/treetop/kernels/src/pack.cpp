// Turns the weights of a level's nodes into one chunk per parent: rows = features, entries = (child, weight).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "arrays.hpp"
#include "half.hpp"
#include "parallel.hpp"

namespace treetop {
namespace {

constexpr float kLargestHalf = 65504.0f;

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

std::vector<int64_t> count_rows(const Rows &weights, const int64_t *children_ptr, int64_t parents, int threads) {
    std::vector<int64_t> row_ptr(static_cast<size_t>(parents) + 1, 0);
    parallel_for(parents, threads, chunk_counts_maker(weights), [&](ChunkCounts &counts, int64_t parent) {
        counts.count(weights, children_ptr[parent], children_ptr[parent + 1]);
        counts.clear();
        row_ptr[parent + 1] = static_cast<int64_t>(counts.touched.size());
    });
    std::partial_sum(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
    return row_ptr;
}

inline void store(float value, float &place) { place = value; }
inline void store(float value, uint16_t &place) { place = narrow(value); }

template <typename Child, typename Value>
struct Chunks {
    std::vector<int64_t> row_ptr;
    std::vector<int32_t> row_feature;
    std::vector<int64_t> entry_ptr;
    std::vector<Child> entry_child;
    std::vector<Value> entry_value;

    // A chunk's entries are as many as its nodes' weights, so every chunk knows its place in advance.
    void fill(const Rows &weights, int64_t first, int64_t last, int64_t parent, ChunkCounts &counts) {
        counts.count(weights, first, last);
        std::sort(counts.touched.begin(), counts.touched.end());
        const int64_t base = weights.begin(first);
        int64_t row = row_ptr[parent], entry = 0;
        for (const int32_t feature : counts.touched) {
            row_feature[row] = feature;
            entry_ptr[row++] = base + entry;
            const int64_t size = counts.entries[feature];
            counts.entries[feature] = entry;
            entry += size;
        }
        for (int64_t node = first; node < last; ++node)
            for (int64_t e = weights.begin(node); e < weights.end(node); ++e) {
                const int64_t at = base + counts.entries[weights.column[e]]++;
                entry_child[at] = static_cast<Child>(node - first);
                store(weights.value[e], entry_value[at]);
            }
        counts.clear();
    }
};

template <typename Child, typename Value>
nb::tuple pack_as(const Rows &weights, const int64_t *children_ptr, int64_t parents, int threads) {
    Chunks<Child, Value> chunks;
    chunks.row_ptr = count_rows(weights, children_ptr, parents, threads);
    const int64_t rows = chunks.row_ptr.back(), entries = weights.begin(weights.rows);
    chunks.row_feature.resize(static_cast<size_t>(rows));
    chunks.entry_ptr.resize(static_cast<size_t>(rows) + 1);
    chunks.entry_ptr[rows] = entries;
    chunks.entry_child.resize(static_cast<size_t>(entries));
    chunks.entry_value.resize(static_cast<size_t>(entries));
    parallel_for(parents, threads, chunk_counts_maker(weights), [&](ChunkCounts &counts, int64_t parent) {
        chunks.fill(weights, children_ptr[parent], children_ptr[parent + 1], parent, counts);
    });
    return nb::make_tuple(to_numpy(std::move(chunks.row_ptr)), to_numpy(std::move(chunks.row_feature)),
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
