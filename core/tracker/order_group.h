#pragma once

#include "core/tracker/order.h"

namespace furrow {

/// Of a claim order: the group of blocks whose chunks are mixed. Lower ones come first. In source order each block is a
/// group.
std::int64_t groupOf(const OrderRule& rule, std::int64_t claimOrder);

} // namespace furrow
