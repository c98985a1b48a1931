// furrow-worker as people and programs start it: finds libtorch and goes on as furrow-trainer, which links it. So a
// worker that is started by a supervisor, by torchrun or by hand finds the same libtorch, and says where none is.

#include "core/base/environment.h"
#include "core/base/process.h"
#include "core/base/redact.h"
#include "core/base/replace_process.h"
#include "core/libtorch/thread_waits.h"
#include "core/libtorch/torch_place.h"

#include <cstdio>

int main(int argc, char** argv)
{
    auto failed = [](const furrow::Error& error) {
        std::fprintf(stderr, "%s\n", furrow::withoutSecrets(error.message).c_str());
        return 1;
    };
    const auto place = furrow::torchInUse();
    if (!place.ok())
        return failed(place.error());
    auto environment = furrow::threadWaits(furrow::environmentVariables());
    environment["LD_LIBRARY_PATH"] = furrow::librarySearchPath(place.value().folder);
    // The name stays, so that a list of processes shows what was started.
    return failed(furrow::replaceProcess(
        furrow::executablePath().parent_path() / "furrow-trainer", { argv, argv + argc }, environment));
}
