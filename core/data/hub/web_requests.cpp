#include "core/data/hub/web_requests.h"

#include "core/base/clock.h"
#include "core/base/format.h"
#include "core/base/hash.h"
#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/data/source/changed_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

namespace furrow {

namespace {

constexpr std::size_t kMostVersion = 512; ///< bytes of a validator that are kept

std::optional<std::uint64_t> wholeNumber(std::string_view text)
{
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// 64 hex digits of what stands in Base64; "" when it is no SHA-256.
std::string hexOfBase64(std::string_view text)
{
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    constexpr std::size_t kDigest = 32;
    while (text.ends_with('='))
        text.remove_suffix(1);
    std::string hex;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        const auto digit = kDigits.find(c);
        if (digit == std::string_view::npos)
            return {};
        bits = bits << 6 | static_cast<std::uint32_t>(digit);
        count += 6;
        if (count < 8)
            continue;
        count -= 8;
        const auto byte = (bits >> count) & 0xff;
        hex += { "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15] };
    }
    return hex.size() == 2 * kDigest ? hex : std::string();
}

/// Of the whole file, however little of it comes: Repr-Digest (RFC 9530), Digest (RFC 3230), and what stores of objects
/// keep. "x-...": of parts is told by "-N" behind it, which is no Base64.
std::string promisedSha256(const HttpResponse& answer)
{
    const auto behind = [](const std::string& header, std::string_view key, char end) {
        const auto at = header.find(key);
        return at == std::string::npos
            ? std::string()
            : header.substr(at + key.size(), header.find(end, at + key.size()) - at - key.size());
    };
    for (const auto& text :
        { behind(answer.header("repr-digest"), "sha-256=:", ':'), behind(answer.header("digest"), "SHA-256=", ','),
            behind(answer.header("digest"), "sha-256=", ','), answer.header("x-amz-checksum-sha256") })
        if (auto hex = hexOfBase64(text); !hex.empty())
            return hex;
    return {};
}

std::string versionOf(const HttpResponse& answer)
{
    const std::string tag = answer.header("etag");
    const std::string time = answer.header("last-modified");
    const bool isStrong = !tag.empty() && !tag.starts_with("W/");
    std::string version = isStrong ? tag : tag.empty() || time.empty() ? tag + time : tag + " " + time;
    version = replaceInvalidUtf8(version).text;
    return version.size() <= kMostVersion ? version : sha256Hex(version);
}

/// All but unreserved characters.
std::string encodeParameter(const std::string& text)
{
    std::string out = encodePath(text);
    for (auto at = out.find('/'); at != std::string::npos; at = out.find('/', at + 1))
        out.replace(at, 1, "%2F");
    return out;
}

/// "20130524T000000Z"
std::string signingTime()
{
    std::string time = isoTime(systemClock().wallNs());
    time.resize(std::min(time.find('.'), time.size()));
    std::erase_if(time, [](char c) { return c == '-' || c == ':' || c == 'Z'; });
    return time + "Z";
}

std::string environment(const char* name)
{
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

} // namespace

WebSecrets WebSecrets::fromEnvironment()
{
    WebSecrets secrets;
    secrets.stores = StoreSettings::fromEnvironment();
    const std::string all = environment("FURROW_DATA_SECRET");
    constexpr const char* kBetween = " \t\r\n";
    for (auto at = all.find_first_not_of(kBetween); at != std::string::npos;) {
        const auto end = std::min(all.find_first_of(kBetween, at), all.size());
        secrets.addresses.emplace_back(all.substr(at, end - at));
        const std::string account = withoutAccount(secrets.addresses.back().reveal()).account;
        rememberSecret(account);
        if (const auto colon = account.find(':'); colon != std::string::npos)
            rememberSecret(std::string_view(account).substr(colon + 1));
        at = all.find_first_not_of(kBetween, end);
    }
    return secrets;
}

WebRequests::WebRequests(WebSecrets secrets)
    : secrets_(std::move(secrets))
{
}

HttpRequest WebRequests::get(const std::string& address) const
{
    if (const auto object = parseStoreAddress(address); object.ok())
        return store(object.value(), {});
    HttpRequest request { "GET", address, {}, {}, {} };
    for (const auto& secret : secrets_.addresses)
        if (publicAddress(secret.reveal()) == address) {
            const auto parts = withoutAccount(secret.reveal());
            request.url = parts.address;
            request.account = Secret(parts.account);
        }
    return request;
}

HttpRequest WebRequests::redirected(const std::string& address, const std::string& url) const
{
    HttpRequest request = get(address);
    if (isStorePath(address) || originOf(request.url) != originOf(url))
        request = { "GET", url, {}, {}, {} };
    request.url = url;
    return request;
}

HttpRequest WebRequests::store(const StoreAddress& address, const std::string& query) const
{
    const StoreSettings& settings = secrets_.stores;
    std::string region = settings.region;
    {
        const std::lock_guard guard(mutex_);
        if (const auto known = regions_.find(address.bucket); known != regions_.end())
            region = known->second;
    }
    const std::string endpoint = address.isGoogle ? settings.googleEndpoint
        : settings.endpoint.empty()               ? "https://s3." + region + ".amazonaws.com"
                                                  : settings.endpoint;
    HttpRequest request { "GET", endpoint + "/" + address.bucket + "/" + encodePath(address.key), {}, {}, {} };
    if (!query.empty())
        request.url += "?" + query;
    if (address.isGoogle)
        request.bearer = settings.googleToken;
    else if (!settings.keys.id.empty())
        request.headers = signV4(request.url, settings.keys, region, signingTime());
    return request;
}

HttpRequest WebRequests::list(const StoreAddress& folder, const std::string& token) const
{
    std::string query = token.empty() ? "" : "continuation-token=" + encodeParameter(token) + "&";
    query += "list-type=2&prefix=" + encodeParameter(folder.key);
    return store({ folder.isGoogle, folder.bucket, "" }, query);
}

bool WebRequests::learnRegion(const std::string& address, const HttpResponse& answer)
{
    const auto object = parseStoreAddress(address);
    const std::string region = answer.header("x-amz-bucket-region");
    const bool isName = !region.empty() && std::all_of(region.begin(), region.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-'; // it becomes part of the name of a server
    });
    if (!object.ok() || answer.status < 300 || !isName)
        return false;
    const std::lock_guard guard(mutex_);
    auto& known = regions_[object.value().bucket];
    const bool isNews = known != region && !(known.empty() && secrets_.stores.region == region);
    known = region;
    return isNews;
}

std::string storeCode(const HttpResponse& response)
{
    constexpr std::size_t kLongest = 64;
    const auto begin = response.body.find("<Code>");
    const auto end = begin == std::string::npos ? begin : response.body.find("</Code>", begin);
    if (end == std::string::npos || end - begin > kLongest)
        return {};
    const std::string code = response.body.substr(begin + 6, end - begin - 6);
    const bool isWord = std::all_of(code.begin(), code.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
    return isWord ? code : std::string();
}

WebState stateOf(const HttpResponse& answer)
{
    WebState state;
    state.hasRanges = answer.status == 206;
    const std::string range = answer.header("content-range");
    state.sizeBytes = wholeNumber(state.hasRanges ? range.substr(std::min(range.find('/'), range.size() - 1) + 1)
                                                  : answer.header("content-length"));
    state.version = versionOf(answer);
    state.sha256 = promisedSha256(answer);
    return state;
}

Message howChanged(
    const std::string& address, std::uint64_t knownBytes, const std::string& knownVersion, const WebState& now)
{
    if (now.sizeBytes && *now.sizeBytes != knownBytes)
        return sentence(kFileOfOtherSize,
            { address, Count(static_cast<std::int64_t>(*now.sizeBytes)),
                Count(static_cast<std::int64_t>(knownBytes)) });
    if (!knownVersion.empty() && now.version != knownVersion)
        return sentence(
            kFileOfOtherState, { address, now.version.empty() ? std::string("-") : now.version, knownVersion });
    return {};
}

Error webRefusal(const std::string& address, const HttpResponse& response)
{
    const std::string name(withoutQuery(address));
    const std::string code = storeCode(response);
    const std::string status = std::to_string(response.status) + (code.empty() ? "" : ", " + code);
    const bool isForbidden = response.status == 401 || response.status == 403;
    if (isForbidden && address.starts_with("s3://"))
        return { ErrorCode::NotFound,
            sentence(
                "%1 may not be read (%2). Keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile AWS_PROFILE in ~/.aws; without them only what is open to all can be read. Keys for a time may have run out.",
                { name, status }) };
    if (isForbidden && address.starts_with("gs://"))
        return { ErrorCode::NotFound,
            sentence(
                "%1 may not be read (%2). CLOUDSDK_AUTH_ACCESS_TOKEN holds the token that asks (gcloud auth print-access-token), which lasts an hour; without it only what is open to all can be read.",
                { name, status }) };
    if (isForbidden)
        return { ErrorCode::NotFound,
            sentence(
                "%1 may not be read (%2). Where it needs a password or a signature, put the whole address with it into FURROW_DATA_SECRET; a signature may have run out.",
                { name, status }) };
    if (response.status == 404 || response.status == 410)
        return { ErrorCode::NotFound, sentence("%1 does not exist (%2). Check the address.", { name, status }) };
    return { ErrorCode::Network, sentence("%1: the server answered %2.", { name, status }) };
}

std::string_view withoutQuery(std::string_view address)
{
    return originOf(address).empty() ? address : address.substr(0, address.find_first_of("?#"));
}

std::string_view BodyWindow::cut(std::string_view piece)
{
    const auto place = [&](std::uint64_t to) {
        return static_cast<std::size_t>(std::min<std::uint64_t>(to - std::min(to, at_), piece.size()));
    };
    const std::size_t begin = place(wanted_.offset);
    const std::size_t end = place(wanted_.end());
    at_ += piece.size();
    return piece.substr(begin, end - begin);
}

} // namespace furrow
