#include "core/base/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <vector>

namespace furrow {

namespace {

constexpr std::string_view kHidden = "<hidden>";
constexpr std::array kSecretKeys = { "token", "secret", "password", "passwd", "api_key", "apikey", "access_key",
    "authorization", "bearer", "cookie", "credential", "signature" };
/// What makes an address of a store of objects (Amazon, Azure, Google, CloudFront) open to whoever has it.
constexpr std::array kSigningParameters = { "signature", "sig", "policy", "key-pair-id", "awsaccesskeyid",
    "googleaccessid", "x-amz-signature", "x-amz-credential", "x-amz-security-token", "x-goog-signature",
    "x-goog-credential", "token", "access_token", "api_key", "apikey", "password", "secret" };
constexpr std::array kSecretHeads = { "hf_", "sk-", "ghp_", "gho_", "github_pat_", "xoxb-", "AKIA", "eyJ" };
constexpr std::size_t kLeastSecret = 12; // shorter words behind a head are words
constexpr std::size_t kLeastRemembered = 6;
/// What the hub and curl take from the environment; the values of addresses are not secret but for their accounts.
constexpr std::array kTokenVariables = { "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN" };
constexpr std::array kAddressVariables
    = { "HF_ENDPOINT", "http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY" };

bool isWordByte(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' || c == '+'
        || static_cast<unsigned char>(c) >= 0x80;
}

bool isPathByte(char c)
{
    return isWordByte(c) || c == '/' || c == '\\' || c == '~' || c == ':' || c == '%' || c == '@' || c == '#'
        || c == ',';
}

std::string lower(std::string_view text)
{
    std::string out(text);
    std::transform(
        out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
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
    while (end > 0
        && (tail[end - 1] == ' ' || tail[end - 1] == '"' || tail[end - 1] == '\'' || tail[end - 1] == ':'
            || tail[end - 1] == '=')) {
        --end;
        assigns = assigns || tail[end] == ':' || tail[end] == '=';
    }
    const std::string_view key = std::string_view(tail).substr(0, end);
    // "tokenizer" and "tokens" are words of this program
    const bool signs = key.ends_with("sig") && (key.size() == 3 || !isWordByte(key[key.size() - 4]));
    return assigns && (signs || std::any_of(kSecretKeys.begin(), kSecretKeys.end(), [key](std::string_view secret) {
        return key.ends_with(secret);
    }));
}

bool hasSecretHead(std::string_view word)
{
    return word.size() >= kLeastSecret
        && std::any_of(
            kSecretHeads.begin(), kSecretHeads.end(), [word](std::string_view head) { return word.starts_with(head); });
}

bool beginsPath(std::string_view rest)
{
    const bool drive = rest.size() > 2 && std::isalpha(static_cast<unsigned char>(rest[0])) && rest[1] == ':'
        && (rest[2] == '\\' || rest[2] == '/');
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

constexpr const char* kAuthorityEnds = "/?#\\ \t\r\n\"'<>";
constexpr const char* kWordEnds = " \t\r\n\"'<>";

struct Place {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// @param places  one behind the other
std::string hidden(std::string_view text, const std::vector<Place>& places)
{
    std::string out;
    std::size_t from = 0;
    for (const auto& [begin, end] : places) {
        out.append(text.substr(from, begin - from)).append(kHidden);
        from = end;
    }
    return out.append(text.substr(from));
}

std::size_t endOf(std::string_view text, std::size_t from, const char* stops)
{
    return std::min(text.find_first_of(stops, from), text.size());
}

/// Finds the account of one address after the other. In time that grows with the text: what is looked for up to the end
/// of a word is found once for it.
class Accounts {
public:
    explicit Accounts(std::string_view text)
        : text_(text)
    {
    }
    /// @param from  behind "//"; ends at the '@'. A later call must name a later place.
    std::optional<Place> behindScheme(std::size_t from)
    {
        const std::size_t stop = endOf(text_, from, kAuthorityEnds);
        const std::string_view authority = text_.substr(from, stop - from);
        if (const auto at = authority.rfind('@');
            at != std::string_view::npos) // the last one: curl takes it so, and a password may hold others
            return Place { from, from + at };
        if (!hasStrangePort(authority))
            return std::nullopt;
        lookAtWord(from); // what looked like a host and a port may be a name and the begin of a password
        return at_ == std::string_view::npos || at_ < from ? std::nullopt : std::optional(Place { from, at_ });
    }
    /// Without a scheme it is an account only with a password.
    std::optional<Place> withoutScheme(std::size_t from)
    {
        const std::size_t stop = endOf(text_, from, kAuthorityEnds);
        const std::string_view authority = text_.substr(from, stop - from);
        const auto at = authority.rfind('@');
        return at == std::string_view::npos || authority.find(':') > at ? std::nullopt
                                                                        : std::optional(Place { from, from + at });
    }

private:
    static bool hasStrangePort(std::string_view authority)
    {
        const auto colon
            = authority.find(':', authority.starts_with('[') ? std::min(authority.find(']'), authority.size()) : 0);
        return colon != std::string_view::npos
            && authority.find_first_not_of("0123456789", colon + 1) != std::string_view::npos;
    }
    void lookAtWord(std::size_t from)
    {
        if (from < wordEnd_)
            return;
        wordEnd_ = endOf(text_, from, kWordEnds);
        const auto at = text_.substr(from, wordEnd_ - from).rfind('@');
        at_ = at == std::string_view::npos ? at : from + at;
    }

    std::string_view text_;
    std::size_t wordEnd_ = 0;
    std::size_t at_ = std::string_view::npos; // the last '@' before wordEnd_
};

class KnownSecrets {
public:
    void add(std::string_view secret)
    {
        if (secret.size() < kLeastRemembered)
            return;
        const std::lock_guard lock(mutex_);
        if (std::find(all_.begin(), all_.end(), secret) == all_.end())
            all_.emplace_back(secret);
        // A long one first: a part of it may be another.
        std::sort(all_.begin(), all_.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    }
    void addAccount(const std::string& account)
    {
        add(account);
        if (const auto colon = account.find(':'); colon != std::string::npos)
            add(std::string_view(account).substr(colon + 1));
    }
    void hideIn(std::string& text) const
    {
        const std::lock_guard lock(mutex_);
        for (const auto& secret : all_) {
            std::vector<Place> places;
            for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at + secret.size()))
                places.push_back({ at, at + secret.size() });
            text = hidden(text, places);
        }
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> all_; // guarded by mutex_
};

KnownSecrets& knownSecrets()
{
    static KnownSecrets known;
    static const bool read = [] {
        for (const char* name : kTokenVariables)
            if (const char* value = std::getenv(name))
                known.add(value);
        for (const char* name : kAddressVariables)
            if (const char* value = std::getenv(name))
                known.addAccount(withoutAccount(value).account);
        return true;
    }();
    (void)read;
    return known;
}

std::string withoutAccounts(std::string_view text)
{
    Accounts accounts(text);
    std::vector<Place> places;
    for (auto at = text.find("//"); at != std::string_view::npos;) {
        const std::size_t from = at + 2;
        const char before = at == 0 ? ' ' : text[at - 1];
        std::optional<Place> found;
        if (before == ':')
            found = accounts.behindScheme(from);
        else if (!isWordByte(before) && before != '/' && before != '\\')
            found = accounts.withoutScheme(from);
        if (found && found->end > found->begin)
            places.push_back(*found);
        at = text.find("//", found ? found->end : from);
    }
    return hidden(text, places);
}

/// Whether the word before a '=' is a parameter that signs an address. Short names are it only where an address has its
/// parameters.
bool isSigningParameter(std::string_view text, std::size_t begin, std::size_t end)
{
    std::string name = lower(text.substr(begin, end - begin));
    const bool escaped = name.starts_with("u0026"); // '&' in JSON text
    if (escaped)
        name.erase(0, 5);
    const bool inAddress
        = escaped || (begin > 0 && (text[begin - 1] == '?' || text[begin - 1] == '&' || text[begin - 1] == ';'));
    return std::any_of(kSigningParameters.begin(), kSigningParameters.end(),
        [&](std::string_view one) { return name == one && (inAddress || one.starts_with("x-")); });
}

/// The values of parameters that sign an address.
std::vector<Place> signaturesIn(std::string_view text)
{
    std::vector<Place> places;
    std::size_t word = 0; // where the word begins that ends here
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_')
            continue;
        if (c == '=' && i > word && isSigningParameter(text, word, i)) {
            const std::size_t end = endOf(text, i + 1, "&# \t\r\n\"'<>\\");
            if (end > i + 1)
                places.push_back({ i + 1, end });
            i = std::max(i, end - 1);
        }
        word = i + 1;
    }
    return places;
}

std::string withoutSignatures(std::string_view text) { return hidden(text, signaturesIn(text)); }

std::string withoutBearers(std::string_view text)
{
    constexpr std::string_view kBearer = "bearer ";
    const std::string small = lower(text);
    std::vector<Place> places;
    for (auto at = small.find(kBearer); at != std::string::npos;) {
        const auto begin = at + kBearer.size();
        const auto end = endOf(text, begin, " \t\r\n\"',");
        places.push_back({ begin, end });
        at = small.find(kBearer, end);
    }
    return hidden(text, places);
}

} // namespace

AddressParts withoutAccount(std::string_view address)
{
    AddressParts parts { "", std::string(address) };
    const auto scheme = address.find("://");
    if (scheme == std::string_view::npos)
        return parts;
    const auto place = Accounts(address).behindScheme(scheme + 3);
    if (!place || place->begin == place->end)
        return parts;
    parts.account = address.substr(place->begin, place->end - place->begin);
    parts.address.erase(place->begin, place->end + 1 - place->begin);
    return parts;
}

std::string publicAddress(std::string_view address)
{
    std::string plain = withoutAccount(address).address;
    if (!signaturesIn(plain).empty())
        plain.resize(std::min(plain.find_first_of("?#"), plain.size()));
    return plain;
}

void rememberSecret(std::string_view secret) { knownSecrets().add(secret); }

std::string withoutSecrets(std::string_view text)
{
    std::string out(text);
    knownSecrets().hideIn(out);
    return withoutBearers(withoutSignatures(withoutAccounts(out)));
}

bool isSecretVariable(std::string_view name, std::string_view value)
{
    const std::string key = lower(name);
    return std::any_of(kSecretKeys.begin(), kSecretKeys.end(), [&key](std::string_view secret) {
        return key.ends_with(secret);
    }) || publicAddress(value) != value;
}

std::string redacted(std::string_view everything)
{
    const std::string kept = withoutSecrets(everything);
    const std::string_view text = kept;
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const bool atStart = i == 0 || !isWordByte(text[i - 1]);
        std::size_t end = i;
        if (i > 1 && text[i - 1] == ':' && std::isalpha(static_cast<unsigned char>(text[i - 2]))
            && text.substr(i).starts_with("//")) { // an address
            out += "//";
            i += 2;
            continue;
        }
        if (atStart && beginsPath(text.substr(i))) {
            while (end < text.size() && isPathByte(text[end]))
                ++end;
            const std::string_view path = text.substr(i, end - i);
            if (path.find_first_of("/\\", 1) != std::string_view::npos) {
                out += shortPath(path);
                i = end;
                continue;
            }
            end = i;
        }
        if (atStart && isWordByte(text[i])) {
            while (end < text.size() && isWordByte(text[end]))
                ++end;
            const std::string_view word = text.substr(i, end - i);
            const std::string tail = tailOf(out);
            const bool bearer = lower(word) == "bearer";
            if (!bearer && (hasSecretHead(word) || endsInSecretKey(tail) || tail.ends_with("bearer "))) {
                out += kHidden;
                while (end < text.size()
                    && (isWordByte(text[end]) || std::string_view("/=%~").find(text[end]) != std::string_view::npos))
                    ++end; // of Base64
            } else
                out += word;
            i = end;
            continue;
        }
        out += text[i++];
    }
    return out;
}

} // namespace furrow
