#include "core/train/loop/micro_step_torch.h"

#include "core/base/log.h"
#include "core/cuda/cuda_backend_torch.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/torch.h>

#include <string>

namespace furrow {

namespace {

constexpr int kInARow = 4; // libraries choose kernels and take memory in the first passes, which a capture may not do
constexpr double kSameLoss = 1e-3; // relative; sums in another order, not another computation
constexpr double kSameGradient = 1e-2;

/// `next` begins when everything that `before` was given is done.
void follow(const c10::Stream& before, const c10::Stream& next)
{
    c10::Event done(c10::kCUDA);
    done.record(before);
    done.block(next);
}

} // namespace

struct MicroStep::Graph {
    explicit Graph(Model& model)
        : model_(model)
        , graph_(cudaBackend().value()->newGraph())
        , stream_(streams_.getStreamFromGlobalPool(model.options().device))
    {
    }

    /// Ordinary passes until the usual micro-batch is known, and for good when its graph turns out to be of no use.
    at::Tensor run(const Batch& batch, double scale)
    {
        if (state_ == State::Captured && batch.inputs_BT.sizes() == graphBatch_.inputs_BT.sizes()
            && scale == graphScale_)
            return replay(batch);
        if (state_ != State::WarmingUp)
            return pass(batch, scale);
        return isUsual(batch.inputs_BT, scale) ? captureAndCheck(batch, scale) : passOnOwnStream(batch, scale);
    }

private:
    at::Tensor pass(const Batch& batch, double scale)
    {
        return model_.forwardBackward(batch.inputs_BT, batch.labels_BT, scale, batch.places_BT);
    }

    enum class State { WarmingUp, Captured, GivenUp };

    bool isUsual(const at::Tensor& inputs_BT, double scale)
    {
        const bool same = inputs_BT.size(0) == lastRows_ && scale == lastScale_;
        lastRows_ = inputs_BT.size(0);
        lastScale_ = scale;
        inARow_ = same ? inARow_ + 1 : 1;
        return inARow_ >= kInARow;
    }

    /// On the stream of the capture, so that what libraries initialise is ready there.
    at::Tensor passOnOwnStream(const Batch& batch, double scale)
    {
        const c10::Stream current = streams_.getStream(model_.options().device);
        follow(current, stream_);
        at::Tensor losses_BT;
        {
            const c10::StreamGuard guard(stream_);
            losses_BT = pass(batch, scale);
        }
        follow(stream_, current);
        return losses_BT;
    }

    /// Records; computes nothing.
    void capture(const Batch& batch, double scale)
    {
        graphBatch_.inputs_BT = batch.inputs_BT.clone();
        graphBatch_.labels_BT = batch.labels_BT.clone();
        if (batch.places_BT.defined())
            graphBatch_.places_BT = batch.places_BT.clone();
        graphScale_ = scale;
        const c10::Stream current = streams_.getStream(model_.options().device);
        follow(current, stream_);
        {
            const c10::StreamGuard guard(stream_);
            graph_->begin();
            try {
                graphLosses_BT_ = pass(graphBatch_, scale);
            } catch (...) {
                try {
                    graph_->end(); // throws, as the capture is broken, and ends it
                } catch (const c10::Error&) { // NOLINT(bugprone-empty-catch): the reason is the one on its way already
                }
                throw;
            }
            graph_->end();
        }
        follow(stream_, current);
    }

    at::Tensor replay(const Batch& batch)
    {
        graphBatch_.inputs_BT.copy_(batch.inputs_BT, true);
        graphBatch_.labels_BT.copy_(batch.labels_BT, true);
        if (graphBatch_.places_BT.defined())
            graphBatch_.places_BT.copy_(batch.places_BT, true);
        graph_->replay();
        return graphLosses_BT_.clone(); // the next replay writes it again
    }

    /// The micro-batch is done once by an ordinary pass and once by the graph, from the same gradients and random
    /// numbers; what the ordinary one made stays.
    at::Tensor captureAndCheck(const Batch& batch, double scale)
    {
        const at::Tensor& gradients = model_.parameters().gradients();
        auto generator = at::globalContext().defaultGenerator(model_.options().device);
        const at::Tensor before = gradients.clone();
        const at::Tensor random = generator.get_state();
        const at::Tensor losses_BT = passOnOwnStream(batch, scale);
        const at::Tensor sum = losses_BT.sum();
        const at::Tensor wanted = gradients.clone();
        const at::Tensor randomAfter = generator.get_state();
        std::string problem;
        try {
            capture(batch, scale);
            gradients.copy_(before);
            generator.set_state(random);
            const double lossError
                = ((replay(batch).sum() - sum).abs() / sum.abs()).item<double>(); // sync: once in a run
            const double gradientError = ((gradients - wanted).norm() / (wanted - before).norm()).item<double>();
            if (!(lossError < kSameLoss && gradientError < kSameGradient))
                problem = "its loss and gradients differ from an ordinary pass by " + std::to_string(lossError)
                    + " and " + std::to_string(gradientError);
        } catch (const c10::Error& error) {
            problem = error.what_without_backtrace();
        }
        gradients.copy_(wanted);
        generator.set_state(randomAfter);
        state_ = problem.empty() ? State::Captured : State::GivenUp;
        if (problem.empty())
            logInfo("the micro-step runs as a CUDA graph from now on");
        else
            logWarning("the micro-step goes on without a CUDA graph: " + problem);
        return losses_BT;
    }

    Model& model_;
    State state_ = State::WarmingUp;
    std::unique_ptr<CudaBackend::Graph> graph_;
    c10::impl::VirtualGuardImpl streams_ { c10::kCUDA };
    c10::Stream stream_;
    Batch graphBatch_; // what the graph reads, and writes
    at::Tensor graphLosses_BT_;
    double graphScale_ = 0;
    std::int64_t lastRows_ = 0; // of the micro-batch before, with its scale; how often they came in a row
    double lastScale_ = 0;
    int inARow_ = 0;
};

MicroStep::MicroStep(Model& model, bool wantsGraph)
    : model_(model)
    , graph_(wantsGraph && model.options().device.is_cuda() && model.canBeCaptured() ? std::make_unique<Graph>(model)
                                                                                     : nullptr)
{
}

MicroStep::~MicroStep() = default;

at::Tensor MicroStep::run(const Batch& batch, double gradientScale)
{
    return graph_ ? graph_->run(batch, gradientScale)
                  : model_.forwardBackward(batch.inputs_BT, batch.labels_BT, gradientScale, batch.places_BT);
}

} // namespace furrow
