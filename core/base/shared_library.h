#pragma once

#include "core/base/result.h"

#include <string>

namespace furrow {

/// A library that is looked for at run time because the program must also work without it (NVML, furrow-cuda).
/// Move-only.
class SharedLibrary {
public:
    /// @param name  "libnvidia-ml.so.1", "nvml.dll". NotFound says what the system says.
    static Result<SharedLibrary> load(const std::string& name);
    SharedLibrary(SharedLibrary&& other) noexcept;
    SharedLibrary& operator=(SharedLibrary&&) = delete;
    ~SharedLibrary();

    /// Address of a function, or null.
    void* symbol(const char* name) const;

private:
    explicit SharedLibrary(void* handle);
    void* handle_ = nullptr;
};

} // namespace furrow
