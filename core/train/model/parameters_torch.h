#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace furrow {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// One parameter before it exists.
struct ParameterShape {
    std::string name;
    std::vector<std::int64_t> shape;
    bool decays = false; ///< weight decay applies (matrices)
};

/// All trained numbers of a model in one flat float32 tensor, their gradients in another; each parameter is a view.
/// Matrices that decay come first, so an optimizer works on two ranges, and a gradient norm or an all-reduce on one.
/// Order and names depend on the configuration only. Not thread-safe.
class ParameterStore {
public:
    struct Slot {
        std::string name;
        std::vector<std::int64_t> shape;
        std::int64_t offset = 0;
        std::int64_t count = 0;
        bool decays = false;
    };

    ParameterStore() = default;
    ParameterStore(const std::vector<ParameterShape>& shapes, c10::Device device);

    const std::vector<Slot>& slots() const { return slots_; }
    /// Views of weights(), in slot order; requires_grad with .grad() a view of gradients().
    const NamedTensors& tensors() const { return tensors_; }
    /// The parameter of that name; it must exist (our own names only).
    const at::Tensor& at(const std::string& name) const;
    /// The view of gradients() that belongs to a name.
    const at::Tensor& gradientOf(const std::string& name) const;

    const at::Tensor& weights() const { return weights_; } ///< float32, 1-D, no autograd
    const at::Tensor& gradients() const { return gradients_; } ///< float32, 1-D, no autograd
    /// Zeros behind the gradients in their storage, so that they can be cut into so many pieces of one length
    /// (core/collective).
    static constexpr std::int64_t kGradientSlack = 4096;
    std::int64_t decayedCount() const { return decayedCount_; } ///< the first so many elements decay
    std::int64_t count() const { return count_; }
    void zeroGradients();

private:
    std::size_t indexOf(const std::string& name) const;

    std::vector<Slot> slots_;
    NamedTensors tensors_;
    std::vector<at::Tensor> gradientViews_;
    at::Tensor weights_;
    at::Tensor gradients_;
    std::int64_t decayedCount_ = 0;
    std::int64_t count_ = 0;
};

/// Views of a flat tensor, one for each slot, named `prefix` + slot name: optimizer state for safetensors.
NamedTensors namedViews(const ParameterStore& store, const at::Tensor& flat, const std::string& prefix);

} // namespace furrow
