#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace furrow {

struct SecretVariable {
    std::string name;
    std::string secret; ///< its value, or the account or password in it
};

/// The secrets in this process's environment (isSecretVariable). Those of fewer than eight bytes may be words and are
/// left out.
std::vector<SecretVariable> secretVariables();

/// The variable whose secret stands in `text`, which must not be kept then; "": none.
std::string variableOfSecretIn(std::string_view text, const std::vector<SecretVariable>& secrets);

} // namespace furrow
