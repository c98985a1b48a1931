#include "core/base/shared_library.h"

#include <dlfcn.h>

#include <utility>

namespace furrow {

Result<SharedLibrary> SharedLibrary::load(const std::string& name)
{
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return Error { ErrorCode::NotFound, dlerror() }; // names it, and of what it needs what is missing
    return SharedLibrary(handle);
}

SharedLibrary::SharedLibrary(void* handle)
    : handle_(handle)
{
}

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr))
{
}

SharedLibrary::~SharedLibrary()
{
    if (handle_)
        dlclose(handle_);
}

void* SharedLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

} // namespace furrow
