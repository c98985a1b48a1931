#include "fake_hub.h"

#include "core/base/git_blob.h"
#include "core/base/hash.h"

#include <httplib.h>
#include <nlohmann/json.hpp>
#include <thread>

namespace furrow::test {

namespace {

std::string sha(const std::string& bytes) { return sha256Hex(bytes); }

std::string oid(const std::string& bytes)
{
    GitBlobName name(bytes.size());
    name.update(bytes);
    return name.hex();
}

void reply(httplib::Response& response, int status, const char* code)
{
    response.status = status;
    response.set_header("X-Error-Code", code);
    response.set_content("{}", "application/json");
}

} // namespace

struct FakeHub::Servers {
    httplib::Server api, store;
    int apiPort = 0, storePort = 0;
    std::thread apiThread, storeThread;
};

FakeHub::FakeHub()
    : servers_(std::make_unique<Servers>())
{
    serveApi();
    serveStore();
    for (httplib::Server* server : { &servers_->api, &servers_->store })
        server->set_pre_routing_handler([this](const httplib::Request&, httplib::Response& response) {
            if (!away_)
                return httplib::Server::HandlerResponse::Unhandled;
            response.status = 503;
            return httplib::Server::HandlerResponse::Handled;
        });
    servers_->apiPort = servers_->api.bind_to_any_port("127.0.0.1");
    servers_->storePort = servers_->store.bind_to_any_port("127.0.0.1");
    servers_->apiThread = std::thread([this] { servers_->api.listen_after_bind(); });
    servers_->storeThread = std::thread([this] { servers_->store.listen_after_bind(); });
    while (!servers_->api.is_running() || !servers_->store.is_running())
        std::this_thread::yield();
}

FakeHub::~FakeHub()
{
    servers_->api.stop();
    servers_->store.stop();
    servers_->apiThread.join();
    servers_->storeThread.join();
}

std::string FakeHub::endpoint() const { return "http://127.0.0.1:" + std::to_string(servers_->apiPort); }

void FakeHub::add(const std::string& name, Repository repository)
{
    const std::lock_guard guard(mutex_);
    repositories_[name] = std::move(repository);
}

void FakeHub::fail(std::vector<HubFault> faults)
{
    const std::lock_guard guard(mutex_);
    faults_ = std::move(faults);
}

void FakeHub::failAtRandom(std::vector<HubFault> faults, std::uint64_t oneIn, std::uint64_t seed)
{
    const std::lock_guard guard(mutex_);
    randomFaults_ = std::move(faults);
    oneIn_ = oneIn;
    random_ = Random(seed);
}

int FakeHub::faultsMet(HubFault fault) const
{
    const std::lock_guard guard(mutex_);
    const auto found = met_.find(fault);
    return found == met_.end() ? 0 : found->second;
}

std::optional<HubFault> FakeHub::nextFault()
{
    std::optional<HubFault> fault;
    if (!faults_.empty()) {
        fault = faults_.front();
        faults_.erase(faults_.begin());
    } else if (oneIn_ > 0 && random_.below(oneIn_) == 0) {
        fault = randomFaults_[random_.below(randomFaults_.size())];
    }
    if (fault)
        ++met_[*fault];
    return fault;
}

void FakeHub::requireToken(const std::string& token)
{
    const std::lock_guard guard(mutex_);
    authorization_ = "Bearer " + token;
}

void FakeHub::requireAccount(const std::string& name, const std::string& password)
{
    const std::lock_guard guard(mutex_);
    authorization_ = httplib::make_basic_authentication_header(name, password).second;
}

bool FakeHub::pendingFaults() const
{
    const std::lock_guard guard(mutex_);
    return !faults_.empty();
}

void FakeHub::serveApi()
{
    using httplib::Request;
    using httplib::Response;
    /// The repository of the first two groups of the pattern, or null with the refusal already written.
    const auto find = [this](const Request& request, Response& response) -> const Repository* {
        ++apiRequests_;
        const std::string name = request.matches[1].str();
        const auto found = repositories_.find(name);
        if (found == repositories_.end()
            || (!authorization_.empty() && request.get_header_value("Authorization") != authorization_)) {
            reply(response, 401, "RepoNotFound");
            return nullptr;
        }
        if (found->second.gated) {
            reply(response, 403, "GatedRepo");
            return nullptr;
        }
        if (!found->second.renamedTo.empty()) {
            std::string path = request.path;
            path.replace(path.find(name), name.size(), found->second.renamedTo);
            response.set_redirect(path + (request.params.empty() ? "" : "?recursive=true"), 307);
            return nullptr;
        }
        return &found->second;
    };
    servers_->api.Get(R"(/api/(?:datasets|models)/([\w.-]+/[\w.-]+)/revision/(.+))",
        [this, find](const Request& request, Response& response) {
            const std::lock_guard guard(mutex_);
            const auto* repository = find(request, response);
            if (repository == nullptr)
                return;
            const auto revision = request.matches[2].str();
            if (revision != "main" && revision != repository->commit)
                reply(response, 404, "RevisionNotFound");
            else
                response.set_content(nlohmann::json { { "sha", repository->commit } }.dump(), "application/json");
        });
    servers_->api.Get(R"(/api/(?:datasets|models)/([\w.-]+/[\w.-]+)/tree/(\w+))",
        [this, find](const Request& request, Response& response) {
            const std::lock_guard guard(mutex_);
            const auto* repository = find(request, response);
            if (repository == nullptr)
                return;
            const int page = request.has_param("cursor") ? std::stoi(request.get_param_value("cursor")) : 0;
            auto list = nlohmann::json::array();
            int index = 0;
            for (const auto& [path, bytes] : repository->files) {
                if (index++ / kPage != page)
                    continue;
                nlohmann::json entry { { "type", "file" }, { "path", path }, { "size", bytes.size() },
                    { "oid", oid(bytes) } };
                if (!repository->small.contains(path))
                    entry["lfs"] = { { "oid", sha(bytes) }, { "size", bytes.size() } };
                list.push_back(entry);
            }
            list.push_back({ { "type", "directory" }, { "path", "data" } });
            if ((page + 1) * kPage < index)
                response.set_header("Link",
                    "<" + request.path + "?recursive=true&cursor=" + std::to_string(page + 1) + ">; rel=\"next\"");
            response.set_content(list.dump(), "application/json");
        });
    servers_->api.Get(R"(/(?:datasets/)?([\w.-]+/[\w.-]+)/resolve/(\w+)/(.+))",
        [this, find](const Request& request, Response& response) {
            const std::lock_guard guard(mutex_);
            const auto* repository = find(request, response);
            if (repository == nullptr)
                return;
            const std::string path = request.matches[3].str();
            const std::string commit = request.matches[2].str();
            const auto older = repository->older.find(commit);
            const auto& files = older == repository->older.end() ? repository->files : older->second;
            const auto file = files.find(path);
            if (file == files.end())
                return reply(response, 404, "EntryNotFound");
            response.set_header("X-Repo-Commit", commit);
            if (repository->small.contains(path)) {
                response.set_header("ETag", "\"" + oid(file->second) + "\"");
                response.set_content(file->second, "text/plain");
                return;
            }
            response.set_header("X-Linked-Etag", "\"" + sha(file->second) + "\"");
            response.set_header("X-Linked-Size", std::to_string(file->second.size()));
            response.set_redirect("http://127.0.0.1:" + std::to_string(servers_->storePort) + "/"
                    + request.matches[1].str() + "/" + path + "?signature=SECRET&commit=" + commit,
                302);
        });
}

void FakeHub::serveStore()
{
    using httplib::Request;
    using httplib::Response;
    servers_->store.Get(R"(/([\w.-]+/[\w.-]+)/(.+))", [this](const Request& constRequest, Response& response) {
        auto& request = const_cast<Request&>(constRequest); // some faults forget the range
        ++storeRequests_;
        storeSawToken_ = storeSawToken_ || request.has_header("Authorization");
        std::string bytes;
        bool faulty = false;
        HubFault fault {};
        {
            const std::lock_guard guard(mutex_);
            auto& repository = repositories_[request.matches[1].str()];
            const auto older = repository.older.find(request.get_param_value("commit"));
            bytes = (older == repository.older.end() ? repository.files : older->second)[request.matches[2].str()];
            const auto next = nextFault();
            faulty = next.has_value();
            fault = next.value_or(HubFault {});
        }
        std::size_t begin = 0, end = bytes.size();
        if (!request.ranges.empty()) {
            begin = static_cast<std::size_t>(std::max<ssize_t>(0, request.ranges[0].first));
            end = std::min<std::size_t>(bytes.size(), static_cast<std::size_t>(request.ranges[0].second) + 1);
        }
        if (begin >= bytes.size() && !bytes.empty()) {
            response.status = 416;
            return;
        }
        if (faulty && (fault == HubFault::TooMany || fault == HubFault::ServerError || fault == HubFault::Expired)) {
            response.status = fault == HubFault::TooMany ? 429 : fault == HubFault::Expired ? 403 : 500;
            response.set_header("RateLimit", "\"resolvers\";r=0;t=7");
            return;
        }
        if (faulty && fault == HubFault::Stall)
            std::this_thread::sleep_for(std::chrono::seconds(3));
        const bool whole = faulty && fault == HubFault::WholeFile;
        if (whole)
            begin = 0, end = bytes.size();
        std::string part = bytes.substr(begin, end - begin);
        if (faulty && fault == HubFault::WrongBytes)
            part[part.size() / 2] = static_cast<char>(part[part.size() / 2] ^ 1);
        const bool ranged = !request.ranges.empty() && !whole;
        request.ranges.clear(); // the part is cut here
        response.status = ranged ? 206 : 200;
        if (ranged) {
            const std::size_t shown = faulty && fault == HubFault::OtherPart ? begin + 1 : begin;
            response.set_header("Content-Range",
                "bytes " + std::to_string(shown) + "-" + std::to_string(end - 1) + "/" + std::to_string(bytes.size()));
        }
        const bool cut = faulty && fault == HubFault::Cut;
        const std::size_t sent = cut ? part.size() / 2 : part.size();
        response.set_content_provider(part.size(), "application/octet-stream",
            [this, part, sent, rate = bytesPerSecond_.load()](
                std::size_t offset, std::size_t length, httplib::DataSink& sink) {
                if (offset >= sent)
                    return false; // ends the connection
                while (held_)
                    std::this_thread::sleep_for(std::chrono::milliseconds(20));
                std::size_t now = std::min(length, sent - offset);
                if (rate > 0) {
                    now = std::min(now, rate / 10);
                    std::this_thread::sleep_for(std::chrono::milliseconds(100));
                }
                const bool wrote = sink.write(part.data() + offset, now);
                storeBytes_ += wrote ? now : 0;
                return wrote;
            });
    });
}

} // namespace furrow::test
