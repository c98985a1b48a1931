#include "core/collective/gradient_sum_torch.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/torch.h>

#include <algorithm>
#include <numeric>

namespace furrow {

/// Autograd calls it when the gradient of one leaf has been added.
class GradientSum::Watch : public torch::autograd::PostAccumulateGradHook {
public:
    Watch(GradientSum& sum, std::size_t parameter)
        : sum_(sum)
        , parameter_(parameter)
    {
    }
    void operator()(const at::Tensor&) override { sum_.finished(parameter_); }

private:
    GradientSum& sum_;
    std::size_t parameter_;
};

GradientSum::GradientSum(
    RankGroup& group, const at::Tensor& flat, std::vector<Parameter> parameters, bool overlaps, std::int64_t pieceBytes)
    : group_(group)
    , parameters_(std::move(parameters))
    , overlaps_(overlaps)
{
    const std::int64_t count = flat.numel();
    const auto room = static_cast<std::int64_t>(flat.storage().nbytes() / sizeof(float)) - flat.storage_offset();
    const std::int64_t pieces = std::clamp<std::int64_t>(
        (count * 4 + pieceBytes - 1) / pieceBytes, 1, std::max<std::int64_t>(room - count, 1));
    pieceSize_ = (count + pieces - 1) / pieces;
    const auto whole = flat.as_strided({ pieceSize_ * pieces }, { 1 });
    for (std::int64_t i = 0; i < pieces; ++i)
        pieces_.push_back({ whole.narrow(0, i * pieceSize_, pieceSize_), 0, 0 });
    for (const auto& parameter : parameters_)
        for (auto i = parameter.offset / pieceSize_; i <= (parameter.offset + parameter.count - 1) / pieceSize_; ++i)
            ++pieces_[static_cast<std::size_t>(i)].parameters;
    // Matrices lie first, layer after layer; backward goes from the last layer to the first. What lies behind them
    // (norms and biases of all layers) is done with the first layer, and the embeddings, at 0, at the very end.
    order_.resize(pieces_.size());
    std::iota(order_.begin(), order_.end(), std::size_t(0));
    std::reverse(order_.begin(), order_.end());
    const auto onlyMatrices = [this](std::size_t piece) {
        return std::none_of(parameters_.begin(), parameters_.end(), [&](const Parameter& one) {
            return one.leaf.dim() < 2 && one.offset < (static_cast<std::int64_t>(piece) + 1) * pieceSize_
                && one.offset + one.count > static_cast<std::int64_t>(piece) * pieceSize_;
        });
    };
    std::stable_partition(order_.begin(), order_.end() - 1, onlyMatrices);
    for (std::size_t i = 0; overlaps_ && i < parameters_.size(); ++i)
        torch::autograd::impl::set_post_acc_grad_hooks(parameters_[i].leaf, std::make_unique<Watch>(*this, i));
}

GradientSum::~GradientSum()
{
    for (const auto& parameter : parameters_)
        if (overlaps_)
            torch::autograd::impl::set_post_acc_grad_hooks(parameter.leaf, nullptr);
}

void GradientSum::arm()
{
    armed_ = overlaps_;
    for (auto& piece : pieces_)
        piece.missing = piece.parameters;
}

void GradientSum::finished(std::size_t parameter)
{
    if (!armed_)
        return;
    const auto& one = parameters_[parameter];
    for (auto i = one.offset / pieceSize_; i <= (one.offset + one.count - 1) / pieceSize_; ++i)
        --pieces_[static_cast<std::size_t>(i)].missing;
    beginReady();
}

void GradientSum::beginReady()
{
    for (; next_ + 1 < order_.size() && pieces_[order_[next_]].missing == 0; ++next_)
        group_.beginSum(pieces_[order_[next_]].values);
}

Status GradientSum::finish()
{
    armed_ = false;
    early_ = static_cast<std::int64_t>(next_);
    for (; next_ < order_.size(); ++next_)
        group_.beginSum(pieces_[order_[next_]].values);
    next_ = 0;
    return group_.finishSums();
}

} // namespace furrow
