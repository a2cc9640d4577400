// What Python sees of the search: a Searcher over packed levels. Arguments are checked in kernels/search.py.
#include <optional>
#include <string>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "common/arrays.hpp"
#include "common/parallel.hpp"
#include "search/tree_search.hpp"

namespace treetop {
namespace {

using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
const T *data_of(const nb::dict &arrays, const char *name) {
    return nb::cast<Vector<T>>(arrays[name]).data();
}

AnyVector any_vector(const nb::dict &arrays, const char *name) { return nb::cast<AnyVector>(arrays[name]); }

int bits_of(const nb::dict &arrays, const char *name) { return any_vector(arrays, name).dtype().bits; }

void measure_children(Level &level) {
    for (int64_t parent = 0; parent < level.parents; ++parent) {
        level.max_children = std::max(level.max_children, level.children_of(parent));
    }
}

Level view_level(const nb::dict &arrays) {
    Level level;
    level.parents = static_cast<int64_t>(any_vector(arrays, "children_ptr").size()) - 1;
    level.features = data_of<int64_t>(arrays, "width")[0];
    level.nodes = static_cast<int64_t>(any_vector(arrays, "children").size());
    level.entries = static_cast<int64_t>(any_vector(arrays, "entry_child").size());
    level.feature_bits = bits_of(arrays, "row_feature");
    level.offset_bits = bits_of(arrays, "entry_ptr");
    level.child_bits = bits_of(arrays, "entry_child");
    level.value_bits = bits_of(arrays, "entry_value");
    level.pages = (static_cast<int64_t>(any_vector(arrays, "row_ptr").size()) - 1) / std::max<int64_t>(1, level.parents);
    level.row_ptr = data_of<int64_t>(arrays, "row_ptr");
    level.row_feature = any_vector(arrays, "row_feature").data();
    level.entry_ptr = any_vector(arrays, "entry_ptr").data();
    level.entry_child = any_vector(arrays, "entry_child").data();
    level.entry_value = any_vector(arrays, "entry_value").data();
    if (arrays.contains("entry_turn")) {
        level.entry_turn = data_of<int64_t>(arrays, "entry_turn");
        level.turns = static_cast<int64_t>(any_vector(arrays, "entry_turn").size());
    }
    if (arrays.contains("scale")) level.scale = data_of<float>(arrays, "scale");
    level.bias = data_of<float>(arrays, "bias");
    level.children_ptr = data_of<int64_t>(arrays, "children_ptr");
    level.children = data_of<int32_t>(arrays, "children");
    if (arrays.contains("dense")) {
        level.dense = any_vector(arrays, "dense").data();
        level.dense_half = bits_of(arrays, "dense") == 16;
        level.dims = level.nodes == 0 ? 0 : static_cast<int64_t>(any_vector(arrays, "dense").size()) / level.nodes;
    }
    measure_children(level);
    return level;
}

// What is out of range would be read from or written to memory that is not ours.
void check_range(const int32_t *ids, size_t size, int64_t end, const char *what) {
    uint32_t largest = 0;  // a negative id is a huge one
    for (size_t i = 0; i < size; ++i) largest = std::max(largest, static_cast<uint32_t>(ids[i]));
    if (size > 0 && largest >= static_cast<uint64_t>(end))
        throw nb::index_error((std::string(what) + " " + std::to_string(static_cast<int32_t>(largest)) +
                               " is not in [0, " + std::to_string(end) + ")")
                                  .c_str());
}

Texts view_texts(const Level &level, int64_t count, const std::optional<Vector<int64_t>> &indptr,
                 const std::optional<Vector<int32_t>> &indices, const std::optional<Vector<float>> &data,
                 const std::optional<Matrix<float>> &dense) {
    Texts texts;
    texts.count = count;
    if (indptr) {
        texts.start = indptr->data();
        texts.feature = indices->data();
        texts.value = data->data();
        check_range(texts.feature, indices->size(), level.features, "feature");
        texts.columns = level.features;
    }
    if (dense) {
        texts.dense = dense->data();
        texts.dims = static_cast<int64_t>(dense->shape(1));
    }
    return texts;
}

using Masks = std::vector<Vector<uint8_t>>;

Allowed view_masks(const std::optional<Masks> &masks) {
    Allowed allowed;
    if (masks)
        for (const Vector<uint8_t> &mask : *masks) allowed.levels.push_back(mask.data());
    return allowed;
}

class Searcher {
public:
    Searcher(const Searcher &) = delete;
    explicit Searcher(nb::list levels) : owners_(levels) {
        for (const nb::handle arrays : levels)
            levels_.push_back(std::make_unique<SearchLevel>(view_level(nb::cast<nb::dict>(arrays)), levels_.size()));
    }

    nb::tuple search(int64_t count, std::optional<Vector<int64_t>> indptr, std::optional<Vector<int32_t>> indices,
                     std::optional<Vector<float>> data, std::optional<Matrix<float>> dense, const Settings &settings,
                     std::optional<Masks> allowed, int threads) const {
        const Texts texts = view_texts(levels_[0]->level(), count, indptr, indices, data, dense);
        std::vector<int32_t> labels(static_cast<size_t>(count * settings.k));
        std::vector<float> scores(labels.size());
        search_batch(levels_, texts, settings, view_masks(allowed), threads, labels.data(), scores.data());
        return nb::make_tuple(to_numpy(std::move(labels), count, settings.k),
                              to_numpy(std::move(scores), count, settings.k));
    }

    nb::tuple search_one(Vector<int32_t> indices, Vector<float> values, std::optional<Vector<float>> dense,
                         const Settings &settings, std::optional<Masks> allowed) const {
        check_range(indices.data(), indices.size(), levels_[0]->level().features, "feature");
        const Query query{indices.data(), values.data(), static_cast<int64_t>(indices.size()),
                          dense ? dense->data() : nullptr};
        const Allowed masks = view_masks(allowed);
        std::vector<int32_t> labels(static_cast<size_t>(settings.k));
        std::vector<float> scores(labels.size());
        {
            nb::gil_scoped_release release;
            treetop::search_one(levels_, query, settings, masks, labels.data(), scores.data());
        }
        return nb::make_tuple(to_numpy(std::move(labels)), to_numpy(std::move(scores)));
    }

    nb::tuple score(int64_t level, int64_t count, std::optional<Vector<int64_t>> indptr,
                    std::optional<Vector<int32_t>> indices, std::optional<Vector<float>> data,
                    std::optional<Matrix<float>> dense, std::optional<Vector<int64_t>> shortlist_ptr,
                    std::optional<Vector<int32_t>> shortlist_parent, std::optional<Vector<float>> shortlist_score,
                    std::optional<Vector<uint8_t>> open, int link, bool add_path, int64_t keep, int threads) const {
        Shortlist shortlist;
        if (shortlist_ptr) {
            shortlist.start = shortlist_ptr->data();
            shortlist.parent = shortlist_parent->data();
            check_range(shortlist.parent, shortlist_parent->size(), levels_[level]->level().parents, "parent");
            if (shortlist_score) shortlist.score = shortlist_score->data();
        }
        const Texts texts = view_texts(levels_[0]->level(), count, indptr, indices, data, dense);
        NodeScores result = score_level(*levels_[level], texts, shortlist, open ? open->data() : nullptr,
                                        static_cast<Link>(link), add_path, keep, threads);
        return nb::make_tuple(to_numpy(std::move(result.start)), to_numpy(std::move(result.node)),
                              to_numpy(std::move(result.score)));
    }

private:
    nb::list owners_;  // keeps the arrays alive
    Levels levels_;
};

Settings make_settings(std::vector<int64_t> beams, int64_t k, int link, int leaf_link, bool multiply) {
    return {std::move(beams), k, static_cast<Link>(link), static_cast<Link>(leaf_link), multiply};
}

}  // namespace

void bind_search(nb::module_ &module) {
    nb::class_<Settings>(module, "SearchSettings")
        .def_static("make", &make_settings, nb::arg("beams"), nb::arg("k"), nb::arg("link"), nb::arg("leaf_link"),
                    nb::arg("multiply"));
    nb::class_<Searcher>(module, "Searcher")
        .def(nb::init<nb::list>(), nb::arg("levels"))
        .def("search", &Searcher::search, nb::arg("count"), nb::arg("indptr").none(), nb::arg("indices").none(),
             nb::arg("data").none(), nb::arg("dense").none(), nb::arg("settings"), nb::arg("allowed").none(),
             nb::arg("threads"))
        .def("search_one", &Searcher::search_one, nb::arg("indices"), nb::arg("values"), nb::arg("dense").none(),
             nb::arg("settings"), nb::arg("allowed").none())
        .def("score", &Searcher::score, nb::arg("level"), nb::arg("count"), nb::arg("indptr").none(),
             nb::arg("indices").none(), nb::arg("data").none(), nb::arg("dense").none(),
             nb::arg("shortlist_ptr").none(), nb::arg("shortlist_parent").none(), nb::arg("shortlist_score").none(),
             nb::arg("allowed").none(), nb::arg("link"), nb::arg("add_path"), nb::arg("keep"), nb::arg("threads"));
}

}  // namespace treetop
