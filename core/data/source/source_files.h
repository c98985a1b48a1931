#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// The local files behind one entry of the setting `data`.
struct SourceFiles {
    std::vector<std::string> paths; ///< absolute, UTF-8, in natural order
    std::vector<std::string> skipped; ///< with the reason, one sentence each
    bool single = false; ///< the entry names one file: trouble with it is an error, not a skip
};

/// A file, a folder (with its sub-folders, without hidden files, without links that lead out of it) or a glob with
/// * ? [..] in any part and ** for any depth. At most kMaxSourceFiles files.
Result<SourceFiles> findSourceFiles(const std::string& spec);

inline constexpr std::size_t kMaxSourceFiles = 100'000;

/// macOS keeps what belongs to "name" as "._name" beside it, in archives too.
bool isNoteOfMacOs(std::string_view name);

/// "part-2" before "part-10": runs of digits compare as numbers.
bool naturalLess(std::string_view a, std::string_view b);

/// One name against one pattern with * ? [a-z]; '/' is not special.
bool globMatches(std::string_view pattern, std::string_view name);

} // namespace furrow
