#pragma once

#include "core/base/result.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace furrow {

struct RankGroupOptions {
    int rank = 0; ///< of this process, 0 to ranks - 1
    int ranks = 2;
    std::filesystem::path
        meetingFile; ///< the ranks find one another through it; a fresh name for each start of the group
    c10::Device device = c10::Device(c10::kCPU); ///< of the tensors: Gloo on the CPU, NCCL on a GPU
    double meetingSeconds = 300; ///< for all to come
    double connectSeconds = 15; ///< for all to connect once they have come: they live, on one machine
    double timeoutSeconds = 120; ///< for one that does not take part
    std::function<bool()> stopRequested = {}; ///< asked until all have come; true: join() fails with Cancelled
};

/// The processes that train one model together, and every collective call of Furrow: nothing else calls c10d. Each call
/// must be made by all ranks, in the same order, so there is none here or elsewhere that only some ranks make.
///
/// When one fails, because a rank is gone, stands still or left a call out, the error is a sentence that names that
/// rank; every call after it gives the same error at once. One thread, but for beginSum, which autograd may call from
/// its own.
class RankGroup {
public:
    /// Waits until all ranks are here. The error names those that did not come, or says that this build has no Gloo.
    static Result<std::unique_ptr<RankGroup>> join(const RankGroupOptions& options);
    ~RankGroup();
    RankGroup(const RankGroup&) = delete;
    RankGroup& operator=(const RankGroup&) = delete;

    int rank() const;
    int ranks() const;

    /// The exchanges of one turn, in their order; the last one may be made several times.
    enum class Exchange { Order, Loss, Norms };
    /// Each value becomes its sum over the ranks, on the host. At most kMostValues, as many on every rank. Ranks that
    /// are at another exchange or have begun another number of sums are an error here, before anything is made of what
    /// was summed wrongly.
    Status exchange(Exchange what, std::span<std::int64_t> values);
    static constexpr std::size_t kMostValues = 256;
    /// Begins to sum a contiguous tensor over the ranks, in place; all of the same size. An error shows in
    /// finishSums().
    void beginSum(const at::Tensor& piece);
    /// Waits for the sums begun: on a GPU the stream waits, not the host.
    Status finishSums();
    /// What rank 0 has in it, in place.
    Status broadcast(at::Tensor& tensor);

    /// Tells the others why this rank ends, so that they can say it too. Only the first word of a rank counts.
    void leave(const std::string& why);

private:
    struct State;
    explicit RankGroup(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace furrow
