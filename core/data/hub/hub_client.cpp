#include "core/data/hub/hub_client.h"

#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace furrow {

namespace {

using nlohmann::json;

constexpr int kMaxRedirects = 5;
constexpr std::size_t kMaxPages = 10'000; ///< of a list of files; the hub sends 1,000 a page
constexpr std::size_t kMaxFiles = 2'000'000; ///< of a repository: a list of them takes some hundred MiB
constexpr std::uint64_t kMaxListBytes = 1ull << 30; ///< that a list may come in
constexpr int kMaxResolves = 3; ///< of one read without progress, when addresses run out

std::string environment(const char* name)
{
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// A token is one line: what follows its line break would become lines of the request.
std::string firstLine(const std::string& text) { return text.substr(0, text.find_first_of("\r\n")); }

bool isTrue(const std::string& value)
{
    return value == "1" || value == "true" || value == "TRUE" || value == "yes" || value == "ON" || value == "on";
}

std::string unquoted(std::string etag)
{
    if (etag.starts_with("W/"))
        etag.erase(0, 2);
    std::erase(etag, '"');
    return etag;
}

/// The address of rel="next" in a Link header, or "".
std::string nextLink(const std::string& header)
{
    for (std::size_t at = 0; (at = header.find('<', at)) != std::string::npos; ++at) {
        const auto close = header.find('>', at);
        if (close == std::string::npos)
            break;
        const auto rest = header.substr(close, header.find(',', close) - close);
        if (rest.find("rel=\"next\"") != std::string::npos)
            return header.substr(at + 1, close - at - 1);
    }
    return "";
}

bool isCommit(const std::string& text)
{
    return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

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

HubSettings HubSettings::fromEnvironment()
{
    HubSettings settings;
    const auto named = withoutAccount(environment("HF_ENDPOINT"));
    std::string endpoint = named.address;
    while (endpoint.ends_with('/'))
        endpoint.pop_back();
    const bool mirror = !endpoint.empty() && originOf(endpoint) != originOf(settings.endpoint);
    if (!originOf(endpoint).empty()) {
        settings.endpoint = endpoint;
        settings.account = Secret(named.account);
    }
    settings.offline = isTrue(environment("HF_HUB_OFFLINE"));
    std::string token = firstLine(environment("HF_TOKEN"));
    if (token.empty() && !mirror && !isTrue(environment("HF_HUB_DISABLE_IMPLICIT_TOKEN"))) {
        std::string path = environment("HF_TOKEN_PATH");
        if (path.empty()) {
            const std::string home = environment("HF_HOME");
            path = (home.empty() ? environment("HOME") + "/.cache/huggingface" : home) + "/token";
        }
        auto text = readFile(pathFromUtf8(path), 4096);
        if (text.ok())
            token = firstLine(text.value());
    }
    settings.token = Secret(std::move(token));
    settings.web = WebSecrets::fromEnvironment();
    return settings;
}

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

std::string HubClient::apiOf(const std::string& repository) const
{
    return settings_.endpoint + (settings_.kind == HubKind::Models ? "/api/models/" : "/api/datasets/")
        + encodePath(repository);
}

/// Its files are below it too.
std::string HubClient::pageOf(const std::string& repository) const
{
    return settings_.endpoint + (settings_.kind == HubKind::Models ? "/" : "/datasets/") + encodePath(repository);
}

Error HubClient::refusal(const HttpResponse& response, const std::string& repository) const
{
    const std::string name = "hf://" + repository;
    const std::string code = response.header("x-error-code");
    if (code == "GatedRepo")
        return { ErrorCode::NotFound,
            sentence("%1 is gated: accept its terms on %2 and set HF_TOKEN to a token of that account.",
                { name, pageOf(repository) }) };
    if (code == "RevisionNotFound")
        return { ErrorCode::NotFound, sentence("%1 has no such revision.", { name }) };
    if (response.status == 401 || response.status == 403 || code == "RepoNotFound")
        return { ErrorCode::NotFound,
            sentence("%1 does not exist, or is private: set HF_TOKEN to a token that may read it.", { name }) };
    if (response.status == 404)
        return { ErrorCode::NotFound, sentence("%1 does not have what was asked for (404).", { name }) };
    return { ErrorCode::Network, sentence("%1: the hub answered %2.", { name, std::to_string(response.status) }) };
}

Result<std::string> HubClient::resolveRevision(const std::string& repository, const std::string& revision)
{
    const std::lock_guard guard(mutex_);
    FURROW_TRY_ASSIGN(auto response, get(apiOf(repository) + "/revision/" + encodePath(revision)));
    if (response.status != 200)
        return refusal(response, repository);
    const auto info = json::parse(response.body, nullptr, false);
    const auto sha
        = info.is_object() && info.contains("sha") && info["sha"].is_string() ? info["sha"].get<std::string>() : "";
    if (!isCommit(sha))
        return Error { ErrorCode::Network, sentence("hf://%1: the hub's answer names no commit.", { repository }) };
    return sha;
}

Result<std::vector<HubFile>> HubClient::tree(const std::string& repository, const std::string& commit)
{
    const std::lock_guard guard(mutex_);
    std::string url = apiOf(repository) + "/tree/" + encodePath(commit) + "?recursive=true";
    std::vector<HubFile> files;
    std::set<std::string> pages; // addresses that were asked for
    std::uint64_t bytes = 0;
    const auto endless = [&](const std::string& why) {
        return Error { ErrorCode::Network,
            sentence(
                "hf://%1: the list of files does not end (%2). The server is at fault; try again later, or without the mirror that HF_ENDPOINT names.",
                { repository, why }) };
    };
    while (!url.empty()) {
        if (!pages.insert(url).second)
            return endless(sentence("page %1 leads back to one before it", { std::to_string(pages.size()) }));
        if (pages.size() > kMaxPages || files.size() > kMaxFiles || bytes > kMaxListBytes)
            return endless(sentence(
                "%1 pages and %2 files so far", { std::to_string(pages.size() - 1), std::to_string(files.size()) }));
        FURROW_TRY_ASSIGN(auto response, get(url));
        if (response.status != 200)
            return refusal(response, repository);
        bytes += url.size() + response.body.size();
        const auto list = json::parse(response.body, nullptr, false);
        if (!list.is_array())
            return Error { ErrorCode::Network,
                sentence("hf://%1: the hub's list of files cannot be read.", { repository }) };
        for (const auto& item : list) {
            if (!item.is_object() || item.value("type", json()) != "file" || !item.value("path", json()).is_string()
                || !item.value("size", json()).is_number_unsigned())
                continue;
            HubFile file { item["path"].get<std::string>(), item["size"].get<std::uint64_t>(), "", "" };
            if (item.value("oid", json()).is_string())
                file.oid = item["oid"].get<std::string>();
            if (item.contains("lfs") && item["lfs"].is_object() && item["lfs"].value("oid", json()).is_string())
                file.sha256 = item["lfs"]["oid"].get<std::string>();
            files.push_back(std::move(file));
        }
        const auto next = nextLink(response.header("link"));
        url = next.empty() ? "" : viaEndpoint(resolveUrl(url, next));
    }
    return files;
}

Result<std::string> HubClient::readSmall(
    const std::string& repository, const std::string& commit, const std::string& path)
{
    const std::lock_guard guard(mutex_);
    FURROW_TRY_ASSIGN(
        auto response, get(pageOf(repository) + "/resolve/" + encodePath(commit) + "/" + encodePath(path)));
    if (response.status == 404)
        return std::string();
    if (response.status != 200)
        return refusal(response, repository);
    return std::move(response.body);
}

Result<ResolvedFile> HubClient::resolve(const HubAddress& address, const HubFile& file, const TransferLane& lane)
{
    FURROW_TRY(mayAskTheHub());
    std::string url
        = pageOf(address.repository) + "/resolve/" + encodePath(address.commit) + "/" + encodePath(file.path);
    ResolvedFile resolved;
    for (int i = 0; i <= kMaxRedirects; ++i) {
        FURROW_TRY_ASSIGN(auto response, send([&] { return request("HEAD", url); }, {}, lane));
        const auto& answer = response;
        if (answer.status >= 400)
            return refusal(answer, address.repository);
        const std::string etag
            = unquoted(answer.header("x-linked-etag").empty() ? answer.header("etag") : answer.header("x-linked-etag"));
        resolved.etag = etag.empty() ? resolved.etag : etag;
        const std::string size
            = answer.header("x-linked-size").empty() ? answer.header("content-length") : answer.header("x-linked-size");
        if (answer.status < 300 || !answer.header("x-linked-size").empty())
            resolved.sizeBytes = std::strtoull(size.c_str(), nullptr, 10);
        const std::string location = answer.header("location");
        if (answer.status < 300 || location.empty()) {
            resolved.url = url;
            return resolved;
        }
        url = viaEndpoint(resolveUrl(url, location));
        if (!isHub(url)) {
            resolved.url = url;
            return resolved;
        }
    }
    return Error { ErrorCode::Network, sentence("hf://%1 redirects in a circle.", { address.repository }) };
}

/// An address of another kind than http or https: "file:///etc/passwd".
static bool hasOtherScheme(const std::string& location)
{
    const auto colon = location.find_first_of(":/?#");
    return colon != std::string::npos && colon > 0 && location[colon] == ':' && originOf(location).empty();
}

/// Asks for the first byte: not every server, and no signed address, lets its head alone be asked for. Follows
/// redirects, of which none may leave encryption.
/// @param knownBytes  how many the file has; 0: nobody knows
Result<ResolvedFile> HubClient::resolveWeb(
    const std::string& address, const TransferLane& lane, std::uint64_t knownBytes)
{
    std::string url; // where a redirect leads
    bool cameEmpty = false; // a part, but without its byte
    for (int i = 0; i <= kMaxRedirects; ++i) {
        std::optional<HttpResponse> begun;
        const auto make = [&] {
            HttpRequest first = requestFor({ "", "", address }, url);
            first.range = ByteRange { 0, 1 };
            return first;
        };
        auto response = send(
            make,
            [&begun](const HttpResponse& head, std::string_view) {
                begun = head;
                return head.status == 206; // the rest of the file is not wanted
            },
            lane);
        if (!response.ok() && !begun)
            return response.error();
        const HttpResponse answer = begun ? *begun : std::move(response).value();
        if (web_.learnRegion(address, answer))
            continue;
        cameEmpty = answer.status == 206 && !begun;
        if (cameEmpty)
            continue;
        const bool isEmpty = answer.status == 416 || (answer.status < 300 && !begun);
        if (isEmpty && knownBytes > 0) // a server or proxy in trouble: it may mend itself
            return Error { ErrorCode::Network,
                sentence("%1: the server sends nothing of a file that has %2.", { address, Bytes(knownBytes) }) };
        if (isEmpty)
            return Error { ErrorCode::InvalidArgument, sentence("%1 is empty.", { address }) };
        if (answer.status >= 400)
            return webRefusal(address, answer);
        if (answer.status < 300) {
            ResolvedFile found { url, {}, 0, stateOf(answer) };
            found.sizeBytes = found.web.sizeBytes.value_or(0);
            return found;
        }
        const std::string from = requestFor({ "", "", address }, url).url;
        if (const auto location = answer.header("location"); hasOtherScheme(location))
            return Error { ErrorCode::NotFound,
                sentence("%1 leads to %2, which is not a web address (http or https), and is not followed.",
                    { address, location.substr(0, location.find(':') + 1) + "…" }) };
        url = resolveUrl(from, answer.header("location"));
        if (answer.header("location").empty() || originOf(url).empty())
            return Error { ErrorCode::Network,
                sentence("%1: the server answered %2.", { address, std::to_string(answer.status) }) };
        if (originOf(from).starts_with("https:") && !originOf(url).starts_with("https:"))
            return Error { ErrorCode::NotFound,
                sentence("%1 leads to %2, which is not encrypted (https), and is not followed.",
                    { address, printableUrl(url) }) };
    }
    return Error { ErrorCode::Network,
        cameEmpty ? sentence("%1: the server does not send the part of the file that was asked for.", { address })
                  : sentence("%1 redirects in a circle.", { address }) };
}

HttpRequest HubClient::requestFor(const HubAddress& address, const std::string& url) const
{
    if (!address.isWeb())
        return request("GET", url);
    return url.empty() ? web_.get(address.path) : web_.redirected(address.path, url);
}

Result<WebState> HubClient::look(const std::string& address)
{
    const std::lock_guard guard(mutex_);
    auto found = resolveWeb(address, { *transports_.front(), retry_ });
    return found.ok() ? Result<WebState>(found.value().web) : found.error();
}

Result<std::vector<StoreObject>> HubClient::list(const StoreAddress& folder, std::size_t most)
{
    const std::lock_guard guard(mutex_);
    const std::string name = toString(folder);
    const TransferLane lane { *transports_.front(), retry_ };
    std::vector<StoreObject> objects;
    std::set<std::string> tokens { "" }; // that were asked with
    for (std::string token;;) {
        FURROW_TRY_ASSIGN(const auto response, send([&] { return web_.list(folder, token); }, {}, lane));
        if (web_.learnRegion(name, response))
            continue;
        if (response.status != 200)
            return webRefusal(name, response);
        auto page = readBucketPage(response.body);
        if (!page.ok())
            return page.error().in(name);
        std::move(page.value().objects.begin(), page.value().objects.end(), std::back_inserter(objects));
        if (objects.size() > most)
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 has more than %2 files. Name a smaller folder, or join the files.",
                    { name, Count(static_cast<std::int64_t>(most)) }) };
        token = page.value().next;
        if (token.empty())
            return objects;
        if (!tokens.insert(token).second || tokens.size() > kMaxPages)
            return Error { ErrorCode::Network,
                sentence("%1: the store's list does not end, page %2 leads back or on for ever. The store is at fault.",
                    { name, std::to_string(tokens.size()) }) };
    }
}

Result<WebState> HubClient::readWhole(
    const std::string& address, const std::function<Status()>& begin, const std::function<bool(std::string_view)>& sink)
{
    const std::lock_guard guard(mutex_);
    const TransferLane lane { *transports_.front(), retry_ };
    FURROW_TRY_ASSIGN(const auto where, resolveWeb(address, lane));
    Status begun;
    bool isRefused = false;
    const auto make = [&] {
        begun = begin();
        return requestFor({ "", "", address }, where.url);
    };
    const auto onPiece = [&](const HttpResponse&, std::string_view piece) {
        isRefused = !begun.ok() || !sink(piece);
        return !isRefused;
    };
    FURROW_TRY_ASSIGN(const auto response, send(make, onPiece, lane));
    FURROW_TRY(begun);
    if (response.status != 200)
        return webRefusal(address, response);
    const bool saysItsEnd = !response.header("content-length").empty()
        || response.header("transfer-encoding") == "chunked" || response.isFramed;
    if (!saysItsEnd)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1: its server says neither how long the file is nor where it ends, so nobody could see that the end is missing. Download it and name the file.",
                { address }) };
    return stateOf(response);
}

std::string HubClient::whyChanged(const std::string& address) const
{
    const std::lock_guard guard(changedMutex_);
    const auto found = changed_.find(address);
    return found == changed_.end() ? std::string() : found->second;
}

Error HubClient::changed(const std::string& address, const std::string& how)
{
    const std::lock_guard guard(changedMutex_);
    changed_[address] = how;
    return { ErrorCode::InvalidArgument, how };
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
