#include "core/base/shared_library.h"

#include "core/base/sentence.h"

#include <windows.h>

#include <utility>

namespace furrow {

Result<SharedLibrary> SharedLibrary::load(const std::string& name)
{
    void* handle = LoadLibraryA(name.c_str());
    if (!handle)
        return Error { ErrorCode::NotFound,
            sentence("%1 cannot be loaded (Windows error %2)", { name, std::to_string(GetLastError()) }) };
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
        FreeLibrary(static_cast<HMODULE>(handle_));
}

void* SharedLibrary::symbol(const char* name) const
{
    return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), name));
}

} // namespace furrow
