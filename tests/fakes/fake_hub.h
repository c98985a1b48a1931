#pragma once

#include "core/base/random.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace furrow::test {

/// What can go wrong with one request for bytes.
enum class HubFault {
    TooMany, ///< 429 with RateLimit and Retry-After
    ServerError, ///< 500
    Cut, ///< the connection ends in the middle of the body
    Stall, ///< nothing comes for three seconds
    WrongBytes, ///< right length, other content
    WholeFile, ///< 200 to a request for a part
    OtherPart, ///< 206 with another Content-Range
    Expired, ///< 403: the signed address ran out
};

/// A hub on loopback, in two servers: the hub itself and the store that signed addresses lead to. It speaks as the real
/// one does (redirects, Link paging, X-Linked headers, ranges) and counts. Thread-safe.
class FakeHub {
public:
    struct Repository {
        std::string commit = std::string(40, 'a');
        std::map<std::string, std::string> files;
        bool gated = false;
        std::string renamedTo; ///< every request is answered with a relative redirect
        std::set<std::string> small; ///< served by the hub itself, without LFS
        std::map<std::string, std::map<std::string, std::string>> older; ///< commit -> its files
    };

    FakeHub();
    ~FakeHub();

    std::string endpoint() const;
    void add(const std::string& name, Repository repository);
    /// The next requests to the store meet these, one each.
    void fail(std::vector<HubFault> faults);
    /// One in so many requests to the store meets a random fault of these; 0: none from now on.
    void failAtRandom(std::vector<HubFault> faults, std::uint64_t oneIn, std::uint64_t seed);
    /// How many of these faults were met, by fail() or failAtRandom().
    int faultsMet(HubFault fault) const;
    /// Until it is back every request is answered 503.
    void setAway(bool away) { away_ = away; }
    bool isAway() const { return away_; }
    /// How fast the store sends a body; 0: as fast as it can.
    void setSpeed(std::size_t bytesPerSecond) { bytesPerSecond_ = bytesPerSecond; }
    /// Until it is back the store sends nothing more of what it has begun to answer: connections stay open.
    void setHeld(bool held) { held_ = held; }
    void requireToken(const std::string& token);
    /// Basic authentication, as a mirror behind a password asks for.
    void requireAccount(const std::string& name, const std::string& password);

    std::uint64_t storeBytes() const { return storeBytes_; } ///< bodies that the store sent, as far as they were taken
    int storeRequests() const { return storeRequests_; }
    int apiRequests() const { return apiRequests_; }
    /// An Authorization header arrived at the store: the client leaked its token.
    bool storeSawToken() const { return storeSawToken_; }
    bool pendingFaults() const;

    static constexpr int kPage = 2; ///< entries of one page of the tree

private:
    struct Servers;
    std::optional<HubFault> nextFault(); ///< with the mutex
    void serveApi();
    void serveStore();

    std::unique_ptr<Servers> servers_;
    std::atomic<std::uint64_t> storeBytes_ { 0 };
    std::atomic<int> storeRequests_ { 0 };
    std::atomic<int> apiRequests_ { 0 };
    std::atomic<bool> away_ { false };
    std::atomic<bool> held_ { false };
    std::atomic<std::size_t> bytesPerSecond_ { 0 };
    std::atomic<bool> storeSawToken_ { false };
    mutable std::mutex mutex_;
    // guarded by mutex_
    std::map<std::string, Repository> repositories_;
    std::vector<HubFault> faults_;
    std::vector<HubFault> randomFaults_;
    std::uint64_t oneIn_ = 0;
    Random random_ { 0 };
    std::map<HubFault, int> met_;
    std::string authorization_; ///< that requests must have; "": none
};

} // namespace furrow::test
