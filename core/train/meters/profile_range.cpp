#include "core/train/meters/profile_range.h"

#ifdef FURROW_HAS_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace furrow {

#ifdef FURROW_HAS_NVTX
ProfileRange::ProfileRange(const char* name)
{
    static const bool ready = (nvtxInitialize(nullptr),
        true); // its own first-use set-up calls a null pointer when two threads come at once
    (void)ready;
    nvtxRangePushA(name);
}

ProfileRange::~ProfileRange() { nvtxRangePop(); }
#else
ProfileRange::ProfileRange(const char*) { }
ProfileRange::~ProfileRange() = default;
#endif

} // namespace furrow
