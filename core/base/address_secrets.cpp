#include "core/base/address_secrets.h"

#include "core/base/lower_case.h"
#include "core/base/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace furrow {

namespace {

/// What makes an address of a store of objects (Amazon, Azure, Google, CloudFront) open to whoever has it.
constexpr std::array kSigningParameters = { "signature", "sig", "policy", "key-pair-id", "awsaccesskeyid",
    "googleaccessid", "x-amz-signature", "x-amz-credential", "x-amz-security-token", "x-goog-signature",
    "x-goog-credential", "token", "access_token", "api_key", "apikey", "password", "secret" };
/// Parameters that choose what comes and open nothing. A number or a yes is harmless under any name.
constexpr std::array kHarmlessParameters = { "download", "dl", "raw", "inline", "format", "type", "ref", "rev",
    "revision", "version", "branch", "lang", "page", "per_page", "limit", "offset", "length", "split", "config",
    "subset", "encoding", "alt", "export", "path", "file", "filename", "x-amz-date", "x-amz-expires", "x-amz-algorithm",
    "x-amz-signedheaders", "expires", "sv", "se", "sp" };
constexpr std::array kHarmlessValues
    = { "", "true", "false", "yes", "no", "media", "csv", "tsv", "json", "jsonl", "txt", "parquet" };
constexpr std::array kTokenHeads = { "hf_", "sk-", "ghp_", "gho_", "github_pat_", "xoxb-", "AKIA", "eyJ" };
constexpr std::ptrdiff_t kLeastTokenRun = 16; // of letters and digits
constexpr std::size_t kMostHarmlessDigits = 9;
constexpr std::size_t kLeastHiddenWord = 6;

/// Letters and digits that are no word: with digits, or in both cases.
bool isDrawn(std::string_view run)
{
    const auto has = [run](int (*kind)(int)) {
        return std::any_of(run.begin(), run.end(), [kind](unsigned char c) { return kind(c) != 0; });
    };
    return has(std::isdigit) || (has(std::isupper) && has(std::islower));
}

std::size_t endOf(std::string_view text, std::size_t from, const char* stops)
{
    return std::min(text.find_first_of(stops, from), text.size());
}

bool isAnyOf(const std::string& word, auto&& words)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr const char* kAuthorityEnds = "/?#\\ \t\r\n\"'<>";
constexpr const char* kWordEnds = " \t\r\n\"'<>";
constexpr const char* kValueEnds = "&# \t\r\n\"'<>\\";

/// Finds the account of one address after the other. In time that grows with the text: what is looked for up to the end
/// of a word is found once for it.
class Accounts {
public:
    explicit Accounts(std::string_view text)
        : text_(text)
    {
    }
    /// @param from  behind "//"; ends at the '@'. A later call must name a later place.
    std::optional<SecretPlace> behindScheme(std::size_t from)
    {
        const std::size_t stop = endOf(text_, from, kAuthorityEnds);
        const std::string_view authority = text_.substr(from, stop - from);
        if (const auto at = authority.rfind('@');
            at != std::string_view::npos) // the last one: curl takes it so, and a password may hold others
            return SecretPlace { from, from + at };
        if (!hasStrangePort(authority))
            return std::nullopt;
        word_.look(text_, from, kWordEnds); // what looked like a host and a port may be a name and a password's begin
        return word_.isBehind(from) ? std::optional(SecretPlace { from, word_.at }) : std::nullopt;
    }
    /// Where the slashes behind the scheme are too few, too many or turned round. An account only with a password:
    /// names of files have an '@' too.
    std::optional<SecretPlace> behindBrokenScheme(std::size_t from)
    {
        authority_.look(text_, from, kAuthorityEnds);
        const std::size_t colon = text_.substr(0, authority_.end).find(':', from);
        std::size_t at = authority_.at;
        if (!authority_.isBehind(from)) {
            if (colon >= authority_.end || text_.find_first_not_of("0123456789", colon + 1) >= authority_.end)
                return std::nullopt; // no password begins before the end of the host
            word_.look(text_, from, kWordEnds);
            at = word_.at;
        }
        return at == std::string_view::npos || colon >= at ? std::nullopt : std::optional(SecretPlace { from, at });
    }
    /// Without a scheme it is an account only with a password.
    std::optional<SecretPlace> withoutScheme(std::size_t from)
    {
        const std::size_t stop = endOf(text_, from, kAuthorityEnds);
        const std::string_view authority = text_.substr(from, stop - from);
        const auto at = authority.rfind('@');
        return at == std::string_view::npos || authority.find(':') > at
            ? std::nullopt
            : std::optional(SecretPlace { from, from + at });
    }

private:
    static bool hasStrangePort(std::string_view authority)
    {
        const auto colon
            = authority.find(':', authority.starts_with('[') ? std::min(authority.find(']'), authority.size()) : 0);
        return colon != std::string_view::npos
            && authority.find_first_not_of("0123456789", colon + 1) != std::string_view::npos;
    }
    /// The last '@' of a stretch of the text, looked for once.
    struct LastAt {
        std::size_t end = 0; ///< of the stretch
        std::size_t at = std::string_view::npos;

        void look(std::string_view text, std::size_t from, const auto& ends)
        {
            if (from < end)
                return;
            end = endOf(text, from, ends);
            const auto found = text.substr(from, end - from).rfind('@');
            at = found == std::string_view::npos ? found : from + found;
        }
        bool isBehind(std::size_t from) const { return at != std::string_view::npos && at >= from; }
    };

    std::string_view text_;
    LastAt authority_;
    LastAt word_;
};

/// Goes through a text once and finds what opens an address in it.
class Openings {
public:
    explicit Openings(std::string_view text)
        : text_(text)
    {
    }

    std::vector<SecretPlace> find()
    {
        for (std::size_t i = 0; i < text_.size();) {
            if (const std::size_t word = text_.find("://", i); word != std::string_view::npos && isHttp(word)) {
                plain(i, word);
                i = address(word + 3);
            } else {
                const std::size_t end = word == std::string_view::npos ? text_.size() : word + 3;
                plain(i, end);
                i = end;
            }
        }
        return std::move(places_);
    }

private:
    bool isHttp(std::size_t colon) const
    {
        const auto head = lowerCase(text_.substr(colon < 5 ? 0 : colon - 5, std::min<std::size_t>(colon, 5)));
        return head.ends_with("http") || head == "https";
    }

    /// Text that is no address: only names that sign are known.
    void plain(std::size_t from, std::size_t to)
    {
        std::size_t word = from;
        for (std::size_t i = from; i < to; ++i) {
            const char c = text_[i];
            if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_')
                continue;
            if (c == '=' && i > word && signs(word, i)) {
                const std::size_t end = std::min(endOf(text_, i + 1, kValueEnds), to);
                add(i + 1, end);
                i = std::max(i, end - 1);
            }
            word = i + 1;
        }
    }

    bool signs(std::size_t begin, std::size_t end) const
    {
        std::string name = lowerCase(text_.substr(begin, end - begin));
        const bool escaped = name.starts_with("u0026"); // '&' in JSON text
        if (escaped)
            name.erase(0, 5);
        const bool inAddress
            = escaped || (begin > 0 && (text_[begin - 1] == '?' || text_[begin - 1] == '&' || text_[begin - 1] == ';'));
        return isAnyOf(name, kSigningParameters) && (inAddress || name.starts_with("x-"));
    }

    /// @return where the address ends
    std::size_t address(std::size_t from)
    {
        const std::size_t end = endOf(text_, from, kWordEnds);
        std::size_t i = std::min(endOf(text_, from, "?#;"), end);
        path(from, i);
        while (i < end) {
            const char separator = text_[i];
            const std::size_t next = nextSeparator(i + 1, end);
            // In JSON text '&' is written \u0026.
            const std::size_t begin = separator == '\\' ? i + std::min<std::size_t>(6, next - i) : i + 1;
            piece(begin, next, separator);
            i = next;
        }
        return end;
    }

    /// Tokens of known services among the folders.
    void path(std::size_t from, std::size_t to)
    {
        for (std::size_t begin = std::min(text_.find('/', from), to); begin < to;) {
            const std::size_t end = std::min(text_.find('/', begin + 1), to);
            if (looksLikeToken(text_.substr(begin + 1, end - begin - 1)))
                add(begin + 1, end);
            begin = end;
        }
    }

    std::size_t nextSeparator(std::size_t from, std::size_t end) const
    {
        for (std::size_t i = from; i < end; ++i)
            if (text_[i] == '&' || text_[i] == ';' || text_[i] == '#' || text_[i] == '?'
                || text_.substr(i, 6) == "\\u0026")
                return i;
        return end;
    }

    /// "name=value", or one word, behind a separator.
    void piece(std::size_t begin, std::size_t end, char separator)
    {
        const auto equals = text_.substr(begin, end - begin).find('=');
        if (equals == std::string_view::npos) {
            const auto word = text_.substr(begin, end - begin);
            const bool anchor = separator == '#' && !looksLikeToken(word);
            if (!anchor && word.size() >= kLeastHiddenWord && !isAnyOf(lowerCase(word), kHarmlessParameters))
                add(begin, end);
            return;
        }
        const auto name = lowerCase(text_.substr(begin, equals));
        const std::size_t from = begin + equals + 1;
        const std::size_t to = from + endOf(text_.substr(from, end - from), 0, kValueEnds);
        if (!isHarmless(name, text_.substr(from, to - from)))
            add(from, to);
    }

    static bool isHarmless(const std::string& name, std::string_view value)
    {
        if (isAnyOf(name, kSigningParameters))
            return value.empty();
        const bool number
            = value.size() <= kMostHarmlessDigits && value.find_first_not_of("0123456789") == std::string_view::npos;
        return number || isAnyOf(lowerCase(value), kHarmlessValues)
            || (isAnyOf(name, kHarmlessParameters) && !holdsAnother(value));
    }

    /// "1%26token=..." is a parameter inside a value.
    static bool holdsAnother(std::string_view value)
    {
        return lowerCase(value).find("%26") != std::string::npos || looksLikeToken(value);
    }

    void add(std::size_t begin, std::size_t end)
    {
        if (end > begin)
            places_.push_back({ begin, end });
    }

    std::string_view text_;
    std::vector<SecretPlace> places_;
};

} // namespace

bool isWordByte(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' || c == '+'
        || static_cast<unsigned char>(c) >= 0x80;
}

bool hasTokenHead(std::string_view word)
{
    return std::any_of(
        kTokenHeads.begin(), kTokenHeads.end(), [word](std::string_view head) { return word.starts_with(head); });
}

bool looksLikeToken(std::string_view word)
{
    if (!hasTokenHead(word))
        return false;
    const auto isLetterOrDigit = [](unsigned char c) { return std::isalnum(c) != 0; };
    for (auto from = word.begin(); from != word.end();) {
        const auto to = std::find_if_not(from, word.end(), isLetterOrDigit);
        if (to - from >= kLeastTokenRun && isDrawn(word.substr(from - word.begin(), to - from)))
            return true;
        from = std::find_if(to, word.end(), isLetterOrDigit);
    }
    return false;
}

namespace {

/// Those that people write an account into.
constexpr auto kSchemes = std::to_array<std::string_view>(
    { "http", "https", "ws", "wss", "ftp", "ftps", "sftp", "ssh", "s3", "gs", "hf", "git", "socks4", "socks5",
        "socks5h", "webdav", "webdavs", "postgres", "postgresql", "mysql", "mariadb", "mongodb", "redis", "rediss",
        "amqp", "amqps", "smtp", "smtps", "imap", "imaps", "ldap", "ldaps", "smb", "abfs", "abfss", "wasb", "wasbs" });

/// Also of two that are joined, as in "git+https" and "mongodb+srv".
bool isKnownScheme(std::string_view word)
{
    const std::string small = lowerCase(word);
    const auto plus = small.find('+');
    return isAnyOf(small.substr(0, plus), kSchemes)
        || (plus != std::string::npos && isAnyOf(small.substr(plus + 1), kSchemes));
}

/// The word that ends before a colon, or before the slashes where that was forgotten; "": it is no scheme. One letter
/// is a drive.
std::string_view schemeBefore(std::string_view text, std::size_t end)
{
    std::size_t begin = end;
    while (begin > 0 && isWordByte(text[begin - 1]))
        --begin;
    const bool isScheme = end - begin > 1 && std::isalpha(static_cast<unsigned char>(text[begin])) != 0
        && (begin == 0 || text[begin - 1] != '@'); // of a host and its port
    return isScheme ? text.substr(begin, end - begin) : std::string_view();
}

/// Whether an address with the wrong number of slashes begins at a colon. Without any, words and times look so too.
bool isBrokenAddress(std::string_view text, std::size_t colon, std::size_t slashesEnd)
{
    const auto scheme = schemeBefore(text, colon);
    return !scheme.empty() && text.substr(colon, slashesEnd - colon) != "://"
        && (slashesEnd > colon + 1 || isKnownScheme(scheme));
}

/// Whether an address without its colon begins at a slash. Behind a scheme that people know one slash will do: of
/// "https//" a path has made "https/". Behind any other word two, and in no path: that may have two as well.
bool lacksColon(std::string_view text, std::size_t slash, std::size_t slashesEnd)
{
    const auto scheme = schemeBefore(text, slash);
    if (scheme.empty())
        return false;
    const std::size_t begin = slash - scheme.size();
    const bool isInPath = begin > 0 && std::string_view(":/\\").find(text[begin - 1]) != std::string_view::npos;
    return isKnownScheme(scheme) || (slashesEnd > slash + 1 && !isInPath);
}

std::vector<SecretPlace> accountsIn(std::string_view text)
{
    constexpr std::string_view kScheme = "://";
    constexpr const char* kJoints = ":/";
    Accounts accounts(text);
    std::vector<SecretPlace> places;
    for (auto at = text.find_first_of(kJoints); at != std::string_view::npos;) {
        const bool isColon = text[at] == ':';
        const char before = at == 0 ? ' ' : text[at - 1];
        const bool isBehindWord = isColon || isWordByte(before); // so each stretch of slashes is measured once
        const std::size_t slashesEnd
            = isBehindWord ? std::min(text.find_first_not_of("/\\", at + 1), text.size()) : at + 1;
        std::size_t from = at + 1;
        std::optional<SecretPlace> found;
        if (isColon && isBrokenAddress(text, at, slashesEnd)) {
            from = slashesEnd;
            found = accounts.behindBrokenScheme(from);
        } else if (!isColon && isBehindWord && lacksColon(text, at, slashesEnd)) {
            from = slashesEnd;
            found = from > at + 1 ? accounts.behindBrokenScheme(from) : accounts.withoutScheme(from);
        } else if (text.substr(at).starts_with(kScheme)) {
            from = at + kScheme.size();
            found = accounts.behindScheme(from);
        } else if (text.substr(at).starts_with("//")) {
            from = at + 2;
            if (!isWordByte(before) && before != '/' && before != '\\')
                found = accounts.withoutScheme(from);
        }
        if (found && found->end > found->begin)
            places.push_back(*found);
        at = text.find_first_of(kJoints, found ? found->end : from);
    }
    return places;
}

/// Both lists in the order of the text. A '?' in a password begins no parameters.
std::vector<SecretPlace> joined(const std::vector<SecretPlace>& accounts, const std::vector<SecretPlace>& openings)
{
    std::vector<SecretPlace> places;
    auto account = accounts.begin();
    for (const SecretPlace& one : openings) {
        for (; account != accounts.end() && account->begin <= one.begin; ++account)
            places.push_back(*account);
        if (places.empty() || one.begin >= places.back().end)
            places.push_back(one);
    }
    places.insert(places.end(), account, accounts.end());
    return places;
}

/// Where the parameters or the fragment of an address begin, or the parameters of its path.
std::size_t endOfPath(std::string_view address)
{
    return address.find("://") == std::string_view::npos ? address.size() : endOf(address, 0, "?#;");
}

} // namespace

std::vector<SecretPlace> secretPlacesIn(std::string_view text)
{
    return joined(accountsIn(text), Openings(text).find());
}

std::string withPlacesHidden(std::string_view text, const std::vector<SecretPlace>& places)
{
    std::string out;
    std::size_t from = 0;
    for (const auto& [begin, end] : places) {
        out.append(text.substr(from, begin - from)).append("<hidden>");
        from = end;
    }
    return out.append(text.substr(from));
}

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
    const std::size_t path = endOfPath(plain);
    const auto openings = Openings(plain).find();
    const bool opens
        = std::any_of(openings.begin(), openings.end(), [path](const auto& one) { return one.begin >= path; });
    if (opens || (plain.starts_with("http") && plain.find('#', path) != std::string::npos))
        plain.resize(path);
    return withPlacesHidden(plain, Openings(plain).find());
}

} // namespace furrow
