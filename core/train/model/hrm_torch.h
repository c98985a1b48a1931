#pragma once

#include "core/train/model/layers_torch.h"
#include "core/train/model/model_torch.h"

namespace furrow {

/// Where each row of a batch stands between two segments. Detached: no gradient crosses it.
struct HrmCarry {
    at::Tensor high_BTD;
    at::Tensor low_BTD;
    at::Tensor steps_B; ///< int64, segments done on the current row
    at::Tensor halted_B; ///< bool; a halted row starts anew, with a new data row, in the next segment
};

/// What one segment did, on the device.
struct HrmSegment {
    at::Tensor losses_BT; ///< cross entropy of each label, 0 where masked
    at::Tensor lossSum_B; ///< over the labels of each row
    at::Tensor correct_B; ///< labels predicted right
    at::Tensor exact_B; ///< bool: every label right
    at::Tensor labels_B; ///< number of labels
    at::Tensor logits_BTV; ///< detached
};

std::vector<ParameterShape> hrmParameters(const ModelConfig& config);

/// Hierarchical reasoning model with adaptive computation time: two recurrent modules, gradients through the last step
/// of each only, a learned halting head. arXiv 2506.21734; for text with a causal mask in every block and shifted
/// labels.
class HrmModel : public Model {
public:
    HrmModel(const ModelConfig& config, const ModelOptions& options);

    /// All rows halted, so that the next segment starts them.
    HrmCarry startCarry(std::int64_t batch, std::int64_t length) const;
    /// Deep supervision: one segment of forward and backward; then the optimiser steps. Rows with carry.halted_B must
    /// have been given new data by the caller. A row counts as trained only when it is halted afterwards.
    /// @param rowWeights_B  float32: factor of each row's loss (mean cross entropy + halting losses) in the gradients
    HrmSegment trainSegment(
        HrmCarry& carry, const at::Tensor& inputs_BT, const at::Tensor& labels_BT, const at::Tensor& rowWeights_B);
    /// All segments without gradients; the last one's result.
    HrmSegment evaluate(const at::Tensor& inputs_BT, const at::Tensor& labels_BT);

    /// Takes fresh rows through segments until all have halted and adds the gradients of all segments. Each row's loss
    /// is weighted with its number of labels.
    /// @return the losses at the segment where each row halted
    at::Tensor forwardBackward(const at::Tensor& inputs_BT, const at::Tensor& labels_BT, double gradientScale,
        const at::Tensor& places_BT = {}) override;
    LossSum lossSum(
        const at::Tensor& inputs_BT, const at::Tensor& labels_BT, const at::Tensor& places_BT = {}) override;
    at::Tensor logits(const at::Tensor& inputs_BT, const at::Tensor& places_BT = {}) override;
    /// States depend on all cycles of all earlier tokens, so the cache keeps the tokens and runs them again.
    std::unique_ptr<KeyValueCache> newCache(std::int64_t batch, std::int64_t capacity) override;
    at::Tensor nextLogits(const at::Tensor& tokens_BT, KeyValueCache& cache) override;
    void reseed(std::uint64_t seed) override;
    std::string backendName() const override;

private:
    struct Block {
        at::Tensor qkv, out, up, down;
        at::Tensor router; ///< undefined without experts
    };
    struct Output {
        at::Tensor high_BTD, low_BTD; ///< detached
        at::Tensor logits_BTV;
        at::Tensor halt_B, continue_B; ///< float32 logits
        at::Tensor balance; ///< load-balance loss of the experts, undefined without
    };
    class Cache;

    void initialise();
    std::vector<Block> bind(const std::string& module, std::int64_t layers) const;
    at::Tensor embed(const at::Tensor& inputs_BT) const;
    at::Tensor runBlock(const at::Tensor& x_BTD, const Block& block, at::Tensor* balance) const;
    at::Tensor runModule(const at::Tensor& state, const at::Tensor& injected, const std::vector<Block>& blocks,
        at::Tensor* balance) const;
    Output segment(const HrmCarry& carry, const at::Tensor& inputs_BT) const;
    void restartHalted(HrmCarry& carry) const;
    void updateHalting(HrmCarry& carry, const Output& output);
    at::Tensor continueTarget(const HrmCarry& carry, const at::Tensor& inputs_BT) const;
    HrmSegment measure(const at::Tensor& logits_BTV, const at::Tensor& labels_BT) const;

    // set in the constructor, then constant
    at::Tensor embedding_;
    at::Tensor positions_; ///< undefined with rotary positions
    at::Tensor head_;
    at::Tensor haltWeight_;
    at::Tensor haltBias_;
    at::Tensor startHigh_D_;
    at::Tensor startLow_D_;
    std::vector<Block> high_;
    std::vector<Block> low_;
    RotaryTable rotary_;

    at::Generator exploration_; // on the CPU, so that every device draws the same
};

} // namespace furrow
