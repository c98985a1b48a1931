#include "core/base/free_name.h"

#include "core/base/file_system.h"
#include "core/base/random.h"

namespace furrow {

std::filesystem::path freeName(const std::filesystem::path& wanted)
{
    constexpr int kMarkDigits = 6;
    auto name = wanted;
    while (isTaken(name)) {
        name = wanted.parent_path() / wanted.stem();
        name += "-" + randomHex(kMarkDigits);
        name += wanted.extension();
    }
    return name;
}

} // namespace furrow
