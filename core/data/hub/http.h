#pragma once

#include "core/base/redact.h"
#include "core/base/result.h"
#include "core/data/source/distant_source.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

struct HttpRequest {
    std::string method = "GET"; ///< or HEAD
    std::string url; ///< without an account
    Secret bearer; ///< sent as Authorization to the host of `url` only; redirects are never followed by the transport
    Secret account; ///< "name:password", percent-encoded, sent to the host of `url` only, and then no bearer
    std::optional<ByteRange> range;
    std::vector<std::string> headers {}; ///< further ones: "name: value"
    std::stop_token stop {}; ///< ends the transfer (Cancelled) within a second or so, also one that stalls
};

struct HttpResponse {
    long status = 0;
    std::map<std::string, std::string> headers; ///< names in lower case
    std::string body; ///< when no sink was given, at most kMaxBody
    bool isFramed = false; ///< HTTP/2 or later: the end of the body is told, however long it is

    std::string header(const std::string& name) const;
};

inline constexpr std::size_t kMaxBody = 64u << 20;

/// Takes pieces of a successful body (2xx) in order; false stops the transfer (Cancelled).
/// @param head  status and headers of the answer the piece belongs to
using BodySink = std::function<bool(const HttpResponse& head, std::string_view piece)>;

/// One request, one answer, no retry and no redirect. An interface because tests count and fail requests. Not
/// thread-safe. Errors (Network) are for transfers that did not come to an end, named with the address and without a
/// full stop; any status is an answer.
class HttpTransport {
public:
    virtual ~HttpTransport() = default;
    virtual Result<HttpResponse> send(const HttpRequest& request, const BodySink& sink) = 0;
    /// The next request opens a new connection: one that is kept may be dead, or lead to the one of many servers that
    /// is ill.
    virtual void dropConnections() { }
};

struct TransportLimits {
    long connectSeconds = 15;
    long stallSeconds = 30; ///< without a byte
};
using TransportMaker = std::function<std::unique_ptr<HttpTransport>()>;
/// What a person set for the way to servers, beside what curl's own program takes from the environment.
struct TransportWay {
    std::string certificates; ///< file of those to trust; "": as the environment or the system says
    Secret proxy; ///< "": as the environment says
    bool netrc = false; ///< accounts may stand in ~/.netrc
};
std::unique_ptr<HttpTransport> curlTransport(const TransportLimits& limits = {}, const TransportWay& way = {});

/// An address for messages and logs: without query (signatures) and without user information.
std::string printableUrl(std::string_view url);
/// "https://host:port" in lower case, "" when the text is no http address.
std::string originOf(std::string_view url);
/// `location` of a redirect, absolute or relative, against the address that gave it.
std::string resolveUrl(const std::string& base, const std::string& location);
/// Percent-encodes all but unreserved characters and '/'.
std::string encodePath(std::string_view path);

/// How long and how often a failed request is repeated. Retrying is written here and nowhere else.
struct RetryPolicy {
    int attempts = 6; ///< of requests that fail without any progress
    double firstWaitSeconds = 0.5; ///< doubled each time, with up to half of it as jitter
    double longestWaitSeconds = 60;
    /// Waits before the next try, whose reason is a sentence without its full stop; false: give up (Cancelled); empty:
    /// sleep.
    std::function<bool(double seconds, const Message& why)> wait;
};

/// Sends until an answer comes that a repetition would not change. 429 waits as long as its headers say; 408, 5xx and
/// broken transfers back off. Each repetition goes over a new connection. The caller gets the last answer or error.
/// @param make  the request, made anew for each attempt (a range may have moved on)
/// @param progressed  true when the last attempt moved something: the count of attempts starts anew
Result<HttpResponse> sendWithRetry(HttpTransport& transport, const std::function<HttpRequest()>& make,
    const BodySink& sink, const RetryPolicy& policy, const std::function<bool()>& progressed = {});

/// Waits as the policy does; false: give up.
bool pause(const RetryPolicy& policy, double seconds, const Message& why);

/// Seconds that a 429 or 503 asks to wait (RateLimit t=, Retry-After), or -1.
double requestedWait(const HttpResponse& response);

} // namespace furrow
