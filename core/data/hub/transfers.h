#pragma once

#include "core/data/hub/http.h"

#include <cstddef>
#include <memory>
#include <span>

namespace furrow {

/// What a transfer is made with.
struct TransferLane {
    HttpTransport& transport;
    const RetryPolicy& retry;
};

/// Moves one part; its bytes go to the sink in order, once. Called on the thread of its lane.
using MovePart = std::function<Status(
    std::size_t part, const TransferLane& lane, const std::function<bool(std::string_view)>& sink)>;
/// Takes bytes of a part, on the thread that called transferParts: of one part in order, of several as they come. False
/// stops everything (Cancelled).
using PartSink = std::function<bool(std::size_t part, std::string_view bytes)>;

/// Moves parts 0 to count - 1 over as many transfers at once as there are transports; with one, one after the other on
/// the calling thread. A wait that one of them is asked for holds for all: no request goes out before it is over, and
/// `retry.wait` is called on the calling thread only. A part is not begun while one more than twice as many parts
/// before it as there are transports is not whole, so that what comes early stays little. The first error ends all
/// transfers; what had arrived by then was given to the sink.
Status transferParts(std::span<const std::unique_ptr<HttpTransport>> transports, const RetryPolicy& retry,
    std::size_t count, const MovePart& move, const PartSink& sink);

} // namespace furrow
