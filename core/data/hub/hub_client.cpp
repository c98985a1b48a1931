#include "core/data/hub/hub_client.h"

#include "core/base/sentence.h"
#include "core/data/hub/hub_limits.h"

#include <algorithm>
#include <utility>

namespace furrow {

namespace {

constexpr int kMaxResolves = 3; ///< of one read without progress, when addresses run out

/// The answer holds the bytes that were asked for, no others.
bool isPart(const HttpResponse& head, ByteRange asked, std::uint64_t fileBytes)
{
    if (head.status == 200)
        return asked.offset == 0 && asked.sizeBytes == fileBytes;
    return head.status == 206
        && head.header("content-range")
               .starts_with("bytes " + std::to_string(asked.offset) + "-"
                   + std::to_string(asked.offset + asked.sizeBytes - 1) + "/");
}

/// Counts the requests and every byte of a body that arrives, also of answers that break off or are asked for again.
class CountingTransport : public HttpTransport {
public:
    CountingTransport(
        HttpTransport& transport, std::atomic<std::uint64_t>& requests, std::atomic<std::uint64_t>& bodyBytes)
        : transport_(transport)
        , requests_(requests)
        , bodyBytes_(bodyBytes)
    {
    }
    Result<HttpResponse> send(const HttpRequest& request, const BodySink& sink) override
    {
        ++requests_;
        const BodySink counted = [&](const HttpResponse& head, std::string_view piece) {
            bodyBytes_ += piece.size();
            return sink(head, piece);
        };
        auto response = transport_.send(request, sink ? counted : sink);
        if (response.ok())
            bodyBytes_ += response.value().body.size(); // that no sink took
        return response;
    }
    void dropConnections() override { transport_.dropConnections(); }

private:
    HttpTransport& transport_;
    std::atomic<std::uint64_t>& requests_;
    std::atomic<std::uint64_t>& bodyBytes_;
};

std::shared_ptr<HubClient>& shared()
{
    static std::shared_ptr<HubClient> client;
    return client;
}

} // namespace

HubClient::HubClient(HubSettings settings, std::unique_ptr<HttpTransport> transport, RetryPolicy retry)
    : settings_(std::move(settings))
    , retry_(std::move(retry))
    , web_(settings_.web)
{
    transports_.push_back(std::move(transport));
}

HubClient::HubClient(HubSettings settings, const TransportMaker& transport, int transfers, RetryPolicy retry)
    : settings_(std::move(settings))
    , retry_(std::move(retry))
    , web_(settings_.web)
{
    for (int i = 0; i < std::max(transfers, 1); ++i)
        transports_.push_back(transport());
}

HubTraffic HubClient::traffic() const { return { requests_, bodyBytes_ }; }

bool HubClient::wait(double seconds, const Message& why) const { return pause(retry_, seconds, why); }

bool HubClient::isHub(const std::string& url) const { return originOf(url) == originOf(settings_.endpoint); }

/// A mirror may answer with addresses of the hub itself: they go through the mirror too.
std::string HubClient::viaEndpoint(const std::string& url) const
{
    static const std::string kHub = "https://huggingface.co";
    return originOf(url) == kHub ? settings_.endpoint + url.substr(kHub.size()) : url;
}

Result<HttpResponse> HubClient::send(const std::function<HttpRequest()>& make, const BodySink& sink,
    const TransferLane& lane, const std::function<bool()>& progressed)
{
    bool isToHub = false;
    const auto seen = [&] {
        HttpRequest request = make();
        isToHub = isHub(request.url);
        return request;
    };
    CountingTransport counting(lane.transport, requests_, bodyBytes_);
    auto response = sendWithRetry(counting, seen, sink, lane.retry, progressed);
    if (!response.ok() && response.error().code == ErrorCode::Network)
        return Error { ErrorCode::Network,
            isToHub ? sentence("%1. Check the network; https_proxy names a proxy, HF_ENDPOINT a mirror of the hub.",
                          { response.error().message })
                    : sentence("%1. Check the network; https_proxy names a proxy.", { response.error().message }) };
    return response;
}

HttpRequest HubClient::request(const char* method, const std::string& url) const
{
    if (!isHub(url))
        return { method, url, {}, {}, {} };
    return { method, url, settings_.token, settings_.account, {} };
}

HttpRequest HubClient::requestFor(const HubAddress& address, const std::string& url) const
{
    if (!address.isWeb())
        return request("GET", url);
    return url.empty() ? web_.get(address.path) : web_.redirected(address.path, url);
}

Status HubClient::mayAskTheHub() const
{
    return settings_.offline
        ? Status(Error { ErrorCode::Network,
              sentence(
                  "HF_HUB_OFFLINE is set, so the hub is not asked. Unset it, or use data that is on this machine.") })
        : Status {};
}

Result<HttpResponse> HubClient::get(const std::string& url)
{
    FURROW_TRY(mayAskTheHub());
    std::string at = viaEndpoint(url);
    const TransferLane lane { *transports_.front(), retry_ };
    for (int i = 0; i <= kMaxRedirects; ++i) {
        auto response = send([&] { return request("GET", at); }, {}, lane);
        if (!response.ok() || response.value().status < 300 || response.value().status >= 400)
            return response;
        at = viaEndpoint(resolveUrl(at, response.value().header("location")));
    }
    return Error { ErrorCode::Network, sentence("%1 redirects in a circle.", { printableUrl(url) }) };
}

Result<ResolvedFile> HubClient::resolved(const HubAddress& address, const HubFile& file, const TransferLane& lane)
{
    const std::lock_guard guard(addressMutex_);
    if (const auto known = addresses_.find(toString(address)); known != addresses_.end())
        return known->second;
    FURROW_TRY_ASSIGN(
        auto found, address.isWeb() ? resolveWeb(address.path, lane, file.sizeBytes) : resolve(address, file, lane));
    if (address.isWeb()) {
        if (const auto how = howChanged(address.path, file.sizeBytes, file.version, found.web); !how.empty())
            return changed(address.path, how);
        const std::lock_guard same(changedMutex_);
        changed_.erase(address.path);
    }
    const std::string expected = file.sha256.empty() ? file.oid : file.sha256;
    if (!address.isWeb() && !expected.empty() && !found.etag.empty() && found.etag != expected)
        return Error { ErrorCode::Network,
            sentence("%1 is another file on the hub than in its list; try again later.", { toString(address) }) };
    addresses_[toString(address)] = found;
    return found;
}

void HubClient::forgetAddress(const Address& address, const std::string& url)
{
    const std::lock_guard guard(addressMutex_);
    if (const auto known = addresses_.find(address); known != addresses_.end() && known->second.url == url)
        addresses_.erase(known); // else another lane asked already
}

Status HubClient::read(const std::string& repository, const std::string& commit, const HubFile& file, ByteRange range,
    const std::function<bool(std::string_view)>& sink)
{
    const std::lock_guard guard(mutex_);
    return readPart({ repository, commit, file.path }, file, range, { *transports_.front(), retry_ }, sink);
}

Status HubClient::readParts(const std::string& repository, const std::string& commit, const HubFile& file,
    std::span<const ByteRange> parts, const PartSink& sink)
{
    const std::lock_guard guard(mutex_);
    const HubAddress address { repository, commit, file.path };
    const auto move
        = [&](std::size_t part, const TransferLane& lane, const std::function<bool(std::string_view)>& into) {
              return readPart(address, file, parts[part], lane, into);
          };
    auto status = transferParts(transports_, retry_, parts.size(), move, sink);
    if (!status.ok() && status.error().code == ErrorCode::Cancelled)
        return Error { ErrorCode::Cancelled, sentence("Reading %1 was stopped.", { toString(address) }) };
    return status;
}

Status HubClient::readPart(const HubAddress& address, const HubFile& file, const ByteRange& range,
    const TransferLane& lane, const std::function<bool(std::string_view)>& sink)
{
    const auto refused = [&](const HttpResponse& response) {
        return address.isWeb() ? webRefusal(address.path, response) : refusal(response, address.repository);
    };
    std::uint64_t done = 0;
    for (int fruitless = 0; done < range.sizeBytes;) {
        FURROW_TRY_ASSIGN(auto from, resolved(address, file, lane));
        const std::uint64_t start = done;
        std::uint64_t attempt = done; // where the attempt in progress began
        ByteRange asked {};
        BodyWindow window({}); // of an answer with the whole file
        bool wrongPart = false;
        bool isStopped = false;
        std::string how; // the file is another one
        const auto onPiece = [&](const HttpResponse& head, std::string_view piece) {
            if (address.isWeb())
                how = howChanged(address.path, file.sizeBytes, file.version, stateOf(head));
            const bool isWhole = address.isWeb() && head.status == 200; // a server that knows no parts
            if (isWhole)
                piece = window.cut(piece);
            wrongPart = (!isWhole && !isPart(head, asked, from.sizeBytes)) || piece.size() > range.sizeBytes - done;
            if (wrongPart || !how.empty())
                return false;
            done += piece.size();
            isStopped = !piece.empty() && !sink(piece);
            return !isStopped && (!isWhole || !window.isOver());
        };
        const auto make = [&] {
            asked = { range.offset + done, range.sizeBytes - done };
            window = BodyWindow(asked);
            HttpRequest part = requestFor(address, from.url);
            part.range = asked;
            return part;
        };
        auto response = send(make, onPiece, lane, [&] { return std::exchange(attempt, done) != done; });
        if (!response.ok() && !isStopped && done == range.sizeBytes)
            break; // no more of an answer with the whole file was wanted
        if (!how.empty()) {
            forgetAddress(toString(address), from.url); // it is asked once more, which may be another server
            if (++fruitless > kMaxResolves)
                return changed(address.path, how);
            continue;
        }
        if (!response.ok() && !wrongPart)
            return response.error();
        if (!wrongPart && response.value().status == 416 && !address.isWeb())
            return Error { ErrorCode::Network,
                sentence("%1 is shorter than the hub's list says.", { toString(address) }) };
        if (!wrongPart
            && (response.value().status >= 500 || response.value().status == 429 || response.value().status == 408))
            return refused(response.value()); // asked often enough
        fruitless = done > start ? 0 : fruitless + 1;
        const bool isRefused = !wrongPart && response.value().status >= 400;
        if (isRefused || wrongPart)
            forgetAddress(toString(address), from.url); // a signed address may have run out, or lead to a wrong server
        if (fruitless > kMaxResolves && isRefused)
            return refused(response.value());
        if (fruitless > kMaxResolves)
            return Error { ErrorCode::Network,
                sentence(
                    "%1: the server does not send the part of the file that was asked for.", { toString(address) }) };
    }
    return {};
}

const std::shared_ptr<HubClient>& sharedHubClient()
{
    if (!shared())
        shared() = std::make_shared<HubClient>(
            HubSettings::fromEnvironment(), [] { return curlTransport(); }, kHubTransfers);
    return shared();
}

void setSharedHubClient(std::shared_ptr<HubClient> client) { shared() = std::move(client); }

} // namespace furrow
