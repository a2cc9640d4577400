// A level with a dense row of weights per node: margins of some nodes of each text, or the best of all.
#include <algorithm>
#include <optional>
#include <vector>

#include <nanobind/stl/optional.h>

#include "common/arrays.hpp"
#include "common/isa.hpp"
#include "common/parallel.hpp"
#include "search/best.hpp"
#include "search/dot_kernels.hpp"

namespace treetop {

#ifdef TREETOP_X86
extern const DotKernels dot_kernels_avx2, dot_kernels_avx512;
#endif
extern const DotKernels dot_kernels_generic;

const DotKernels &dot_kernels() {
#ifdef TREETOP_X86
    static const DotKernels &kernels = chosen_isa() == Isa::avx512 ? dot_kernels_avx512
                                       : chosen_isa() == Isa::avx2 ? dot_kernels_avx2
                                                                   : dot_kernels_generic;
    return kernels;
#else
    return dot_kernels_generic;
#endif
}

namespace {

constexpr int64_t kTextsAtOnce = 32;  // whose margins with a block of rows stay in the cache
constexpr int64_t kRowsAtOnce = 128;

NumpyVector<float> margins_at(Matrix<float> states, Matrix<float> weight, std::optional<Vector<float>> bias,
                              Vector<int64_t> start, Vector<int32_t> node, int threads) {
    const int64_t texts = states.shape(0), width = states.shape(1);
    std::vector<float> margin(node.size());
    const float *offset = bias ? bias->data() : nullptr;
    parallel_for(texts, threads, [] { return 0; }, [&](int, int64_t text) {
        const int64_t first = start.data()[text], size = start.data()[text + 1] - first;
        const int32_t *nodes = node.data() + first;
        dot_kernels().of_rows(states.data() + text * width, weight.data(), nodes, size, width, margin.data() + first);
        if (offset)
            for (int64_t i = 0; i < size; ++i) margin[first + i] += offset[nodes[i]];
    });
    return to_numpy(std::move(margin));
}

struct Room {
    std::vector<float> margin;
    std::vector<Candidate> kept;
};

// Offers the margins of a text with neighbouring nodes, the first of which has the given number.
void offer(const float *margin, const float *offset, const uint8_t *open, int64_t first, int64_t size, Best &best) {
    for (int64_t i = 0; i < size; ++i) {
        const float value = margin[i] + (offset ? offset[first + i] : 0.0f) + 0.0f;
        if (value < best.bar() || (open && !open[first + i])) continue;
        best.offer(make_candidate(value, 0.0f, static_cast<int32_t>(first + i)));
    }
}

nb::tuple best_nodes(Matrix<float> states, Matrix<float> weight, std::optional<Vector<float>> bias, int64_t k,
                     std::optional<Vector<uint8_t>> open, int threads) {
    const int64_t texts = states.shape(0), width = states.shape(1), nodes = weight.shape(0);
    std::vector<int32_t> found(texts * k, -1);
    std::vector<float> margin(texts * k, 0.0f);
    const float *offset = bias ? bias->data() : nullptr;
    const uint8_t *mask = open ? open->data() : nullptr;
    const auto make_room = [&] {
        return Room{std::vector<float>(kTextsAtOnce * kRowsAtOnce), std::vector<Candidate>(kTextsAtOnce * k)};
    };
    parallel_for((texts + kTextsAtOnce - 1) / kTextsAtOnce, threads, make_room, [&](Room &room, int64_t block) {
        const int64_t begin = block * kTextsAtOnce, size = std::min(kTextsAtOnce, texts - begin);
        std::vector<Best> best;
        for (int64_t t = 0; t < size; ++t) best.emplace_back(room.kept.data() + t * k, k);
        for (int64_t first = 0; first < nodes; first += kRowsAtOnce) {
            const int64_t rows = std::min(kRowsAtOnce, nodes - first);
            dot_kernels().of_block(states.data() + begin * width, size, weight.data() + first * width, rows, width,
                                   room.margin.data());
            for (int64_t t = 0; t < size; ++t) offer(room.margin.data() + t * rows, offset, mask, first, rows, best[t]);
        }
        for (int64_t t = 0; t < size; ++t) {
            best[t].sort();
            int64_t place = (begin + t) * k;
            for (const Candidate &node : best[t]) {
                found[place] = node.id;
                margin[place++] = node.score();
            }
        }
    });
    return nb::make_tuple(to_numpy(std::move(found), texts, k), to_numpy(std::move(margin), texts, k));
}

}  // namespace

void bind_dense_level(nb::module_ &module) {
    module.def("margins_at", &margins_at, nb::arg("states"), nb::arg("weight"), nb::arg("bias").none(),
               nb::arg("start"), nb::arg("node"), nb::arg("threads"));
    module.def("best_nodes", &best_nodes, nb::arg("states"), nb::arg("weight"), nb::arg("bias").none(), nb::arg("k"),
               nb::arg("allowed").none(), nb::arg("threads"));
}

}  // namespace treetop
