#pragma once

#include "core/train/model/layers_torch.h"

#include <deque>
#include <vector>

namespace furrow {

/// One forward and backward pass of a batch whose rows are samples. It keeps what went into each trained weight and
/// what came back, so that the norm of each sample's own gradient is known before anything is added up, and the
/// gradients themselves, one for each sample, are never made: ghost norms (arXiv:2110.05679) with one backward pass
/// (arXiv:2210.00038). The trained weights get no gradient from autograd; addClipped() adds to them. One pass each; not
/// thread-safe. Letters: B samples, T tokens, I inputs, O outputs, D width, V vocabulary.
class PerSamplePass {
public:
    explicit PerSamplePass(Precision precision)
        : precision_(precision)
    {
    }
    PerSamplePass(const PerSamplePass&) = delete;
    PerSamplePass& operator=(const PerSamplePass&) = delete;

    /// x W^T in the compute type.
    at::Tensor linear(const at::Tensor& x_BTI, const at::Tensor& weight_OI);
    /// A vector that all tokens share (a gain, a bias), once for each sample, shaped to be combined with an x of so
    /// many dimensions: (B, 1, ..., D).
    at::Tensor copies(const at::Tensor& vector_D, std::int64_t samples, std::int64_t dimensions);
    /// Rows of a table: embeddings, learned positions.
    at::Tensor lookUp(const at::Tensor& weight_VD, const at::Tensor& ids_BT);
    /// The head, its loss, and backward through all that went before. The loss of a sample is the mean of its learnt
    /// labels. @param inputs_BT  of the table that the head may be tied to
    /// @return loss of each label, float32, 0 where masked
    at::Tensor backward(const at::Tensor& x_BTD, const at::Tensor& weight_VD, const at::Tensor& labels_BT,
        const at::Tensor& inputs_BT, double logitCap);

    /// 2-norm of each sample's gradient over all trained weights; NaN or Inf where it is not finite.
    at::Tensor norms() const;
    /// Takes these samples out, whatever numbers they have: their gradients count as zero.
    void leaveOut(const at::Tensor& isOut_B);
    /// Adds the sum of factor times gradient over the samples to the gradients of the weights, in float32.
    void addScaled(const at::Tensor& factors_B);

private:
    struct Linear;
    struct Product {
        at::Tensor weight_OI;
        at::Tensor x_BTI;
        at::Tensor gradient_BTO; ///< of what came out; set in backward
    };
    struct Vector {
        at::Tensor vector_D;
        at::Tensor copies_BD; ///< a leaf: autograd leaves its gradient there
    };
    struct Rows {
        at::Tensor weight_VD;
        at::Tensor ids_BT;
        at::Tensor rows_BTD; ///< a leaf
    };
    struct Head {
        at::Tensor weight_VD; ///< undefined: not trained
        at::Tensor x_BTD;
        at::Tensor labels_BT;
        double cap = 0;
        at::Tensor gradients_BTV; ///< of the logits; undefined: too many to keep, made again
        at::Tensor squares_B; ///< of the gradient of its weights
        at::Tensor
            tied_BTT; ///< (from, at): gradient of the logit that token `at` has in the table; undefined: not tied
    };

    /// Of samples [begin, begin + count): losses, and gradients of the logits.
    at::Tensor headGradients(std::int64_t begin, std::int64_t count, const at::Tensor& losses_BT) const;
    std::int64_t headGroup() const; ///< samples whose logits are made at once

    const Precision precision_;
    std::deque<Product> products_;
    std::vector<Vector> vectors_;
    std::vector<Rows> rows_;
    Head head_;
};

/// Sum over each sample of the squared gradient of a weight, from what went in and what came back: by products of
/// tokens with tokens, or of outputs with inputs, whichever is less work.
at::Tensor squaredGradients(const at::Tensor& x_BTI, const at::Tensor& gradient_BTO);

/// Adds normal noise to a flat tensor. The same seed gives the same noise on every rank, whatever the number of
/// threads; on a GPU it is another one than on a CPU.
void addNoise(const at::Tensor& flat, double deviation, std::uint64_t seed);

} // namespace furrow
