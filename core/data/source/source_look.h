#pragma once

#include "core/base/message.h"
#include "core/base/result.h"
#include "core/data/source/data_manifest.h"

#include <chrono>
#include <map>
#include <string>

namespace furrow {

/// How the local files of a data set are now, beside what they were when the run was made.
struct LocalFilesLook {
    Status asItWas; ///< as SourceIdentity::checkAll() says of them
    std::map<std::string, Message> changed; ///< path of a file that is another one now, or removed -> how
    Message away; ///< why a file that did not change cannot be read now; "": all can
    Message unknown; ///< why not all could be looked at: the rest is not set then; "": all were
};

/// What opening these files for training would answer: they are looked at with the same function, and read as it reads
/// them. A file that is gone while its folder is there counts as removed at once.
/// @param patience  then a disk or share that does not answer is the answer
/// @param readingPatience  for the hashes of all files, after that
LocalFilesLook lookAtLocalFiles(
    const DataManifest& manifest, std::chrono::milliseconds patience, std::chrono::milliseconds readingPatience);

} // namespace furrow
