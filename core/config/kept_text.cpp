#include "core/config/kept_text.h"

#include "core/base/redact.h"
#include "core/base/sentence.h"

namespace furrow {

Message whyVariableNotKept(std::string_view text, const Argument& holder, const std::vector<SecretVariable>& secrets)
{
    const auto variable = variableOfSecretIn(text, secrets);
    return variable.empty()
        ? Message()
        : sentence(
              "%1 holds the secret of the environment variable %2, which would be kept in the run and shown everywhere. Take it out: what needs the secret reads it from the environment.",
              { holder, variable });
}

Message whyNotKept(std::string_view text, const Argument& holder, const std::vector<SecretVariable>& secrets)
{
    if (auto why = whyVariableNotKept(text, holder, secrets); !why.empty())
        return why;
    return !holdsSecret(text)
        ? Message()
        : sentence(
              "%1 holds what looks like a password, a token or an address that opens itself, which would be kept in the run and shown everywhere. Take it out.",
              { holder });
}

} // namespace furrow
