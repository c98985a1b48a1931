#pragma once

#include "core/base/result.h"

#include <exception>

namespace furrow {

/// What an exception of a library means. One that says that no thread could be made names the limits that do it: its
/// own words, "Resource temporarily unavailable", name nothing.
Error caught(const std::exception& exception);

} // namespace furrow
