#include "core/train/loop/profile_range.h"

#ifdef FURROW_HAS_CUDA
#include <nvtx3/nvToolsExt.h>
#endif

namespace furrow {

#ifdef FURROW_HAS_CUDA
ProfileRange::ProfileRange(const char* name)
{
    nvtxRangePushA(name);
}

ProfileRange::~ProfileRange()
{
    nvtxRangePop();
}
#else
ProfileRange::ProfileRange(const char*) { }
ProfileRange::~ProfileRange() = default;
#endif

} // namespace furrow
