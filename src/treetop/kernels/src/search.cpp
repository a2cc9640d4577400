#include "arrays.hpp"
#include "parallel.hpp"

namespace treetop {

void bind_search(nb::module_ &) {}

}  // namespace treetop
