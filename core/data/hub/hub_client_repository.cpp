#include "core/data/hub/hub_client.h"

#include "core/base/sentence.h"
#include "core/data/hub/hub_limits.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace furrow {

namespace {

using nlohmann::json;

constexpr std::size_t kMaxFiles = 2'000'000; ///< of a repository: a list of them takes some hundred MiB
constexpr std::uint64_t kMaxListBytes = 1ull << 30; ///< that a list may come in

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

} // namespace

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

} // namespace furrow
