#include "core/base/redact.h"

#include "core/base/address_secrets.h"
#include "core/base/lower_case.h"

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
constexpr std::array kSecretKeys = { "token", "secret", "password", "passwd", "passphrase", "api_key", "apikey",
    "access_key", "account_key", "accountkey", "authorization", "bearer", "cookie", "credential", "signature" };
/// Of variables only: in a text these are words.
constexpr std::array kSecretNames = { "_pat", "_pin", "_pwd", "_auth", "_jwt", "creds", "access_key_id", "private_key",
    "connection_string", "connectionstring" };
constexpr std::size_t kLeastSecret = 12; // shorter words behind a head are words
constexpr std::size_t kLeastRemembered = 6;
constexpr std::size_t kLeastChosen = 6;
constexpr std::size_t kMostChosen = 200; // of which no more is looked at
/// What the hub and curl take from the environment; the values of addresses are not secret but for their accounts.
constexpr std::array kTokenVariables = { "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN" };
constexpr std::array kAddressVariables
    = { "HF_ENDPOINT", "http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY" };

bool isPathByte(char c)
{
    return isWordByte(c) || c == '/' || c == '\\' || c == '~' || c == ':' || c == '%' || c == '@' || c == '#'
        || c == ',';
}

/// The end of what was written so far, in lower case and with one kind of joints: enough to see a key.
std::string tailOf(std::string_view text)
{
    constexpr std::size_t kLength = 40;
    auto tail = lowerCase(text.substr(text.size() > kLength ? text.size() - kLength : 0));
    std::ranges::replace(tail, '-', '_');
    return tail;
}

/// "Authorization: Basic ": what comes is the secret, not the word before.
bool endsInScheme(const std::string& tail)
{
    return tail.ends_with("bearer ") || (tail.ends_with("basic ") && tail.find("authorization") != std::string::npos);
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
    if (const auto word = key.find_last_of(' ') + 1; end < tail.size() && key.substr(word).starts_with("__"))
        assigns = true; // an option: --password words
    // "tokenizer" and "tokens" are words of this program
    const bool signs = key.ends_with("sig") && (key.size() == 3 || !isWordByte(key[key.size() - 4]));
    return assigns && (signs || std::any_of(kSecretKeys.begin(), kSecretKeys.end(), [key](std::string_view secret) {
        return key.ends_with(secret);
    }));
}

bool hasSecretHead(std::string_view word) { return word.size() >= kLeastSecret && hasTokenHead(word); }

bool beginsPath(std::string_view rest)
{
    const bool drive = rest.size() > 2 && std::isalpha(static_cast<unsigned char>(rest[0])) && rest[1] == ':'
        && (rest[2] == '\\' || rest[2] == '/');
    return drive || rest.starts_with("/") || rest.starts_with("~/") || rest.starts_with("\\\\");
}

/// The last part of a path, where any of its words may be a token.
std::string nameWithoutTokens(std::string_view name)
{
    std::string out;
    for (std::size_t begin = 0; begin < name.size();) {
        const auto behind = std::find_if_not(name.begin() + static_cast<std::ptrdiff_t>(begin), name.end(), isWordByte);
        const auto end = std::max<std::size_t>(static_cast<std::size_t>(behind - name.begin()), begin + 1);
        const auto word = name.substr(begin, end - begin);
        out += hasSecretHead(word) ? kHidden : word;
        begin = end;
    }
    return out;
}

/// "/home/ann/runs/one" becomes "…/one".
std::string shortPath(std::string_view path)
{
    while (!path.empty() && (path.back() == ',' || path.back() == ':' || path.back() == '.'))
        path.remove_suffix(1);
    const auto cut = path.find_last_of("/\\");
    return "…/" + nameWithoutTokens(cut == std::string_view::npos ? path : path.substr(cut + 1));
}

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
            std::vector<SecretPlace> places;
            for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at + secret.size()))
                places.push_back({ at, at + secret.size() });
            text = withPlacesHidden(text, places);
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

std::string withoutBearers(std::string_view text)
{
    constexpr std::string_view kBearer = "bearer ";
    const std::string small = lowerCase(text);
    std::vector<SecretPlace> places;
    for (auto at = small.find(kBearer); at != std::string::npos;) {
        const auto begin = at + kBearer.size();
        const auto end = std::min(text.find_first_of(" \t\r\n\"',", begin), text.size());
        places.push_back({ begin, end });
        at = small.find(kBearer, end);
    }
    return withPlacesHidden(text, places);
}

/// Whether a word begins here: behind no letter and no digit but that of a regular expression ("\\b").
bool beginsWord(std::string_view text, std::size_t at)
{
    return at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 || (at > 1 && text[at - 2] == '\\');
}

bool holdsToken(std::string_view text)
{
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!beginsWord(text, i) || !hasTokenHead(text.substr(i)))
            continue;
        std::size_t end = i;
        while (end < text.size() && isWordByte(text[end]))
            ++end;
        if (looksLikeToken(text.substr(i, end - i)))
            return true;
        i = end; // what begins later in the word is no token either
    }
    return false;
}

/// What people choose as a secret. Prose has words, and code has names: behind a colon a digit is asked for, behind '='
/// capitals will do, and what goes on as a call or as a regular expression is neither.
bool looksChosen(std::string_view value, bool isAssigned)
{
    if (value.size() < kLeastChosen || value.front() == '$' || value.find_first_of("\\[({") != std::string_view::npos)
        return false;
    const auto has = [value](int (*kind)(int)) {
        return std::any_of(value.begin(), value.end(), [kind](unsigned char c) { return kind(c) != 0; });
    };
    return has(std::isalpha) && (has(std::isdigit) || (isAssigned && has(std::isupper) && has(std::islower)));
}

/// "password=..." and its like, with a value.
bool setsSecret(std::string_view text)
{
    constexpr std::string_view kBefore = " \"'=:";
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (kBefore.find(text[i]) != std::string_view::npos || kBefore.find(text[i - 1]) == std::string_view::npos)
            continue;
        const std::string tail = tailOf(text.substr(0, i));
        if (!endsInSecretKey(tail) && !endsInScheme(tail))
            continue;
        const auto sign = tail.find_last_not_of(" \"'");
        const std::string_view rest = text.substr(i, kMostChosen);
        if (looksChosen(rest.substr(0, rest.find_first_of(" \t\r\n\"',;&|)<>")),
                sign != std::string::npos && tail[sign] == '='))
            return true;
    }
    return false;
}

} // namespace

void rememberSecret(std::string_view secret) { knownSecrets().add(secret); }

std::string withoutSecrets(std::string_view text)
{
    std::string out(text);
    knownSecrets().hideIn(out);
    return withoutBearers(withPlacesHidden(out, secretPlacesIn(out)));
}

Message messageWithoutSecrets(const Message& message)
{
    if (message.isPlain())
        return withoutSecrets(message.text());
    std::vector<Argument> arguments = message.arguments();
    for (Argument& one : arguments) {
        if (const auto* name = std::get_if<std::string>(&one.value))
            one = withoutSecrets(*name);
        else if (const auto* inner = std::get_if<Message>(&one.value))
            one = messageWithoutSecrets(*inner);
    }
    return Message::of(std::string(message.id()), std::move(arguments));
}

bool holdsSecret(std::string_view text)
{
    std::string rest(text);
    knownSecrets().hideIn(rest);
    return rest != text || !secretPlacesIn(text).empty() || holdsToken(text) || setsSecret(text);
}

std::string missingNameShown(std::string_view name)
{
    const bool hasDrive = name.size() > 2 && name[1] == ':' && (name[2] == '/' || name[2] == '\\');
    const auto colon = name.find(':', hasDrive ? 2 : 0);
    const auto at = name.rfind('@');
    if (colon == std::string_view::npos || at == std::string_view::npos || at <= colon + 1)
        return std::string(name);
    return withPlacesHidden(name, { SecretPlace { colon + 1, at } });
}

bool isSecretVariable(std::string_view name, std::string_view value)
{
    const std::string key = lowerCase(name);
    const auto endsIn = [&key](const auto& names) {
        return std::any_of(names.begin(), names.end(), [&key](std::string_view one) { return key.ends_with(one); });
    };
    return endsIn(kSecretKeys) || endsIn(kSecretNames) || publicAddress(value) != value || looksLikeToken(value)
        || setsSecret(value);
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
            const std::string small = lowerCase(word);
            const bool isScheme = small == "bearer" || (small == "basic" && tail.ends_with("authorization: "));
            if (!isScheme && (hasSecretHead(word) || endsInSecretKey(tail) || endsInScheme(tail))) {
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
