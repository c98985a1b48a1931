#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace furrow::test {

/// A server of files on loopback that behaves as each file says. Thread-safe.
class FakeWeb {
public:
    struct File {
        std::string bytes;
        std::string etag = "\"one\""; ///< "": none
        std::string modified; ///< Last-Modified
        std::string digest; ///< Repr-Digest
        bool ranges = true;
        bool saysLength = true; ///< else the body comes in chunks
        std::string account; ///< "name:password" that is asked for
        std::string query; ///< that is asked for, such as a signature: "sig=abc"
        std::string redirect; ///< where the file is
        int status = 0; ///< of every answer; 0: as it should be
        bool hollow = false; ///< parts come without their bytes
        std::uint64_t lie = 0; ///< added to the length that Content-Range tells
        /// Called before each answer with how many there were of this file: what goes wrong over time.
        std::function<void(File&, int asked)> before;
    };

    FakeWeb();
    ~FakeWeb();
    /// "http://127.0.0.1:port"
    std::string origin() const;
    std::string address(const std::string& path) const { return origin() + path; }
    /// @param path  "/data/a.jsonl"
    void put(const std::string& path, File file);
    void setSpeed(std::size_t bytesPerSecond) { bytesPerSecond_ = bytesPerSecond; }
    /// The next bodies end in their middle.
    void cutNext(int bodies) { cuts_ = bodies; }

    std::uint64_t servedBytes() const { return served_; } ///< of bodies, as far as they were taken
    int requests() const { return requests_; }
    /// All that was sent of an Authorization header.
    std::vector<std::string> authorizations() const;

private:
    struct Server;
    std::unique_ptr<Server> server_;
    std::atomic<std::uint64_t> served_ { 0 };
    std::atomic<int> requests_ { 0 };
    std::atomic<int> cuts_ { 0 };
    std::atomic<std::size_t> bytesPerSecond_ { 0 };
    mutable std::mutex mutex_;
    std::map<std::string, File> files_; ///< guarded by mutex_
    std::map<std::string, int> asked_; ///< guarded by mutex_
    std::vector<std::string> authorizations_; ///< guarded by mutex_
};

} // namespace furrow::test
