#pragma once

namespace furrow {

/// A named stretch of the calling thread on the time line of a profiler that reads NVTX (Nsight Systems: `nsys profile
/// furrow-worker ...`). Without a profiler it costs a load and a branch, in a build without NVTX's headers nothing.
class ProfileRange {
public:
    explicit ProfileRange(const char* name);
    ~ProfileRange();
    ProfileRange(const ProfileRange&) = delete;
    ProfileRange& operator=(const ProfileRange&) = delete;
};

} // namespace furrow
