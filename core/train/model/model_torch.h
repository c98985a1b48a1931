#pragma once

#include "core/base/result.h"
#include "core/model/model_config.h"
#include "core/train/model/parameters_torch.h"
#include "core/train/model/preference_torch.h"

#include <memory>

namespace furrow {

// Shapes: B batch, T tokens, V vocabulary.

/// Label that is left out of the loss.
inline constexpr std::int64_t kIgnoreLabel = -1;

/// What the matrix products are computed in; weights, norms, softmax and loss are float32 always.
enum class Precision { Float32, BFloat16, Float16 };
/// "fp32", "bf16", "fp16"; "auto" is bf16 on a GPU and fp32 on a CPU, whose AVX-512
/// bf16 products run at half the rate of our float32 ones. InvalidArgument when the device lacks it.
Result<Precision> precisionFor(PrecisionChoice choice, c10::Device device);
std::string toString(Precision precision);

struct ModelOptions {
    std::uint64_t seed = 1337; ///< of the initial weights; dropout starts with it too
    c10::Device device = c10::Device(c10::kCPU);
    Precision precision = Precision::Float32;
    int threads = 1; ///< CPU threads of this process; the same count gives the same bytes
    bool fastCpu = true; ///< hand-scheduled CPU step where model and CPU allow it; false: libtorch's own operators
    bool checkpointActivations = false; ///< recompute each block in backward (libtorch path)
};

/// Sum over unmasked labels and their number. Mean loss in nats per token = sum / labels.
struct LossSum {
    at::Tensor sum; ///< float32 scalar on the model's device, no autograd
    std::int64_t labels = 0;
};

/// Keys and values of the tokens seen so far, for generation.
class KeyValueCache {
public:
    virtual ~KeyValueCache() = default;
    virtual std::int64_t length() const = 0; ///< tokens seen
    virtual std::int64_t capacity() const = 0;
};

/// A language model with its weights and gradients. Functions may throw c10::Error; the loop and the public entry
/// points catch. Not thread-safe. inputs and labels are int64 or int32 (B,T) on the model's device; labels are already
/// shifted.
class Model {
public:
    virtual ~Model() = default;

    const ModelConfig& config() const { return config_; }
    const ModelOptions& options() const { return options_; }
    /// Trained parameters with flat weights and gradients.
    const ParameterStore& parameters() const { return parameters_; }
    ParameterStore& parameters() { return parameters_; }
    /// Saved with the weights, never trained (HRM start states, what LoRA leaves alone). May be empty.
    const NamedTensors& buffers() const { return buffers_; }

    /// Of the buffers, what was trained elsewhere and stays as it is: the weights that LoRA's pairs stand beside.
    /// Views.
    NamedTensors frozen() const { return config_.loraRank > 0 ? buffers_ : NamedTensors {}; }

    /// Weights as a model without LoRA has them, by our names: for exports. Views, or copies where pairs were added in.
    virtual NamedTensors fullState() const;

    /// Forward and backward: adds gradientScale * d(loss sum)/dw to the gradients. With 1 / (labels of the whole
    /// accumulated batch) the gradients become those of the mean per token. Does not synchronise the device.
    /// @param places_BT  where a row holds several documents: of each token its place in its own, from 0. A token then
    ///     has that position and reads nothing from before its document. Undefined: each row is one.
    /// @return loss of each label in nats, 0 where masked: float32 (B,T) on the device, no autograd, not scaled
    virtual at::Tensor forwardBackward(const at::Tensor& inputs_BT, const at::Tensor& labels_BT, double gradientScale,
        const at::Tensor& places_BT = {})
        = 0;
    /// Whether clippedBackward() can be called.
    virtual bool clipsPerSample() const { return false; }
    struct ClippedPass {
        at::Tensor losses_BT; ///< as forwardBackward() gives them
        at::Tensor norms_B; ///< of each row's gradient before clipping, float32
    };
    /// Forward and backward where each row is a sample whose part in the sum is bounded: adds gradientScale *
    /// min(1, clipNorm / |g|) * g over the rows, g the gradient of the mean of the row's learnt labels. A row whose
    /// gradient is not finite adds nothing, and its losses are 0, unless no row has one: then its weights are broken.
    virtual ClippedPass clippedBackward(const at::Tensor& inputs_BT, const at::Tensor& labels_BT, double gradientScale,
        double clipNorm, const at::Tensor& places_BT = {});
    /// Whether pairBackward() and pairPass() can be called: the model knows what it was before it was trained.
    virtual bool comparesWithStart() const { return false; }
    /// Rows of documents that are pairs of answers.
    struct PairRows {
        at::Tensor inputs_BT;
        at::Tensor labels_BT;
        at::Tensor places_BT;
        at::Tensor answers_BT; ///< as ChunkWindows::answers()
        std::int64_t pairs = 0;
    };
    struct PairPass {
        at::Tensor losses_BT; ///< of each pair, spread over the labels of its answers; float32, no autograd
        at::Tensor margins_P; ///< PairLosses
    };
    /// Forward and backward: adds gradientScale * d(sum of the losses of the pairs)/dw to the gradients. The reference
    /// is the model without its LoRA pairs and without dropout.
    virtual PairPass pairBackward(const PairRows& rows, const PreferenceRule& rule, double gradientScale);
    /// The same without gradients and without dropout.
    virtual PairPass pairPass(const PairRows& rows, const PreferenceRule& rule);
    /// Whether forwardBackward adds to each gradient exactly once, through autograd: then the gradients of a layer are
    /// done while the layers before it are still to come.
    virtual bool finishesGradientsInOrder() const { return false; }
    /// Whether forwardBackward does the same work on the device each time, asks it for nothing and draws from its
    /// default generator only: then a CUDA graph can stand for it.
    virtual bool canBeCaptured() const { return false; }
    /// Loss without gradients and without dropout. Counts the labels (on CUDA with one // sync:).
    virtual LossSum lossSum(const at::Tensor& inputs_BT, const at::Tensor& labels_BT, const at::Tensor& places_BT = {})
        = 0;
    /// float32 (B,T,V), no dropout.
    virtual at::Tensor logits(const at::Tensor& inputs_BT, const at::Tensor& places_BT = {}) = 0;

    /// An empty cache for up to `capacity` tokens of each of `batch` rows; capacity <= contextLength.
    virtual std::unique_ptr<KeyValueCache> newCache(std::int64_t batch, std::int64_t capacity) = 0;
    /// Appends tokens to the cache; logits of the last position, float32 (B,V).
    virtual at::Tensor nextLogits(const at::Tensor& tokens_BT, KeyValueCache& cache) = 0;

    /// To be called after anything but forwardBackward changed the weights: optimizer, loading, EMA swap, merging.
    virtual void weightsChanged() { }
    /// Starts dropout and exploration anew. Called with a seed made from the run's seed and the step, a resumed run
    /// draws the same numbers as an unbroken one.
    virtual void reseed(std::uint64_t seed);
    /// "fast cpu (avx512, fp32)", "libtorch cpu", "libtorch cuda": for telemetry and bench.
    virtual std::string backendName() const = 0;

protected:
    Model(ModelConfig config, ModelOptions options)
        : config_(std::move(config))
        , options_(options)
    {
    }

    ModelConfig config_;
    ModelOptions options_;
    ParameterStore parameters_;
    NamedTensors buffers_;
};

/// Builds and initialises a model. InvalidArgument lists every problem of the configuration; running out of memory
/// names the size that was asked for.
Result<std::unique_ptr<Model>> createModel(const ModelConfig& config, const ModelOptions& options);

/// Whether a tensor of that name is half of a pair of LoRA.
bool isLoraPair(const std::string& name);

/// Number of labels that are not kIgnoreLabel. On CUDA this synchronises: count on the host where the batch was made.
std::int64_t countLabels(const at::Tensor& labels_BT);

/// Parameters and buffers by name.
NamedTensors modelState(const Model& model);
/// The same without what is frozen: what training can change.
NamedTensors trainedState(const Model& model);
/// Copies weights in. Corrupt names the first tensor that is missing, extra, of another shape or not finite; then
/// nothing has been changed.
Status loadModelState(Model& model, const NamedTensors& state);

} // namespace furrow
