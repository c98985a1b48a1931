#pragma once

#include "core/collective/rank_group_torch.h"

#include <vector>

namespace furrow {

/// Sums the flat gradients of all ranks, in equal pieces. A piece begins as soon as autograd has finished the
/// parameters in it, in an order that is the same on every rank; so most of the sum is under way while backward still
/// works on the layers before. Must outlive no backward that it was armed for. Not thread-safe.
class GradientSum {
public:
    struct Parameter {
        at::Tensor leaf; ///< its gradient is flat[offset, offset + count)
        std::int64_t offset = 0;
        std::int64_t count = 0;
    };

    /// @param flat  all gradients; its storage has some zeros behind them, as many as there may be pieces
    /// @param parameters  in flat order; the leaves are watched where `overlaps`, else nothing begins before finish()
    /// @param pieceBytes  about so large; of small models there is one piece
    GradientSum(RankGroup& group, const at::Tensor& flat, std::vector<Parameter> parameters, bool overlaps,
        std::int64_t pieceBytes = kPieceBytes);
    ~GradientSum();
    GradientSum(const GradientSum&) = delete;
    GradientSum& operator=(const GradientSum&) = delete;

    static constexpr std::int64_t kPieceBytes = 25 << 20; ///< as PyTorch's DistributedDataParallel

    /// The next backward is the last one of this step: pieces may begin in it.
    void arm();
    /// Begins what has not begun, and waits for all: the gradients are sums then.
    Status finish();

    std::int64_t pieces() const { return static_cast<std::int64_t>(pieces_.size()); }
    /// How many of the last step began inside its backward.
    std::int64_t early() const { return early_; }

private:
    class Watch;
    struct Piece {
        at::Tensor values;
        int parameters = 0; ///< that have a part in it
        int missing = 0; ///< of them, in the backward at hand
    };

    void finished(std::size_t parameter);
    void beginReady();

    RankGroup& group_;
    std::vector<Parameter> parameters_;
    std::vector<Piece> pieces_;
    std::int64_t pieceSize_ = 0;
    std::vector<std::size_t>
        order_; ///< of the pieces; that of element 0 is the last, so that a bad loss can still be marked there
    std::size_t next_ = 0; ///< in order_
    bool armed_ = false;
    bool overlaps_ = false;
    std::int64_t early_ = 0;
};

} // namespace furrow
