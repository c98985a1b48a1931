#include "core/base/secret_variables.h"

#include "core/base/environment.h"
#include "core/base/redact.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr std::size_t kLeastRefused = 8;

/// What of the value of a variable is secret.
std::vector<std::string> secretsOf(const EnvironmentVariable& variable)
{
    if (!isSecretVariable(variable.name, variable.value))
        return {};
    const std::string account = withoutAccount(variable.value).account;
    if (account.empty())
        return { variable.value };
    const auto colon = account.find(':');
    return { account, colon == std::string::npos ? std::string() : account.substr(colon + 1) };
}

} // namespace

std::vector<SecretVariable> secretVariables()
{
    std::vector<SecretVariable> all;
    for (const auto& variable : environmentVariables())
        for (const auto& secret : secretsOf(variable))
            if (secret.size() >= kLeastRefused)
                all.push_back({ variable.name, secret });
    return all;
}

std::string variableOfSecretIn(std::string_view text, const std::vector<SecretVariable>& secrets)
{
    const auto found = std::find_if(secrets.begin(), secrets.end(),
        [text](const SecretVariable& one) { return text.find(one.secret) != std::string_view::npos; });
    return found == secrets.end() ? std::string() : found->name;
}

} // namespace furrow
