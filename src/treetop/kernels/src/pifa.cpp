#include "arrays.hpp"
#include "parallel.hpp"

namespace treetop {

void bind_pifa(nb::module_ &) {}

}  // namespace treetop
