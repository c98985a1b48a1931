#include "core/data/hub/hub_client.h"

#include "core/base/format.h"
#include "core/base/sentence.h"
#include "core/data/hub/hub_limits.h"

#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace furrow {

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

} // namespace furrow
