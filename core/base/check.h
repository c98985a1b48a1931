#pragma once

namespace furrow {

/// Logs "file:line: text" to stderr and ends the process: a broken invariant is our bug, not the user's trouble.
[[noreturn]] void checkFailed(const char* file, int line, const char* text);

} // namespace furrow

#define FURROW_CHECK(condition, text)                        \
    do {                                                     \
        if (!(condition)) [[unlikely]]                       \
            ::furrow::checkFailed(__FILE__, __LINE__, text); \
    } while (false)
