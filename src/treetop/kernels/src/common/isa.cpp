#include "common/isa.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace treetop {
namespace {

bool available(Isa isa) {
#if defined(TREETOP_X86)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    if (isa == Isa::avx2) return avx2;
    if (isa == Isa::avx512) return avx512;
#endif
    return isa == Isa::generic;
}

Isa choose() {
    const char *wish = std::getenv("TREETOP_ISA");
    const bool any = wish == nullptr || *wish == '\0';
    for (Isa isa : {Isa::avx512, Isa::avx2, Isa::generic})
        if ((any || name_of(isa) == std::string(wish)) && available(isa)) return isa;
    throw std::invalid_argument("TREETOP_ISA=" + std::string(wish) +
                                " is unknown or not supported by this processor; use generic, avx2 or avx512, or unset it");
}

}  // namespace

Isa chosen_isa() {
    static const Isa isa = choose();
    return isa;
}

const char *name_of(Isa isa) {
    return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "generic";
}

}  // namespace treetop
