// The counting model: its weights are the exact number of times each window (epoch, block, column, window) was trained.
// After any storm of crashes they must equal what the ledger says is committed, element by element. Its gradient is a
// table of one step's windows, a row each: the window and how often it was seen. So ranks that sum their gradients come
// to the same counts as one worker alone, and a share that was left out, or trained by two, shows.

#include "core/train/loop/learner_torch.h"

#include "core/base/fault_injection.h"
#include "core/base/sentence.h"

#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <map>
#include <thread>

namespace furrow {

namespace {

using WindowId = std::array<std::int64_t, 4>; // epoch, block, column, window

constexpr std::int64_t kColumns = 5; // of the gradient: the window's id, and its count. float32 holds them exactly
constexpr int kCount = 4;

class CountingLearner : public Learner {
public:
    CountingLearner(int worker, std::int64_t windowsPerStep)
        : gradients_(torch::zeros({ windowsPerStep, kColumns }))
        , stepMs_(faultNumber("FURROW_COUNTING_STEP_MS", 0, worker))
    {
    }

    at::Tensor accumulate(const Batch& batch, double) override
    {
        for (std::int32_t window = batch.windows.begin; window < batch.windows.end;
            ++window) { // those of a step lie side by side
            float* row = rowOf(window % gradients_.size(0));
            const std::array<std::int64_t, kColumns> seen { batch.epoch, batch.block, batch.column, window, 1 };
            std::transform(
                seen.begin(), seen.end(), row, row, [](std::int64_t a, float b) { return static_cast<float>(a) + b; });
        }
        return torch::zeros(batch.labels_BT.sizes());
    }

    at::Tensor apply(double, double) override
    {
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(stepMs_));
        for (std::int64_t i = 0; i < gradients_.size(0); ++i) {
            const float* row = rowOf(i);
            const auto count = static_cast<std::int64_t>(row[kCount]);
            if (count == 0)
                continue;
            WindowId id;
            std::transform(row, row + id.size(), id.begin(),
                [count](float sum) { return static_cast<std::int64_t>(sum) / count; });
            counts_[id] += count;
        }
        discard();
        return torch::zeros({});
    }

    void discard() override { gradients_.zero_(); }
    at::Tensor gradients() override { return gradients_.flatten(); }

    NamedTensors weights() const override
    {
        const auto n = static_cast<std::int64_t>(counts_.size());
        auto ids = torch::empty({ n, 4 }, torch::kInt64);
        auto counts = torch::empty({ n }, torch::kInt64);
        std::int64_t row = 0;
        for (const auto& [id, count] : counts_) {
            std::copy(id.begin(), id.end(), ids.data_ptr<std::int64_t>() + row * 4);
            counts.data_ptr<std::int64_t>()[row++] = count;
        }
        return { { "ids", ids }, { "counts", counts } };
    }

    NamedTensors optimizerState() const override { return {}; }

    Status loadWeights(const NamedTensors& weights) override
    {
        const auto* ids = findTensor(weights, "ids");
        const auto* counts = findTensor(weights, "counts");
        if (!ids || !counts || ids->scalar_type() != torch::kInt64 || counts->scalar_type() != torch::kInt64
            || ids->dim() != 2 || counts->dim() != 1 || ids->size(0) != counts->size(0))
            return Error { ErrorCode::Corrupt, sentence("these are not the weights of the counting model") };
        counts_.clear();
        if (ids->size(0) > 0 && ids->size(1) != 4)
            return Error { ErrorCode::Corrupt, sentence("these are not the weights of the counting model") };
        const auto rows = ids->contiguous();
        const auto seen = counts->contiguous();
        for (std::int64_t i = 0; i < rows.size(0); ++i) {
            const auto* row = rows.data_ptr<std::int64_t>() + i * 4;
            counts_.emplace_hint(
                counts_.end(), WindowId { row[0], row[1], row[2], row[3] }, seen.data_ptr<std::int64_t>()[i]);
        }
        return {};
    }

    Status loadOptimizer(const NamedTensors&) override { return {}; }

    Result<Merged> merge(const NamedTensors& base, const std::vector<MergeMember>& members, MergeMethod method,
        const NamedTensors& momentum, double, double) const override
    {
        auto merged = mergeCounts(base, members);
        if (merged.ok() && method == MergeMethod::DiLoCo)
            merged.value().momentum = outerMomentumOfCounts(base, merged.value().weights, momentum);
        return merged;
    }

    Model* model() override { return nullptr; }
    std::string name() const override { return "counting"; }
    std::string backendName() const override { return "counting"; }
    c10::Device device() const override { return c10::Device(c10::kCPU); }

private:
    float* rowOf(std::int64_t row) { return gradients_.data_ptr<float>() + row * kColumns; }

    std::map<WindowId, std::int64_t> counts_;
    at::Tensor gradients_; ///< of the step at hand
    const double stepMs_;
};

} // namespace

std::unique_ptr<Learner> createCountingLearner(int worker, std::int64_t windowsPerStep)
{
    return std::make_unique<CountingLearner>(worker, windowsPerStep);
}

} // namespace furrow
