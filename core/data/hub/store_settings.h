#pragma once

#include "core/base/result.h"
#include "core/data/hub/sigv4.h"

#include <string>
#include <string_view>

namespace furrow {

/// Where stores of objects are and who asks: as the programs of their makers find it out, without what needs a further
/// server (roles of machines, single sign-on).
struct StoreSettings {
    StoreKeys keys; ///< of s3://
    std::string region = "us-east-1";
    std::string endpoint; ///< of s3://; "": that of AWS in the region
    Secret googleToken; ///< of gs://
    std::string googleEndpoint = "https://storage.googleapis.com";

    /// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, else AWS_PROFILE in AWS_SHARED_CREDENTIALS_FILE and
    /// AWS_CONFIG_FILE (~/.aws); AWS_REGION, AWS_DEFAULT_REGION; AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL;
    /// CLOUDSDK_AUTH_ACCESS_TOKEN, GOOGLE_OAUTH_ACCESS_TOKEN; STORAGE_EMULATOR_HOST.
    static StoreSettings fromEnvironment();
};

/// "s3://bucket/key"
struct StoreAddress {
    bool isGoogle = false;
    std::string bucket;
    std::string key; ///< not percent-encoded
};
bool isStorePath(std::string_view path);
/// InvalidArgument with the right form.
Result<StoreAddress> parseStoreAddress(std::string_view text);
std::string toString(const StoreAddress& address);

/// A value in the text of an ini file as the AWS programs keep it; "" when it is not there.
std::string iniValue(std::string_view text, std::string_view section, std::string_view key);

} // namespace furrow
