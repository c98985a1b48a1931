#pragma once

#include "core/base/message.h"
#include "core/data/hub/http.h"
#include "core/data/hub/store_settings.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// What opens files outside of the hub. Nothing of it is in a manifest, a log or a message.
struct WebSecrets {
    std::vector<Secret> addresses; ///< with an account or a signature, for the addresses without them
    StoreSettings stores;

    /// FURROW_DATA_SECRET: addresses with a space or a line end between them; StoreSettings.
    static WebSecrets fromEnvironment();
};

/// Asks for files outside of the hub. Thread-safe.
class WebRequests {
public:
    explicit WebRequests(WebSecrets secrets = {});
    /// For all of the file.
    /// @param address  as manifests keep it
    HttpRequest get(const std::string& address) const;
    /// For where a redirect leads: what opens `address` goes along to its own host only.
    HttpRequest redirected(const std::string& address, const std::string& url) const;
    /// For a page of the list of a bucket.
    /// @param folder  its key is what the keys begin with
    /// @param token  BucketPage::next of the page before
    HttpRequest list(const StoreAddress& folder, const std::string& token) const;
    /// S3 said in which region the bucket is. True: it is another than was thought, and asking again may help.
    bool learnRegion(const std::string& address, const HttpResponse& answer);

private:
    /// @param query  in the order of its names, percent-encoded
    HttpRequest store(const StoreAddress& address, const std::string& query) const;

    WebSecrets secrets_;
    mutable std::mutex mutex_;
    std::map<std::string, std::string> regions_; ///< guarded by mutex_; of buckets that are not where the settings say
};

/// What a server says of a file besides its bytes.
struct WebState {
    std::optional<std::uint64_t> sizeBytes;
    std::string version; ///< a strong ETag; else what there is of a weak one and Last-Modified; "": nothing
    std::string sha256; ///< that the server promises of the whole file, or ""
    bool hasRanges = false; ///< parts of it can be asked for
};
/// @param answer  200 or 206
WebState stateOf(const HttpResponse& answer);

/// How the file that the server has now differs from the one that is known; "": in nothing that can be told.
Message howChanged(
    const std::string& address, std::uint64_t knownBytes, const std::string& knownVersion, const WebState& now);

/// What the error of a store says in one word ("NoSuchKey"); "" for other answers.
std::string storeCode(const HttpResponse& response);
/// Why an answer of 400 or more has no file. NotFound: it is not there for us; Network: the server is in trouble.
Error webRefusal(const std::string& address, const HttpResponse& response);

/// The address without what stands behind the path: what names the file.
std::string_view withoutQuery(std::string_view address);

/// Of a body that begins before the part that was asked for, because the server knows no parts: what lies in the part.
class BodyWindow {
public:
    explicit BodyWindow(const ByteRange& wanted)
        : wanted_(wanted)
    {
    }
    std::string_view cut(std::string_view piece);
    bool isOver() const { return at_ >= wanted_.end(); }

private:
    ByteRange wanted_;
    std::uint64_t at_ = 0; ///< in the file
};

} // namespace furrow
