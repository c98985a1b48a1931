#pragma once

#include "core/data/hub/hub_client.h"

#include <atomic>
#include <map>

namespace furrow {

/// A hub inside this process for benchmarks: one repository, addressed as hf://bench/data, whose files lie in memory. It
/// speaks the protocol (revision, tree, redirect to a store, ranges) and counts the bytes of bodies. Thread-safe.
class LoopHub {
public:
    explicit LoopHub(std::map<std::string, std::string> files);

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

    const std::map<std::string, std::string> files_;
    std::map<std::string, std::string> sha256_;
    std::atomic<std::uint64_t> served_ { 0 };
};

/// The process asks the hub in memory while this lives.
class UseLoopHub {
public:
    explicit UseLoopHub(LoopHub& hub);
    ~UseLoopHub() { setSharedHubClient(before_); }
    UseLoopHub(const UseLoopHub&) = delete;
    UseLoopHub& operator=(const UseLoopHub&) = delete;

private:
    std::shared_ptr<HubClient> before_;
};

} // namespace furrow
