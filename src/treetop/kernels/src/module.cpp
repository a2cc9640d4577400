// The native module: each kernel file binds its own functions here.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace treetop {
void bind_pifa(nb::module_ &module);
void bind_rows(nb::module_ &module);
void bind_kmeans(nb::module_ &module);
void bind_train(nb::module_ &module);
void bind_pack(nb::module_ &module);
void bind_search(nb::module_ &module);
void bind_terms(nb::module_ &module);
void bind_digests(nb::module_ &module);
void bind_probabilities(nb::module_ &module);
void bind_names(nb::module_ &module);
void bind_dense_level(nb::module_ &module);
}  // namespace treetop

NB_MODULE(_native, module) {
    nb::set_leak_warnings(false);  // a model that lives until Python ends, as in a script's globals, is no leak
    module.doc() = "treetop's native kernels; their definitions in plain numpy are in kernels/reference/";
    treetop::bind_pifa(module);
    treetop::bind_rows(module);
    treetop::bind_kmeans(module);
    treetop::bind_train(module);
    treetop::bind_pack(module);
    treetop::bind_search(module);
    treetop::bind_terms(module);
    treetop::bind_digests(module);
    treetop::bind_probabilities(module);
    treetop::bind_names(module);
    treetop::bind_dense_level(module);
}
