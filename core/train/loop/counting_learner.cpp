// The counting model: its weights are the exact number of times each window (epoch, block, column, window) was trained. After
// any storm of crashes they must equal what the ledger says is committed, element by element.

#include "core/train/loop/learner_torch.h"

#include "core/base/fault_injection.h"

#include <torch/torch.h>

#include <array>
#include <map>
#include <thread>

namespace furrow {

namespace {

using WindowId = std::array<std::int64_t, 4>; // epoch, block, column, window

class CountingLearner : public Learner {
public:
    explicit CountingLearner(int worker)
        : stepMs_(faultNumber("FURROW_COUNTING_STEP_MS", 0, worker))
    {
    }

    at::Tensor accumulate(const Batch& batch, double) override
    {
        for (std::int32_t window = batch.windows.begin; window < batch.windows.end; ++window)
            pending_.push_back({ batch.epoch, batch.block, batch.column, window });
        return torch::zeros(batch.labels_BT.sizes());
    }

    at::Tensor apply(double, double) override
    {
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(stepMs_));
        for (const auto& id : pending_)
            ++counts_[id];
        pending_.clear();
        return torch::zeros({});
    }

    void discard() override { pending_.clear(); }

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
        if (!ids || !counts || ids->scalar_type() != torch::kInt64 || counts->scalar_type() != torch::kInt64 || ids->dim() != 2 || counts->dim() != 1 || ids->size(0) != counts->size(0))
            return Error { ErrorCode::Corrupt, "these are not the weights of the counting model" };
        counts_.clear();
        if (ids->size(0) > 0 && ids->size(1) != 4)
            return Error { ErrorCode::Corrupt, "these are not the weights of the counting model" };
        const auto rows = ids->contiguous();
        for (std::int64_t i = 0; i < rows.size(0); ++i) {
            const auto* row = rows.data_ptr<std::int64_t>() + i * 4;
            counts_[{ row[0], row[1], row[2], row[3] }] = counts->contiguous().data_ptr<std::int64_t>()[i];
        }
        return {};
    }

    Status loadOptimizer(const NamedTensors&) override { return {}; }

    Result<Merged> merge(const NamedTensors& base, const std::vector<MergeMember>& members, const std::string&, const NamedTensors&, double, double) const override
    {
        return mergeCounts(base, members);
    }

    Model* model() override { return nullptr; }
    std::string name() const override { return "counting"; }
    std::string backendName() const override { return "counting"; }
    c10::Device device() const override { return c10::Device(c10::kCPU); }

private:
    std::map<WindowId, std::int64_t> counts_;
    std::vector<WindowId> pending_;
    const double stepMs_;
};

} // namespace

std::unique_ptr<Learner> createCountingLearner(int worker)
{
    return std::make_unique<CountingLearner>(worker);
}

} // namespace furrow
