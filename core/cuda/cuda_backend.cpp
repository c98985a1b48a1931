#include "core/cuda/cuda_backend_torch.h"

#include "core/base/sentence.h"
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
        return Error { ErrorCode::NotFound,
            sentence(
                "%1 belongs to another version of Furrow. Install Furrow again, so that all of its files are of one version.",
                { kLibrary }) };
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
