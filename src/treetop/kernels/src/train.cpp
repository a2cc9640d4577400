#include "arrays.hpp"
#include "parallel.hpp"

namespace treetop {

void bind_train(nb::module_ &) {}

}  // namespace treetop
