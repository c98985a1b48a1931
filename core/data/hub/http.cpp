#include "core/data/hub/http.h"

#include "core/base/log.h"
#include "core/base/lower_case.h"
#include "core/base/random.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <thread>

namespace furrow {

namespace {

bool isTransient(long status) { return status == 408 || status == 429 || status >= 500; }

double numberAfter(const std::string& text, const std::string& key)
{
    const auto at = text.find(key);
    if (at == std::string::npos)
        return -1;
    int value = -1;
    const char* begin = text.data() + at + key.size();
    std::from_chars(begin, text.data() + text.size(), value);
    return value;
}

} // namespace

std::string HttpResponse::header(const std::string& name) const
{
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
}

std::string originOf(std::string_view url)
{
    const auto scheme = url.find("://");
    if (scheme == std::string_view::npos)
        return "";
    const std::string plain = withoutAccount(url).address;
    std::string origin = lowerCase(plain.substr(0, plain.find_first_of("/?#", scheme + 3)));
    return origin.starts_with("http://") || origin.starts_with("https://") ? origin : "";
}

std::string printableUrl(std::string_view url)
{
    const auto scheme = url.find("://");
    const auto path = scheme == std::string_view::npos ? std::string_view::npos : url.find_first_of("/?#", scheme + 3);
    std::string out = originOf(url);
    if (path != std::string_view::npos)
        out += url.substr(path, url.find_first_of("?#", path) - path);
    return out;
}

std::string resolveUrl(const std::string& base, const std::string& location)
{
    if (!originOf(location).empty())
        return withoutAccount(location).address; // an account is the person's to give, not the server's
    if (location.starts_with("//"))
        return base.substr(0, base.find(':') + 1) + location;
    if (location.starts_with("/"))
        return originOf(base) + location;
    const std::string plain = base.substr(0, base.find_first_of("?#"));
    return plain.substr(0, plain.rfind('/') + 1) + location;
}

std::string encodePath(std::string_view path)
{
    static const char* const kHex = "0123456789ABCDEF";
    std::string out;
    for (const char c : path) {
        const auto u = static_cast<unsigned char>(c);
        if (std::isalnum(u) != 0 || c == '-' || c == '_' || c == '.' || c == '~' || c == '/')
            out += c;
        else
            out += { '%', kHex[u >> 4], kHex[u & 15] };
    }
    return out;
}

bool pause(const RetryPolicy& policy, double seconds, const Message& why)
{
    if (policy.wait)
        return policy.wait(seconds, why);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    return true;
}

double requestedWait(const HttpResponse& response)
{
    const double window = numberAfter(response.header("ratelimit"), ";t=");
    const double after = numberAfter(response.header("retry-after"), "");
    return std::max(window, after);
}

Result<HttpResponse> sendWithRetry(HttpTransport& transport, const std::function<HttpRequest()>& make,
    const BodySink& sink, const RetryPolicy& policy, const std::function<bool()>& progressed)
{
    static thread_local Random jitter(
        static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
    int failures = 0;
    for (;;) {
        const HttpRequest request = make();
        auto response = transport.send(request, sink);
        const bool retry
            = response.ok() ? isTransient(response.value().status) : response.error().code == ErrorCode::Network;
        if (!retry)
            return response;
        failures = progressed && progressed() ? 0 : failures + 1;
        if (failures >= policy.attempts)
            return response;
        double seconds = std::min(
            policy.longestWaitSeconds, policy.firstWaitSeconds * static_cast<double>(1u << std::min(failures, 20)));
        seconds *= 1 + jitter.uniform() / 2;
        const double asked = response.ok() ? requestedWait(response.value()) : -1;
        if (asked >= 0)
            seconds = std::min(asked, 3600.0);
        const Message why = response.ok()
            ? sentence("%1 answered %2", { printableUrl(request.url), std::to_string(response.value().status) })
            : response.error().message;
        logWarning(sentence("%1. Trying again in %2 s.", { why, Real(std::ceil(seconds), 0) }));
        if (!pause(policy, seconds, why))
            return Error { ErrorCode::Cancelled, sentence("Reading %1 was cancelled.", { printableUrl(request.url) }) };
        transport.dropConnections();
    }
}

} // namespace furrow
