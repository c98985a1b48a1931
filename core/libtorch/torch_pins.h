#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// A package whose files Furrow fetches, with the SHA-256 of each: from packaging/requirements.lock, when it is built.
struct PinnedPackage {
    std::string name; ///< "torch", "nvidia-cudnn-cu13"
    std::string version;
    std::vector<std::string> hashes; ///< of its files for all systems
    bool allows(std::string_view sha256) const;
};

/// The libtorch that this Furrow was built with.
const PinnedPackage& pinnedTorch();
/// Which of CUDA's libraries come with it, all or those that its CPU half cannot start without.
std::vector<PinnedPackage> pinnedCuda(bool all);
/// The major version of that CUDA.
int pinnedCudaMajor();

/// The name of a wheel, "torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl", taken apart.
struct WheelName {
    std::string package; ///< normalised: lower case, '-' between its words
    std::string version;
    std::string platform;
    bool fitsHere() const; ///< by system and processor
};
/// Nothing of it is set where the text is no such name.
WheelName parseWheelName(std::string_view name);

} // namespace furrow
