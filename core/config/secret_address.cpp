#include "core/config/secret_address.h"

#include "core/base/redact.h"
#include "core/base/sentence.h"

namespace furrow {

Message whySecretAddress(const std::string& key, const std::string& address)
{
    const std::string kept = publicAddress(address);
    if (kept == address)
        return {};
    if (address.starts_with("s3://"))
        return sentence(
            "%1 has %2, an address with a key or a signature in it, which would be kept in the run. Put the keys into the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, also when the run is resumed, and give here %3. An https:// address that is signed can stand in FURROW_DATA_SECRET.",
            { key, withoutSecrets(address), kept });
    if (address.starts_with("gs://"))
        return sentence(
            "%1 has %2, an address with a key or a signature in it, which would be kept in the run. Put an access token into the environment variable CLOUDSDK_AUTH_ACCESS_TOKEN, also when the run is resumed, and give here %3. An https:// address that is signed can stand in FURROW_DATA_SECRET.",
            { key, withoutSecrets(address), kept });
    return address.starts_with("http")
        ? sentence(
              "%1 has %2, an address with a password or a signature in it, which would be kept in the run. Put the whole address into the environment variable FURROW_DATA_SECRET, also when the run is resumed, and give here %3.",
              { key, withoutSecrets(address), kept })
        : sentence(
              "%1 has %2, an address with a name or password in it, which would be kept in the run. Give a file, or hf://owner/name and the secret in HF_TOKEN.",
              { key, withoutSecrets(address) });
}

} // namespace furrow
