// The training solver, compiled once per instruction set (see kernel_per_isa in CMakeLists.txt).
//
// No standard containers here: their code would be shared with files compiled for lesser processors.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC bug 105593: false alarms inside its AVX-512 header
#endif
#include "train/hinge_solver.hpp"
#include "train/logistic_solver.hpp"

namespace treetop {
namespace TREETOP_ISA {
namespace {

template <typename Lanes, typename Id>
void solve_with(const BlockView &block, const LanesView &lanes, const TrainSettings &settings,
                const std::atomic<bool> &stop) {
    if (settings.loss == Loss::logistic)
        LogisticSolver<Lanes, Id>(block, lanes, settings).run(stop);
    else
        HingeSolver<Lanes, Id>(block, lanes, settings).run(stop);
}

template <typename Id>
void solve_width(const BlockView &block, const LanesView &lanes, const TrainSettings &settings,
                 const std::atomic<bool> &stop) {
    if (lanes.width == 4)
        solve_with<Lanes4, Id>(block, lanes, settings, stop);
    else if (lanes.width == 8)
        solve_with<Lanes8, Id>(block, lanes, settings, stop);
    else
        solve_with<Lanes16, Id>(block, lanes, settings, stop);
}

void solve(const BlockView &block, const LanesView &lanes, const TrainSettings &settings,
           const std::atomic<bool> &stop) {
    if (block.narrow)
        solve_width<uint16_t>(block, lanes, settings, stop);
    else
        solve_width<uint32_t>(block, lanes, settings, stop);
}

template <typename Lanes>
void find_large_with(const float *weight, int64_t features, float threshold, LaneBits *large) {
    // "not greater" would also drop weights that equal the threshold; the next smaller number keeps them.
    const Lanes limit = Lanes::all(__builtin_nextafterf(threshold, 0.0f));
    for (int64_t f = 0; f < features; ++f, weight += Lanes::width)
        large[f] = static_cast<LaneBits>(Lanes::bits(greater(magnitude(Lanes::load(weight)), limit)));
}

void find_large(const float *weight, int64_t features, int width, float threshold, LaneBits *large) {
    if (width == 4)
        find_large_with<Lanes4>(weight, features, threshold, large);
    else if (width == 8)
        find_large_with<Lanes8>(weight, features, threshold, large);
    else
        find_large_with<Lanes16>(weight, features, threshold, large);
}

}  // namespace

extern const TrainKernel train_kernel;
const TrainKernel train_kernel = {solve, find_large};

}  // namespace TREETOP_ISA
}  // namespace treetop
