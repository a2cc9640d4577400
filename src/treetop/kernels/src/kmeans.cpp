#include "arrays.hpp"
#include "parallel.hpp"

namespace treetop {

void bind_kmeans(nb::module_ &) {}

}  // namespace treetop
