#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// An object of a store, as a list names it.
struct StoreObject {
    std::string key;
    std::uint64_t sizeBytes = 0;
    std::string version; ///< its ETag, as the store sends it in a header
};

/// A page of the list of a bucket (ListObjectsV2 of S3, which Google's store answers too).
struct BucketPage {
    std::vector<StoreObject> objects;
    std::string next; ///< token of the next page, "" behind the last one
};

/// Network: it is no such list.
Result<BucketPage> readBucketPage(std::string_view xml);

} // namespace furrow
