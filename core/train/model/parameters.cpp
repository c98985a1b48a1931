#include "core/base/check.h"
#include "core/train/model/parameters_torch.h"

#include <torch/torch.h>

#include <cstring>

namespace furrow {

namespace {

std::int64_t product(const std::vector<std::int64_t>& shape)
{
    std::int64_t count = 1;
    for (const std::int64_t size : shape)
        count *= size;
    return count;
}

at::Tensor viewOf(const at::Tensor& flat, const ParameterStore::Slot& slot)
{
    return flat.narrow(0, slot.offset, slot.count).view(slot.shape);
}

} // namespace

ParameterStore::ParameterStore(const std::vector<ParameterShape>& shapes, c10::Device device)
{
    for (const bool decays : { true, false }) {
        for (const ParameterShape& shape : shapes) {
            if (shape.decays != decays)
                continue;
            slots_.push_back({ shape.name, shape.shape, count_, product(shape.shape), decays });
            count_ += slots_.back().count;
        }
        if (decays)
            decayedCount_ = count_;
    }
    const auto options = at::TensorOptions().dtype(at::kFloat).device(device);
    weights_ = at::zeros({ count_ }, options);
    gradients_ = at::zeros({ count_ + kGradientSlack }, options).narrow(0, 0, count_);
    for (const Slot& slot : slots_) {
        gradientViews_.push_back(viewOf(gradients_, slot));
        at::Tensor parameter = viewOf(weights_, slot).detach();
        parameter.set_requires_grad(true);
        parameter.mutable_grad() = gradientViews_.back();
        tensors_.emplace_back(slot.name, parameter);
    }
}

std::size_t ParameterStore::indexOf(const std::string& name) const
{
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].name == name)
            return i;
    }
    FURROW_CHECK(false, "a parameter was asked for that the model does not have");
}

const at::Tensor& ParameterStore::at(const std::string& name) const { return tensors_[indexOf(name)].second; }

const at::Tensor& ParameterStore::gradientOf(const std::string& name) const { return gradientViews_[indexOf(name)]; }

void ParameterStore::zeroGradients()
{
    // On the CPU without libtorch's threads: they would go on spinning beside ours for milliseconds.
    if (gradients_.is_cpu())
        std::memset(gradients_.mutable_data_ptr<float>(), 0, static_cast<std::size_t>(count_) * sizeof(float));
    else
        gradients_.zero_();
}

NamedTensors namedViews(const ParameterStore& store, const at::Tensor& flat, const std::string& prefix)
{
    NamedTensors views;
    for (const ParameterStore::Slot& slot : store.slots())
        views.emplace_back(prefix + slot.name, viewOf(flat, slot));
    return views;
}

} // namespace furrow
