#pragma once

#include "core/base/redact.h"

#include <string>
#include <vector>

namespace furrow {

/// Keys of a store of objects that speaks S3.
struct StoreKeys {
    std::string id; ///< "": requests are not signed
    Secret secret;
    Secret session; ///< of keys for a time
};

/// Headers of a GET without a body that prove who asks: Signature Version 4 of AWS.
/// @param url  percent-encoded, parameters in the order of their names
/// @param time  "20130524T000000Z"
/// @param signedAlso  further headers to sign, "name: value", names in lower case and sorted before "x-"
std::vector<std::string> signV4(const std::string& url, const StoreKeys& keys, const std::string& region,
    const std::string& time, const std::vector<std::string>& signedAlso = {});

} // namespace furrow
