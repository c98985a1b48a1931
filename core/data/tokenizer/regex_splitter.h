#pragma once

#include "core/base/result.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace furrow {

/// Finds the matches of a split pattern that has no hand-written form (PCRE2, compiled to machine code). \p{..} and \s
/// mean what they mean to the reference tokenizers, whatever Unicode version PCRE2 knows. Const methods are
/// thread-safe.
class RegexSplitter {
public:
    static Result<std::shared_ptr<const RegexSplitter>> compile(const std::string& pattern);

    /// Calls `match(begin, end)` for each non-empty match, in order. Bytes that are no valid UTF-8 never match. A
    /// pattern that takes too many steps on the text is an error (InvalidArgument) that names it.
    Status forEachMatch(std::string_view text, const std::function<void(std::size_t, std::size_t)>& match) const;

private:
    struct Code;
    explicit RegexSplitter(std::shared_ptr<Code> code)
        : code_(std::move(code))
    {
    }
    std::shared_ptr<Code> code_;
};

/// The pattern with properties and white space written so that PCRE2 matches what the references match.
std::string pcrePattern(const std::string& pattern);

} // namespace furrow
