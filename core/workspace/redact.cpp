#include "core/workspace/redact.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace furrow {

namespace {

constexpr std::string_view kHidden = "<hidden>";
constexpr std::array kSecretKeys = { "token", "secret", "password", "passwd", "api_key", "apikey", "access_key", "authorization", "bearer", "cookie", "credential" };
constexpr std::array kSecretHeads = { "hf_", "sk-", "ghp_", "gho_", "github_pat_", "xoxb-", "AKIA", "eyJ" };
constexpr std::size_t kLeastSecret = 12; // shorter words behind a head are words

bool isWordByte(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' || c == '+' || static_cast<unsigned char>(c) >= 0x80;
}

bool isPathByte(char c)
{
    return isWordByte(c) || c == '/' || c == '\\' || c == '~' || c == ':' || c == '%' || c == '@' || c == '#' || c == ',';
}

std::string lower(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

/// The end of what was written so far, in lower case: enough to see a key.
std::string tailOf(std::string_view text)
{
    constexpr std::size_t kLength = 40;
    return lower(text.substr(text.size() > kLength ? text.size() - kLength : 0));
}

bool endsInSecretKey(const std::string& tail)
{
    std::size_t end = tail.size();
    bool assigns = false;
    while (end > 0 && (tail[end - 1] == ' ' || tail[end - 1] == '"' || tail[end - 1] == '\'' || tail[end - 1] == ':' || tail[end - 1] == '=')) {
        --end;
        assigns = assigns || tail[end] == ':' || tail[end] == '=';
    }
    const std::string_view key = std::string_view(tail).substr(0, end);
    // "tokenizer" and "tokens" are words of this program
    return assigns && std::any_of(kSecretKeys.begin(), kSecretKeys.end(), [key](std::string_view secret) { return key.ends_with(secret); });
}

bool hasSecretHead(std::string_view word)
{
    return word.size() >= kLeastSecret && std::any_of(kSecretHeads.begin(), kSecretHeads.end(), [word](std::string_view head) { return word.starts_with(head); });
}

bool beginsPath(std::string_view rest)
{
    const bool drive = rest.size() > 2 && std::isalpha(static_cast<unsigned char>(rest[0])) && rest[1] == ':' && (rest[2] == '\\' || rest[2] == '/');
    return drive || rest.starts_with("/") || rest.starts_with("~/") || rest.starts_with("\\\\");
}

/// "/home/ann/runs/one" becomes "…/one".
std::string shortPath(std::string_view path)
{
    while (!path.empty() && (path.back() == ',' || path.back() == ':' || path.back() == '.'))
        path.remove_suffix(1);
    const auto cut = path.find_last_of("/\\");
    return "…/" + std::string(cut == std::string_view::npos ? path : path.substr(cut + 1));
}

} // namespace

std::string redacted(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const bool atStart = i == 0 || !isWordByte(text[i - 1]);
        std::size_t end = i;
        if (i > 1 && text[i - 1] == ':' && std::isalpha(static_cast<unsigned char>(text[i - 2])) && text.substr(i).starts_with("//")) { // an address
            out += "//";
            i += 2;
            continue;
        }
        if (atStart && beginsPath(text.substr(i))) {
            while (end < text.size() && isPathByte(text[end]))
                ++end;
            const std::string_view path = text.substr(i, end - i);
            if (path.find_first_of("/\\", 1) != std::string_view::npos) {
                const std::string kept = shortPath(path);
                out += kept;
                i = end;
                continue;
            }
            end = i;
        }
        if (atStart && isWordByte(text[i])) {
            while (end < text.size() && isWordByte(text[end]))
                ++end;
            const std::string_view word = text.substr(i, end - i);
            // user:password@host
            const bool account = end < text.size() && (text[end] == ':' || text[end] == '@') && std::string_view(out).ends_with("//");
            if (account) {
                const auto host = text.find('@', end);
                const auto stop = text.find_first_of(" \n\t/\"'", end);
                if (host != std::string_view::npos && (stop == std::string_view::npos || host < stop)) {
                    out += kHidden;
                    i = host;
                    continue;
                }
            }
            const std::string tail = tailOf(out);
            const bool bearer = lower(word) == "bearer";
            if (!bearer && (hasSecretHead(word) || endsInSecretKey(tail) || tail.ends_with("bearer ")))
                out += kHidden;
            else
                out += word;
            i = end;
            continue;
        }
        out += text[i++];
    }
    return out;
}

} // namespace furrow
