// train_nodes: the weights of every node, parent by parent. kernels/reference/train.py says what it computes.
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "common/arrays.hpp"
#include "common/isa.hpp"
#include "common/parallel.hpp"
#include "train/lane_trainer.hpp"
#include "train/parent_block.hpp"
#include "train/plan.hpp"

namespace treetop {
namespace {

// A parent without a single positive text in some child: no text ever belongs there, so it must lose every contest.
constexpr float never = -10.0f;

const TrainKernel &train_kernel() {
#if defined(TREETOP_X86)
    if (chosen_isa() == Isa::avx512) return avx512::train_kernel;
    if (chosen_isa() == Isa::avx2) return avx2::train_kernel;
#endif
    return generic::train_kernel;
}

// The block of a parent whose groups are separate tasks: built by the first, freed by the last.
struct SharedBlock {
    std::once_flag built;
    std::unique_ptr<ParentBlock> block;
    std::atomic<int64_t> tasks{0};
};

class Training {
   public:
    Training(const TrainFeatures &features, const TrainTree &tree, const TrainSettings &settings)
        : features_(features), tree_(tree), settings_(settings), plan_(plan_training(tree)), kept_(plan_.tasks.size()),
          shared_(static_cast<size_t>(tree.parents)) {
        for (const TrainTask &task : plan_.tasks)
            if (task.shared) {
                auto &block = shared_[static_cast<size_t>(task.parent)];
                if (!block) block = std::make_unique<SharedBlock>();
                ++block->tasks;
            }
    }

    // `progress` is told now and then how many more nodes are done; it may be None.
    void run(int threads, TrainOutput &output, const nb::object &progress) {
        const auto make_worker = [&] { return Worker(*this); };
        const auto work = [&](Worker &worker, int64_t task, const std::atomic<bool> &stop) {
            train(worker, task, stop, output);
        };
        int64_t told = 0;
        const auto report = [&] {
            const int64_t more = trained_ - told;
            if (progress.is_none() || more == 0) return;
            progress(more);
            told += more;
        };
        parallel_for(static_cast<int64_t>(plan_.tasks.size()), threads, make_worker, work, report);
        report();
    }

    // Copies the weights of each task to where its nodes' rows start, and frees them.
    void collect(const int64_t *start, int32_t *feature, float *value) {
        for (size_t t = 0; t < kept_.size(); ++t) {
            const int32_t *from_feature = kept_[t].feature.data();
            const float *from_value = kept_[t].value.data();
            for (const int32_t child : kept_[t].node) {
                const int64_t entries = start[child + 1] - start[child];
                std::copy(from_feature, from_feature + entries, feature + start[child]);
                std::copy(from_value, from_value + entries, value + start[child]);
                from_feature += entries;
                from_value += entries;
            }
            kept_[t] = TaskWeights();
        }
    }

   private:
    // What a thread keeps from task to task.
    struct Worker {
        explicit Worker(const Training &training)
            : trainer(training.tree_, training.settings_, train_kernel()),
              counts(training.features_.width()) {}
        ParentBlock block;
        LaneTrainer trainer;
        FeatureCounts counts;
    };

    void train(Worker &worker, int64_t t, const std::atomic<bool> &stop, TrainOutput &output) {
        const TrainTask &task = plan_.tasks[static_cast<size_t>(t)];
        SharedBlock *shared = shared_[static_cast<size_t>(task.parent)].get();
        const ParentBlock &block = shared ? shared_block(*shared, task.parent, worker) : own_block(task.parent, worker);
        TaskWeights &kept = kept_[static_cast<size_t>(t)];
        worker.trainer.train(block, plan_.nodes.data() + task.first, task.last - task.first, stop, output, kept);
        kept.feature.shrink_to_fit();
        kept.value.shrink_to_fit();
        if (shared && --shared->tasks == 0) shared->block.reset();
        trained_ += task.last - task.first;
    }

    const ParentBlock &own_block(int64_t parent, Worker &worker) {
        worker.block.build(features_, settings_.bias, tree_, parent, worker.counts);
        return worker.block;
    }

    const ParentBlock &shared_block(SharedBlock &shared, int64_t parent, Worker &worker) {
        std::call_once(shared.built, [&] {
            shared.block = std::make_unique<ParentBlock>();
            shared.block->build(features_, settings_.bias, tree_, parent, worker.counts);
        });
        return *shared.block;
    }

    const TrainFeatures features_;
    const TrainTree &tree_;
    const TrainSettings &settings_;
    TrainPlan plan_;
    std::vector<TaskWeights> kept_;  // by task
    std::vector<std::unique_ptr<SharedBlock>> shared_;  // by parent
    std::atomic<int64_t> trained_{0};  // nodes of the tasks that are done
};

Loss loss_named(const std::string &name) {
    if (name == "squared_hinge") return Loss::squared_hinge;
    if (name == "logistic") return Loss::logistic;
    throw std::invalid_argument("unknown loss " + name);
}

// Arrays are checked in kernels/train.py. Returns (indptr, indices, data, dense, bias).
nb::tuple train_nodes(std::optional<Vector<int64_t>> indptr, std::optional<Vector<int32_t>> indices,
                      std::optional<Vector<float>> data, int64_t columns, std::optional<Matrix<float>> dense,
                      Vector<int64_t> children_ptr, Vector<int64_t> shortlisted_ptr, Vector<int32_t> shortlisted,
                      Vector<int64_t> positive_ptr, Vector<int32_t> positive,
                      std::optional<Vector<float>> positive_cost, std::optional<Vector<float>> negative_cost,
                      const std::string &loss, float c_positive, float c_negative, float bias, float eps, int max_iter,
                      float threshold, int64_t max_weights, uint64_t seed, int64_t first_child, double level_cost,
                      int threads, nb::object progress) {
    TrainFeatures features{};
    if (indptr) {
        features.texts = static_cast<int64_t>(indptr->size()) - 1;
        features.sparse = {indptr->data(), indices->data(), data->data(), features.texts, columns};
    }
    if (dense) {
        features.texts = static_cast<int64_t>(dense->shape(0));
        features.dims = static_cast<int64_t>(dense->shape(1));
        features.dense = dense->data();
    }
    const TrainTree tree{static_cast<int64_t>(children_ptr.size()) - 1,
                         static_cast<int64_t>(positive_ptr.size()) - 1,
                         children_ptr.data(),
                         shortlisted_ptr.data(),
                         shortlisted.data(),
                         positive_ptr.data(),
                         positive.data(),
                         positive_cost ? positive_cost->data() : nullptr,
                         negative_cost ? negative_cost->data() : nullptr,
                         first_child,
                         level_cost};
    const TrainSettings settings{loss_named(loss), c_positive, c_negative,  bias, eps,
                                 max_iter,         threshold,  max_weights, seed};

    const auto children = static_cast<size_t>(tree.children);
    std::vector<int64_t> start(children + 1, 0);
    std::vector<float> dense_weight(children * static_cast<size_t>(features.dims), 0.0f), bias_weight(children, never);
    TrainOutput output{start.data() + 1, dense_weight.data(), bias_weight.data()};
    Training training(features, tree, settings);
    training.run(threads, output, progress);
    for (size_t child = 0; child < children; ++child) start[child + 1] += start[child];
    std::vector<int32_t> feature(static_cast<size_t>(start[children]));
    std::vector<float> value(static_cast<size_t>(start[children]));
    training.collect(start.data(), feature.data(), value.data());
    return nb::make_tuple(to_numpy(std::move(start)), to_numpy(std::move(feature)), to_numpy(std::move(value)),
                          to_numpy(std::move(dense_weight), children, static_cast<size_t>(features.dims)),
                          to_numpy(std::move(bias_weight)));
}

}  // namespace

void bind_train(nb::module_ &module) {
    using namespace nb::literals;
    module.def("isa", [] { return name_of(chosen_isa()); }, "The instruction set the kernels use on this processor.");
    module.def("train_nodes", &train_nodes, nb::kw_only(), "indptr"_a.none(), "indices"_a.none(), "data"_a.none(),
               "columns"_a, "dense"_a.none(), "children_ptr"_a, "shortlisted_ptr"_a, "shortlisted"_a, "positive_ptr"_a,
               "positive"_a, "positive_cost"_a.none(), "negative_cost"_a.none(), "loss"_a, "c_positive"_a,
               "c_negative"_a, "bias"_a, "eps"_a, "max_iter"_a, "threshold"_a, "max_weights"_a, "seed"_a,
               "first_child"_a, "level_cost"_a, "threads"_a, "progress"_a.none());
}

}  // namespace treetop
