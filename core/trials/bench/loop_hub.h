#pragma once

#include "core/data/hub/hub_client.h"

#include <atomic>
#include <map>

namespace furrow {

/// How far away the hub is and how wide each connection to it; zeros: as near as it is.
struct LoopDistance {
    double latencySeconds = 0; ///< before each answer
    double bytesPerSecond = 0; ///< of one connection
};

/// A hub inside this process for benchmarks: one repository, addressed as hf://bench/data, whose files lie in memory.
/// It speaks the protocol (revision, tree, redirect to a store, ranges) and counts the bytes of bodies. Thread-safe.
class LoopHub {
public:
    explicit LoopHub(std::map<std::string, std::string> files, const LoopDistance& distance = {});

    /// A transport whose requests are answered here; the hub must outlive it.
    std::unique_ptr<HttpTransport> transport();
    std::uint64_t servedBytes() const { return served_; }
    std::uint64_t datasetBytes() const;
    static constexpr const char* kEndpoint = "http://hub.bench";

private:
    class Transport;
    Result<HttpResponse> answer(const HttpRequest& request, const BodySink& sink);
    HttpResponse tree() const;
    Result<HttpResponse> part(const HttpRequest& request, const std::string& bytes, const BodySink& sink);
    /// Gives the bytes out as slowly as a connection does; false: the sink wants no more.
    bool send(const HttpResponse& head, std::string_view bytes, const BodySink& sink);

    const std::map<std::string, std::string> files_;
    const LoopDistance distance_;
    std::map<std::string, std::string> sha256_;
    std::atomic<std::uint64_t> served_ { 0 };
};

/// The process asks the hub in memory while this lives.
class UseLoopHub {
public:
    /// @param transfers  at once
    explicit UseLoopHub(LoopHub& hub, int transfers = 1);
    ~UseLoopHub() { setSharedHubClient(before_); }
    UseLoopHub(const UseLoopHub&) = delete;
    UseLoopHub& operator=(const UseLoopHub&) = delete;

private:
    std::shared_ptr<HubClient> before_;
};

} // namespace furrow
