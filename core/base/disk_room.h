#pragma once

#include "core/base/message.h"

#include <filesystem>

namespace furrow {

/// The disk of a path has room for bytes and for no file more: its inodes are used up. False where neither the path nor
/// a folder above it is there.
bool isOutOfFiles(const std::filesystem::path& path);
/// Why nothing more can be written to a disk that says it is full, and what helps; the end of a sentence.
Message noRoomInWords(const std::filesystem::path& path);

/// To write beyond the size that this process may give a file (ulimit -f) is an error of that write from now on, not
/// the end of the process by a signal. First in main.
void makeFileSizeLimitAnError();
/// Why a file may not grow that is refused as too large (EFBIG), and what helps; the end of a sentence.
Message tooLargeInWords();

} // namespace furrow
