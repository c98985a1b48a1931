#pragma once

#include "core/base/message.h"

#include <string>
#include <string_view>

namespace furrow {

/// The one home of what must not be read by others. A secret comes in through the environment or a file, never through
/// a setting, and goes to the process that sends it and to nobody else.

/// From now on `withoutSecrets` replaces this text wherever it stands, in this process. Shorter than six bytes it would
/// garble words, and is not remembered. Thread-safe.
void rememberSecret(std::string_view secret);

/// `text` as it may be logged, kept or shown: remembered secrets, those of the environment, name and password of an
/// address, what in or behind its path opens it, and what follows "Bearer" are replaced by "<hidden>". Of an address
/// of the web all parameters are that are not known to be harmless. A path stays a path. In linear time. Thread-safe.
std::string withoutSecrets(std::string_view text);
/// The same of a message, in its values.
Message messageWithoutSecrets(const Message& message);

/// Whether a text must not be kept in a run: it holds a remembered secret, an address that opens itself, a token of a
/// known service, or a password with its name ("password=..."). The name alone, and what code or a regular expression
/// has in place of the value, is none. In linear time. Thread-safe.
bool holdsSecret(std::string_view text);

/// A text that may be shown to strangers: also values of keys that look like secrets and tokens of known services, and
/// the folders of paths are replaced; the last part of a path stays, since it names the thing.
std::string redacted(std::string_view text);

/// A variable of the environment that only a process which sends it may have: its name says secret, or its value is an
/// address with a password or a signature, a token of a known service, or holds a password with its name.
bool isSecretVariable(std::string_view name, std::string_view value);

/// A text that must not reach a log, a file or a message: it can be sent, not printed. Remembers itself
/// (rememberSecret).
class Secret {
public:
    Secret() = default;
    explicit Secret(std::string value)
        : value_(std::move(value))
    {
        rememberSecret(value_);
    }
    bool empty() const { return value_.empty(); }
    /// For the one place that sends it.
    const std::string& reveal() const { return value_; }

private:
    std::string value_;
};

/// The name and password in an address ("ann:geheim" of "https://ann:geheim@host/x"), percent-encoded as they stand,
/// and the address without them.
struct AddressParts {
    std::string account; ///< "" where there is none
    std::string address;
};
AddressParts withoutAccount(std::string_view address);

/// The address as it may be kept: without its account; without its parameters and its fragment when one of them opens
/// it; with "<hidden>" for a token in its path. Of what came out of it, it makes the same again.
std::string publicAddress(std::string_view address);

/// The name of a file that is not there, as a message may show it: "ann:<hidden>@host/x" may be an address without its
/// scheme.
std::string missingNameShown(std::string_view name);

} // namespace furrow
