#include "core/cuda/cuda_backend_torch.h"

#include "core/base/shared_library.h"

namespace furrow {

namespace {

#ifdef _WIN32
constexpr const char* kLibrary = "furrow-cuda.dll";
#else
constexpr const char* kLibrary = "libfurrow-cuda.so";
#endif

Result<const CudaBackend*> load()
{
    FURROW_TRY_ASSIGN(auto library, SharedLibrary::load(kLibrary));
    const auto backend = reinterpret_cast<const CudaBackend* (*)()>(library.symbol("furrowCudaBackend"));
    if (!backend)
        return Error { ErrorCode::NotFound, std::string(kLibrary) + " belongs to another version of Furrow" };
    static const SharedLibrary stays = std::move(library); // libtorch keeps pointers into its CUDA libraries
    return backend();
}

} // namespace

Result<const CudaBackend*> cudaBackend()
{
    static const auto backend = load();
    return backend;
}

} // namespace furrow
