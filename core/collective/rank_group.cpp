// How this works: two groups of c10d over one store. `control` sums small vectors of the host, all of one length;
// `sums` adds gradients, in pieces of one length. Gloo matches calls by their order alone and ends the process when
// lengths differ: with one length in each group a rank that left a call out is late, never something worse, and the
// next exchange compares where the ranks are.

#include "core/collective/rank_group_torch.h"

#include "core/base/fault_injection.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/collective/rank_roll_torch.h"
#include "core/cuda/cuda_backend_torch.h"

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/torch.h>

#ifdef USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif

#include <algorithm>
#include <optional>
#include <utility>

namespace furrow {

using Milliseconds = std::chrono::milliseconds;

namespace {

/// Of the time that people allow, the last part is for finding out who is missing.
Milliseconds patienceOf(Milliseconds timeout) { return std::min(Milliseconds(10'000), timeout / 4); }

/// FURROW_SKIP_SUM of fault_injection.h. No program that is shipped can be asked for a wrong gradient.
std::int64_t sumToSkip()
{
#ifdef FURROW_TEST_FAULTS
    return static_cast<std::int64_t>(faultNumber("FURROW_SKIP_SUM", 0));
#else
    return 0;
#endif
}

} // namespace

struct RankGroup::State {
    RankGroupOptions options;
    Milliseconds patience { 0 };
    std::unique_ptr<RankRoll> roll;
    c10::intrusive_ptr<c10d::Backend> control;
    c10::intrusive_ptr<c10d::Backend> sums;
    std::vector<c10::intrusive_ptr<c10d::Work>> begun;
    RankPlace place;
    std::optional<Error> failed;
    std::optional<std::string> failedSum; ///< of a beginSum, told by finishSums
    std::int64_t skippedSum = sumToSkip();

    /// Runs a collective call; what it throws becomes an error that names the rank to blame.
    template <typename Call> Status run(Call call)
    {
        if (failed)
            return *failed;
        try {
            call();
            return {};
        } catch (const std::exception& e) {
            return lost(e.what());
        }
    }

    Error lost(const std::string& said)
    {
        try {
            failed = roll->blame(place, said, patience);
        } catch (const std::exception& e) { // the meeting file is gone too
            failed = Error { ErrorCode::Internal,
                sentence(
                    "data-parallel training: the ranks lost one another: %1; %2", { said.substr(0, 300), e.what() }) };
        }
        return *failed;
    }
};

RankGroup::RankGroup(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
RankGroup::~RankGroup() = default;

int RankGroup::rank() const { return state_->options.rank; }

int RankGroup::ranks() const { return state_->options.ranks; }

#ifdef USE_C10D_GLOO

namespace {

/// A rank that dies here is not waited for as long as one that trains may be.
Milliseconds connectTime(const RankGroupOptions& options, Milliseconds timeout)
{
    return std::min(timeout, Milliseconds(static_cast<std::int64_t>(options.connectSeconds * 1000)));
}

c10::intrusive_ptr<c10d::Backend> gloo(const c10::intrusive_ptr<c10d::Store>& store, const char* name,
    const RankGroupOptions& options, Milliseconds timeout)
{
    auto settings = c10d::ProcessGroupGloo::Options::create(connectTime(options, timeout));
    settings->devices.push_back(
        c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")); // the ranks of a run are on one machine
    auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(
        c10::make_intrusive<c10d::PrefixStore>(name, store), options.rank, options.ranks, settings);
    group->setTimeout(timeout); // of its calls
    return group;
}

/// The group for tensors of `device`; null when this build has none for it.
c10::intrusive_ptr<c10d::Backend> sumsFor(
    const c10::intrusive_ptr<c10d::Store>& store, const RankGroupOptions& options, Milliseconds timeout)
{
    if (options.device.is_cpu())
        return gloo(store, "sums", options, timeout);
    const auto cuda = cudaBackend();
    if (!cuda.ok())
        return {};
    const auto own = c10::make_intrusive<c10d::PrefixStore>("sums", store);
    return cuda.value()->nccl(
        own, { options.rank, options.ranks, 2 * timeout }); // the exchange on the host fails first, with a sentence
}

} // namespace

Result<std::unique_ptr<RankGroup>> RankGroup::join(const RankGroupOptions& options)
{
    auto state = std::make_unique<State>();
    const Milliseconds whole(static_cast<std::int64_t>(options.timeoutSeconds * 1000));
    state->options = options;
    state->patience = patienceOf(whole);
    const auto timeout = whole - state->patience;
    try {
        auto store = c10::make_intrusive<c10d::FileStore>(options.meetingFile.string(), -1);
        store->setTimeout(timeout);
        state->roll = std::make_unique<RankRoll>(store, options.rank, options.ranks);
        FURROW_TRY(state->roll->call(
            Milliseconds(static_cast<std::int64_t>(options.meetingSeconds * 1000)), options.stopRequested));
        store->setTimeout(connectTime(options, timeout));
        state->control = gloo(store, "control", options, timeout);
        state->sums = sumsFor(store, options, timeout);
        store->setTimeout(timeout);
    } catch (const std::exception& e) {
        return state->roll ? state->lost(e.what())
                           : Error { ErrorCode::Internal,
                                 sentence("data-parallel training: no meeting through %1: %2",
                                     { utf8Text(options.meetingFile), e.what() }) };
    }
    if (!state->sums)
        return Error {
            ErrorCode::InvalidArgument,
            sentence(
                "parallel is data, but this furrow-worker was built without NCCL and cannot sum on GPUs. Train on the CPU (devices cpu:2), set parallel to independent, or build with the CUDA wheel of libtorch.")
        };
    return std::unique_ptr<RankGroup>(new RankGroup(std::move(state)));
}

#else

Result<std::unique_ptr<RankGroup>> RankGroup::join(const RankGroupOptions&)
{
    return Error {
        ErrorCode::InvalidArgument,
        sentence(
            "parallel is data, but this furrow-worker was built without Gloo's headers. Set parallel to independent, or install libgloo-dev and build again.")
    };
}

#endif

Status RankGroup::exchange(Exchange what, std::span<std::int64_t> values)
{
    auto& place = state_->place;
    constexpr std::int64_t kTurn = 1 << 20; // exchanges that a turn has room for
    const std::int64_t turn = place.exchange / kTurn;
    switch (what) {
    case Exchange::Order: place.exchange = (turn + 1) * kTurn; break;
    case Exchange::Loss: place.exchange = turn * kTurn + 1; break;
    case Exchange::Norms: ++place.exchange; break;
    }
    const auto ranks = static_cast<std::size_t>(state_->options.ranks);
    const auto own = kMostValues + 2 * static_cast<std::size_t>(state_->options.rank);
    auto buffer = torch::zeros({ static_cast<std::int64_t>(kMostValues + 2 * ranks) }, torch::kInt64);
    auto* all = buffer.data_ptr<std::int64_t>();
    std::copy(values.begin(), values.end(), all);
    all[own] = place.exchange;
    all[own + 1] = place.sums;
    auto done = state_->run([&] {
        std::vector<at::Tensor> tensors { buffer };
        state_->control->allreduce(tensors)->wait();
    });
    if (!done.ok())
        return done;
    std::vector<RankPlace> places;
    for (std::size_t rank = 0; rank < ranks; ++rank)
        places.push_back({ all[kMostValues + 2 * rank], all[kMostValues + 2 * rank + 1] });
    if (std::any_of(places.begin(), places.end(), [&](const RankPlace& one) { return one != place; })) {
        state_->failed = state_->roll->blame(places);
        return *state_->failed;
    }
    std::copy(all, all + values.size(), values.begin());
    return {};
}

void RankGroup::beginSum(const at::Tensor& piece)
{
    if (state_->failed || state_->failedSum)
        return;
    if (state_->place.sums + 1 == state_->skippedSum) {
        state_->skippedSum = 0;
        return;
    }
    ++state_->place.sums;
    try {
        std::vector<at::Tensor> tensors { piece };
        state_->begun.push_back(state_->sums->allreduce(tensors));
    } catch (const std::exception& e) {
        state_->failedSum = e.what();
    }
}

Status RankGroup::finishSums()
{
    return state_->run([&] {
        auto begun = std::exchange(state_->begun, {});
        for (const auto& work : begun)
            work->wait();
        TORCH_CHECK(!state_->failedSum, state_->failedSum.value_or(""));
    });
}

Status RankGroup::broadcast(at::Tensor& tensor)
{
    return state_->run([&] {
        std::vector<at::Tensor> tensors { tensor };
        state_->sums->broadcast(tensors)->wait();
    });
}

void RankGroup::leave(const std::string& why)
{
    try {
        state_->roll->leave(why);
    } catch (const std::exception&) { // the meeting file is gone: the others find out by themselves
    }
}

} // namespace furrow
