// Links turn a margin into a log-probability, so that a path's score is a sum and nothing underflows.
#pragma once

namespace treetop {

enum class Link : int { noop = 0, hinge1 = 1, hinge2 = 2, hinge3 = 3, hinge4 = 4, sigmoid = 5 };

}  // namespace treetop
