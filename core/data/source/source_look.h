#pragma once

#include "core/data/source/data_manifest.h"

#include <chrono>

namespace furrow {

/// What keeps the local files of a data set from being read now, as far as a look at them tells without reading one:
/// gone, refused, or of another size than when the run was made. A sentence that names the first; "": nothing.
/// @param patience  then a disk or share that does not answer is the answer
Message whyDataIsNotAtHand(const DataManifest& manifest, std::chrono::milliseconds patience);

} // namespace furrow
