#include "core/config/secret_address.h"

#include "core/base/redact.h"
#include "core/base/sentence.h"

namespace furrow {

Message whySecretAddress(const std::string& key, const std::string& address)
{
    const std::string kept = publicAddress(address);
    if (kept == address)
        return {};
    return address.starts_with("http")
        ? sentence(
              "%1 has %2, an address with a password or a signature in it, which would be kept in the run. Put the whole address into the environment variable FURROW_DATA_SECRET, also when the run is resumed, and give here %3.",
              { key, withoutSecrets(address), kept })
        : sentence(
              "%1 has %2, an address with a name or password in it, which would be kept in the run. Give a file, or hf://owner/name and the secret in HF_TOKEN.",
              { key, withoutSecrets(address) });
}

} // namespace furrow
