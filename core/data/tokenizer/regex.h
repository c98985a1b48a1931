#pragma once

#include "core/base/result.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// A regular expression as the tokenizers library understands it: of the same engine (Oniguruma), in the same syntax,
/// with the characters of the same Unicode version, whatever version of the engine is installed. Const methods are
/// thread-safe.
class Regex {
public:
    /// InvalidArgument names the pattern and what is wrong with it, or that this version cannot give the reference's
    /// matches.
    static Result<std::shared_ptr<const Regex>> compile(const std::string& pattern);

    /// Calls `match(begin, end)` for each match, in order; empty ones too, except right behind the match before. Bytes
    /// that are no valid UTF-8 never match. A pattern that takes too many steps on the text is an error
    /// (InvalidArgument) that names it, never "no match".
    Status forEachMatch(std::string_view text, const std::function<void(std::size_t, std::size_t)>& match) const;

private:
    struct Code;
    explicit Regex(std::shared_ptr<const Code> code)
        : code_(std::move(code))
    {
    }
    std::shared_ptr<const Code> code_;
};

} // namespace furrow
