#include "core/trials/bench/loop_hub.h"

#include "core/base/hash.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

namespace furrow {

namespace {

constexpr const char* kStore = "http://store.bench/";
const std::string kResolve = "/datasets/bench/data/resolve/";

void sleepFor(double seconds)
{
    if (seconds > 0)
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

} // namespace

class LoopHub::Transport : public HttpTransport {
public:
    explicit Transport(LoopHub& hub)
        : hub_(hub)
    {
    }
    Result<HttpResponse> send(const HttpRequest& request, const BodySink& sink) override
    {
        return hub_.answer(request, sink);
    }

private:
    LoopHub& hub_;
};

LoopHub::LoopHub(std::map<std::string, std::string> files, const LoopDistance& distance)
    : files_(std::move(files))
    , distance_(distance)
{
    for (const auto& [path, bytes] : files_)
        sha256_[path] = sha256Hex(bytes);
}

std::unique_ptr<HttpTransport> LoopHub::transport() { return std::make_unique<Transport>(*this); }

UseLoopHub::UseLoopHub(LoopHub& hub, int transfers)
    : before_(sharedHubClient())
{
    HubSettings settings;
    settings.endpoint = LoopHub::kEndpoint;
    setSharedHubClient(std::make_shared<HubClient>(settings, [&hub] { return hub.transport(); }, transfers));
}

std::uint64_t LoopHub::datasetBytes() const
{
    std::uint64_t sum = 0;
    for (const auto& [path, bytes] : files_)
        sum += bytes.size();
    return sum;
}

HttpResponse LoopHub::tree() const
{
    auto list = nlohmann::json::array();
    for (const auto& [path, bytes] : files_)
        list.push_back({ { "type", "file" }, { "path", path }, { "size", bytes.size() },
            { "oid", sha256_.at(path).substr(0, 40) }, { "lfs", { { "oid", sha256_.at(path) } } } });
    return { 200, {}, list.dump() };
}

Result<HttpResponse> LoopHub::part(const HttpRequest& request, const std::string& bytes, const BodySink& sink)
{
    const auto range = request.range.value_or(ByteRange { 0, bytes.size() });
    if (range.offset > bytes.size() || range.sizeBytes > bytes.size() - range.offset)
        return HttpResponse { 416, {}, {} };
    HttpResponse head { request.range ? 206 : 200, {}, {} };
    head.headers["content-range"] = "bytes " + std::to_string(range.offset) + "-"
        + std::to_string(range.offset + range.sizeBytes - 1) + "/" + std::to_string(bytes.size());
    served_ += range.sizeBytes;
    if (sink && !send(head, std::string_view(bytes).substr(range.offset, range.sizeBytes), sink))
        return Error { ErrorCode::Cancelled, "The transfer was stopped." };
    return head;
}

bool LoopHub::send(const HttpResponse& head, std::string_view bytes, const BodySink& sink)
{
    constexpr std::size_t kPacket = 64 << 10;
    if (distance_.bytesPerSecond <= 0)
        return sink(head, bytes);
    for (; !bytes.empty(); bytes.remove_prefix(std::min(kPacket, bytes.size()))) {
        const auto packet = bytes.substr(0, kPacket);
        sleepFor(static_cast<double>(packet.size()) / distance_.bytesPerSecond);
        if (!sink(head, packet))
            return false;
    }
    return true;
}

Result<HttpResponse> LoopHub::answer(const HttpRequest& request, const BodySink& sink)
{
    sleepFor(distance_.latencySeconds);
    const std::string commit(40, 'b');
    if (request.url.find("/revision/") != std::string::npos)
        return HttpResponse { 200, {}, nlohmann::json { { "sha", commit } }.dump() };
    if (request.url.find("/tree/") != std::string::npos)
        return tree();
    const bool fromStore = request.url.starts_with(kStore);
    const auto resolve = request.url.find(kResolve);
    if (!fromStore && resolve == std::string::npos)
        return HttpResponse { 404, {}, {} };
    const std::string path = fromStore ? request.url.substr(std::string_view(kStore).size())
                                       : request.url.substr(resolve + kResolve.size() + commit.size() + 1);
    const auto file = files_.find(path);
    if (file == files_.end())
        return HttpResponse { 404, { { "x-error-code", "EntryNotFound" } }, {} };
    if (fromStore)
        return part(request, file->second, sink);
    return HttpResponse { 302,
        { { "x-linked-etag", "\"" + sha256_.at(path) + "\"" }, { "x-linked-size", std::to_string(file->second.size()) },
            { "location", kStore + path } },
        {} };
}

} // namespace furrow
