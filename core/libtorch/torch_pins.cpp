#include "core/libtorch/torch_pins.h"

#include "core/base/check.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace furrow {

namespace {

struct Row {
    const char* package;
    const char* version;
    const char* sha256;
};
constexpr Row kRows[] = {
#include "furrow_torch_pins.inc"
};

/// What libtorch_cpu.so of a wheel with CUDA is linked to.
constexpr std::string_view kOfCpuHalf[] = { "nvidia-cuda-runtime", "nvidia-cuda-cupti" };

std::vector<PinnedPackage> readRows()
{
    std::vector<PinnedPackage> packages;
    for (const auto& row : kRows) {
        if (packages.empty() || packages.back().name != row.package)
            packages.push_back({ row.package, row.version, {} });
        packages.back().hashes.emplace_back(row.sha256);
    }
    return packages;
}

const std::vector<PinnedPackage>& packages()
{
    static const auto all = readRows();
    return all;
}

std::string normalised(std::string_view name)
{
    std::string out;
    for (const char c : name) {
        const bool isBreak = c == '-' || c == '_' || c == '.';
        if (!isBreak)
            out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (!out.ends_with('-'))
            out += '-';
    }
    return out;
}

} // namespace

bool PinnedPackage::allows(std::string_view sha256) const
{
    return std::find(hashes.begin(), hashes.end(), sha256) != hashes.end();
}

const PinnedPackage& pinnedTorch()
{
    const auto& all = packages();
    const auto found = std::find_if(all.begin(), all.end(), [](const auto& p) { return p.name == "torch"; });
    FURROW_CHECK(found != all.end(), "requirements.lock pins no torch");
    return *found;
}

std::vector<PinnedPackage> pinnedCuda(bool all)
{
    std::vector<PinnedPackage> chosen;
    for (const auto& package : packages()) {
        const bool isOfCpu
            = std::find(std::begin(kOfCpuHalf), std::end(kOfCpuHalf), package.name) != std::end(kOfCpuHalf);
        if (package.name != "torch" && (all || isOfCpu))
            chosen.push_back(package);
    }
    return chosen;
}

int pinnedCudaMajor()
{
    const auto runtime = pinnedCuda(false);
    return runtime.empty() ? 0 : std::atoi(runtime.back().version.c_str());
}

bool WheelName::fitsHere() const
{
#if defined(_WIN32)
    return platform == "win_amd64";
#elif defined(__aarch64__)
    return platform.find("linux") != std::string::npos && platform.ends_with("aarch64");
#else
    return platform.find("linux") != std::string::npos && platform.ends_with("x86_64");
#endif
}

WheelName parseWheelName(std::string_view name)
{
    if (!name.ends_with(".whl"))
        return {};
    name.remove_suffix(4);
    std::vector<std::string_view> parts;
    for (std::size_t from = 0; from <= name.size();) {
        const auto to = std::min(name.find('-', from), name.size());
        parts.push_back(name.substr(from, to - from));
        from = to + 1;
    }
    if (parts.size() != 5 && parts.size() != 6) // with a build number
        return {};
    return { normalised(parts[0]), std::string(parts[1]), std::string(parts.back()) };
}

} // namespace furrow
