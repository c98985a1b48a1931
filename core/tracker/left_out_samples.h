#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>

namespace furrow {

/// Samples of committed chunks that are in no weights, by epoch: their windows were left out by name, because their
/// steps were not finite. Counted as the audit counts them: of each chunk in proportion to its windows. Looks at every
/// part, but of a run that left nothing out and is at rest.
Result<std::map<std::int64_t, std::int64_t>> samplesLeftOut(const std::filesystem::path& tracker);

} // namespace furrow
