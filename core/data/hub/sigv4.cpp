#include "core/data/hub/sigv4.h"

#include "core/base/hash.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr const char* kService = "s3";
constexpr const char* kAlgorithm = "AWS4-HMAC-SHA256";

std::string bytesOfHex(const std::string& hex)
{
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

/// As bytes. @param key  of at most a block, which all keys here are once a long secret is hashed
std::string hmac(std::string key, const std::string& text)
{
    constexpr std::size_t kBlock = 64;
    if (key.size() > kBlock)
        key = bytesOfHex(sha256Hex(key));
    key.resize(kBlock, '\0');
    std::string inner = key;
    std::string outer = key;
    std::transform(inner.begin(), inner.end(), inner.begin(), [](char c) { return static_cast<char>(c ^ 0x36); });
    std::transform(outer.begin(), outer.end(), outer.begin(), [](char c) { return static_cast<char>(c ^ 0x5c); });
    return bytesOfHex(sha256Hex(outer + bytesOfHex(sha256Hex(inner + text))));
}

std::string hexOf(const std::string& bytes)
{
    std::string hex;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        hex += { "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15] };
    }
    return hex;
}

struct UrlParts {
    std::string host, path, query;
};

UrlParts partsOf(const std::string& url)
{
    const auto begin = url.find("://") + 3;
    const auto slash = std::min(url.find('/', begin), url.size());
    const auto mark = std::min(url.find('?', slash), url.size());
    return { url.substr(begin, slash - begin), slash < mark ? url.substr(slash, mark - slash) : "/",
        url.substr(std::min(mark + 1, url.size())) };
}

} // namespace

std::vector<std::string> signV4(const std::string& url, const StoreKeys& keys, const std::string& region,
    const std::string& time, const std::vector<std::string>& signedAlso)
{
    const UrlParts parts = partsOf(url);
    const std::string noBody = sha256Hex("");
    std::vector<std::string> headers = signedAlso;
    headers.push_back("x-amz-content-sha256: " + noBody);
    headers.push_back("x-amz-date: " + time);
    if (!keys.session.empty())
        headers.push_back("x-amz-security-token: " + keys.session.reveal());
    std::string canonical = "host:" + parts.host + "\n";
    std::string names = "host";
    for (const auto& header : headers) {
        const auto colon = header.find(':');
        canonical += header.substr(0, colon) + ":" + header.substr(colon + 2) + "\n";
        names += ";" + header.substr(0, colon);
    }
    const std::string request
        = "GET\n" + parts.path + "\n" + parts.query + "\n" + canonical + "\n" + names + "\n" + noBody;
    const std::string day = time.substr(0, 8);
    const std::string scope = day + "/" + region + "/" + kService + "/aws4_request";
    std::string key = "AWS4" + keys.secret.reveal();
    for (const std::string& part : { day, region, std::string(kService), std::string("aws4_request") })
        key = hmac(key, part);
    const std::string signature
        = hexOf(hmac(key, std::string(kAlgorithm) + "\n" + time + "\n" + scope + "\n" + sha256Hex(request)));
    headers.push_back("Authorization: " + std::string(kAlgorithm) + " Credential=" + keys.id + "/" + scope
        + ", SignedHeaders=" + names + ", Signature=" + signature);
    return headers;
}

} // namespace furrow
