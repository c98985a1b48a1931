#include "core/data/hub/hub_client.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <cstdlib>
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
    std::string token = environment("HF_TOKEN");
    if (token.empty() && !mirror && !isTrue(environment("HF_HUB_DISABLE_IMPLICIT_TOKEN"))) {
        std::string path = environment("HF_TOKEN_PATH");
        if (path.empty()) {
            const std::string home = environment("HF_HOME");
            path = (home.empty() ? environment("HOME") + "/.cache/huggingface" : home) + "/token";
        }
        auto text = readFile(pathFromUtf8(path), 4096);
        if (text.ok())
            token = text.value().substr(0, text.value().find_first_of("\r\n"));
    }
    settings.token = Secret(std::move(token));
    return settings;
}

HubClient::HubClient(HubSettings settings, std::unique_ptr<HttpTransport> transport, RetryPolicy retry)
    : settings_(std::move(settings))
    , retry_(std::move(retry))
{
    transports_.push_back(std::move(transport));
}

HubClient::HubClient(HubSettings settings, const TransportMaker& transport, int transfers, RetryPolicy retry)
    : settings_(std::move(settings))
    , retry_(std::move(retry))
{
    for (int i = 0; i < std::max(transfers, 1); ++i)
        transports_.push_back(transport());
}

HubTraffic HubClient::traffic() const { return { requests_, bodyBytes_ }; }

bool HubClient::wait(double seconds, const std::string& why) const { return pause(retry_, seconds, why); }

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
    if (settings_.offline)
        return Error { ErrorCode::Network,
            sentence(
                "HF_HUB_OFFLINE is set, so the hub is not asked. Unset it, or use data that is on this machine.") };
    const auto counted = [&] {
        ++requests_;
        return make();
    };
    auto response = sendWithRetry(lane.transport, counted, sink, lane.retry, progressed);
    if (response.ok())
        bodyBytes_ += response.value().bodyBytes;
    else if (response.error().code == ErrorCode::Network)
        return Error { ErrorCode::Network,
            sentence("%1. Check the network; https_proxy names a proxy, HF_ENDPOINT a mirror of the hub.",
                { response.error().message }) };
    return response;
}

HttpRequest HubClient::request(const char* method, const std::string& url) const
{
    if (!isHub(url))
        return { method, url, {}, {}, {} };
    return { method, url, settings_.token, settings_.account, {} };
}

Result<HttpResponse> HubClient::get(const std::string& url)
{
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

Error HubClient::refusal(const HttpResponse& response, const std::string& repository) const
{
    const std::string name = "hf://" + repository;
    const std::string code = response.header("x-error-code");
    if (code == "GatedRepo")
        return { ErrorCode::NotFound,
            sentence("%1 is gated: accept its terms on %2/datasets/%3 and set HF_TOKEN to a token of that account.",
                { name, settings_.endpoint, repository }) };
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
    FURROW_TRY_ASSIGN(auto response,
        get(settings_.endpoint + "/api/datasets/" + encodePath(repository) + "/revision/" + encodePath(revision)));
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
    std::string url = settings_.endpoint + "/api/datasets/" + encodePath(repository) + "/tree/" + encodePath(commit)
        + "?recursive=true";
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
    FURROW_TRY_ASSIGN(auto response,
        get(settings_.endpoint + "/datasets/" + encodePath(repository) + "/resolve/" + encodePath(commit) + "/"
            + encodePath(path)));
    if (response.status == 404)
        return std::string();
    if (response.status != 200)
        return refusal(response, repository);
    return std::move(response.body);
}

Result<ResolvedFile> HubClient::resolve(const HubAddress& address, const HubFile& file, const TransferLane& lane)
{
    std::string url = settings_.endpoint + "/datasets/" + encodePath(address.repository) + "/resolve/"
        + encodePath(address.commit) + "/" + encodePath(file.path);
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

Result<ResolvedFile> HubClient::resolved(const HubAddress& address, const HubFile& file, const TransferLane& lane)
{
    const std::lock_guard guard(addressMutex_);
    if (const auto known = addresses_.find(toString(address)); known != addresses_.end())
        return known->second;
    FURROW_TRY_ASSIGN(auto found, resolve(address, file, lane));
    const std::string expected = file.sha256.empty() ? file.oid : file.sha256;
    if (!expected.empty() && !found.etag.empty() && found.etag != expected)
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
    std::uint64_t done = 0;
    for (int fruitless = 0; done < range.sizeBytes;) {
        FURROW_TRY_ASSIGN(auto from, resolved(address, file, lane));
        const std::uint64_t start = done;
        std::uint64_t attempt = done; // where the attempt in progress began
        ByteRange asked {};
        bool wrongPart = false;
        const auto onPiece = [&](const HttpResponse& head, std::string_view piece) {
            wrongPart = !isPart(head, asked, from.sizeBytes) || piece.size() > range.sizeBytes - done;
            if (wrongPart)
                return false;
            done += piece.size();
            return sink(piece);
        };
        const auto make = [&] {
            asked = { range.offset + done, range.sizeBytes - done };
            HttpRequest part = request("GET", from.url);
            part.range = asked;
            return part;
        };
        auto response = send(make, onPiece, lane, [&] { return std::exchange(attempt, done) != done; });
        if (!response.ok() && !wrongPart)
            return response.error();
        if (!wrongPart && response.value().status == 416)
            return Error { ErrorCode::Network,
                sentence("%1 is shorter than the hub's list says.", { toString(address) }) };
        if (!wrongPart
            && (response.value().status >= 500 || response.value().status == 429 || response.value().status == 408))
            return refusal(response.value(), address.repository); // asked often enough
        fruitless = done > start ? 0 : fruitless + 1;
        const bool refused = !wrongPart && response.value().status >= 400;
        if (refused || wrongPart)
            forgetAddress(toString(address), from.url); // a signed address may have run out, or lead to a wrong server
        if (fruitless > kMaxResolves && refused)
            return refusal(response.value(), address.repository);
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
