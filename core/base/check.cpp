#include "core/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace furrow {

void checkFailed(const char* file, int line, const char* text)
{
    std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, text);
    std::abort();
}

} // namespace furrow
