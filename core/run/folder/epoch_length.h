#pragma once

namespace furrow {

/// How much text an epoch has, as a look at the data judged when the run was made. Kept in run.json, so that what is
/// derived from it is the same in every process and after every resume.
struct EpochLength {
    double labels = 0; ///< that an epoch trains; 0: not known
    double labelsPerSample = 0;
    double bytesPerSample = 0;
    double windowFill = 1; ///< share of the places of a window that are labels: the rest is padding of a packing
    bool operator==(const EpochLength&) const = default;
};

} // namespace furrow
