// Scores of ranked labels as probabilities: a monotone map for each band of labels, then lists that never rise.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/arrays.hpp"

namespace treetop {
namespace {

// A map from scores to probabilities: straight lines between knots, level outside them.
struct Curve {
    const float *knot;
    const float *value;
    int64_t size;

    double at(float score) const {
        const int64_t right = std::upper_bound(knot, knot + size, score) - knot;
        if (right == 0) return value[0];
        if (right == size) return value[size - 1];
        const double slope = (double(value[right]) - value[right - 1]) / (double(knot[right]) - knot[right - 1]);
        return slope * (double(score) - knot[right - 1]) + value[right - 1];
    }
};

// A place of a list: its probability, and how much it counts.
struct Place {
    double value;
    double weight;
};

// Weighted means of neighbours that are pooled because the later one was larger.
struct Pool {
    double sum;
    double weight;
    int64_t size;

    bool below(const Pool &next) const { return sum * next.weight < next.sum * weight; }
};

// Writes the list closest to the given probabilities, by weighted least squares, that never rises.
void write_falling(const Place *given, int64_t size, std::vector<Pool> &pools, float *out) {
    pools.clear();
    for (const Place *place = given; place != given + size; ++place) {
        Pool last{place->value * place->weight, place->weight, 1};
        for (; !pools.empty() && pools.back().below(last); pools.pop_back()) {
            last.sum += pools.back().sum;
            last.weight += pools.back().weight;
            last.size += pools.back().size;
        }
        pools.push_back(last);
    }
    for (const Pool &pool : pools) out = std::fill_n(out, pool.size, float(pool.sum / pool.weight));
}

std::string beyond(int32_t label, size_t labels) {
    return "label " + std::to_string(label) + " is not among the " + std::to_string(labels) + " labels that have a band";
}

NumpyMatrix<float> probabilities(Matrix<int32_t> labels, Matrix<float> scores, Vector<uint8_t> band,
                                 Vector<int64_t> start, Vector<float> knot, Vector<float> value, Vector<float> weight) {
    const int64_t rows = labels.shape(0), k = labels.shape(1);
    std::vector<float> out(rows * k, 0.0f);
    std::vector<Place> given(k);
    std::vector<Pool> pools;
    for (int64_t row = 0; row < rows; ++row) {
        int64_t size = 0;  // labels come first, places that are not taken behind them
        for (; size < k && labels.data()[row * k + size] >= 0; ++size) {
            const int32_t label = labels.data()[row * k + size];
            if (label >= int64_t(band.size())) throw std::out_of_range(beyond(label, band.size()));
            const uint8_t own = band.data()[label];
            const int64_t first = start.data()[own], last = start.data()[own + 1];
            const Curve curve{knot.data() + first, value.data() + first, last - first};
            given[size] = {curve.at(scores.data()[row * k + size]), weight.data()[own]};
        }
        write_falling(given.data(), size, pools, out.data() + row * k);
    }
    return to_numpy(std::move(out), rows, k);
}

}  // namespace

void bind_probabilities(nb::module_ &module) {
    module.def("probabilities", &probabilities, nb::arg("labels"), nb::arg("scores"), nb::arg("band"),
               nb::arg("start"), nb::arg("knot"), nb::arg("value"), nb::arg("weight"));
}

}  // namespace treetop
