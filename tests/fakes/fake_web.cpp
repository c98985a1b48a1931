#include "fake_web.h"

#include <httplib.h>
#include <optional>
#include <thread>

namespace furrow::test {

struct FakeWeb::Server {
    httplib::Server http;
    int port = 0;
    std::thread thread;
};

namespace {

/// Status and headers of an answer without its body; nothing: the file is to be sent.
bool refuses(const FakeWeb::File& file, const httplib::Request& request, httplib::Response& response)
{
    const auto colon = file.account.find(':');
    const bool isLocked = !file.account.empty()
        && request.get_header_value("Authorization")
            != httplib::make_basic_authentication_header(file.account.substr(0, colon), file.account.substr(colon + 1))
                   .second;
    const auto equals = file.query.find('=');
    const bool isUnsigned = !file.query.empty()
        && request.get_param_value(file.query.substr(0, equals).c_str()) != file.query.substr(equals + 1);
    response.status = file.status != 0 ? file.status : isLocked ? 401 : isUnsigned ? 403 : 0;
    if (response.status == 0 && !file.redirect.empty())
        response.set_redirect(file.redirect, 302);
    return response.status > 0;
}

void describe(const FakeWeb::File& file, httplib::Response& response)
{
    for (const auto& [name, value] : { std::pair("ETag", file.etag), std::pair("Last-Modified", file.modified),
             std::pair("Repr-Digest", file.digest) })
        if (!value.empty())
            response.set_header(name, value);
}

} // namespace

FakeWeb::FakeWeb()
    : server_(std::make_unique<Server>())
{
    server_->http.Get("/.*", [this](const httplib::Request& constRequest, httplib::Response& response) {
        auto& request = const_cast<httplib::Request&>(constRequest); // the part is cut here
        ++requests_;
        File file;
        {
            const std::lock_guard guard(mutex_);
            if (request.has_header("Authorization"))
                authorizations_.push_back(request.get_header_value("Authorization"));
            const auto found = files_.find(request.path);
            if (found == files_.end()) {
                response.status = 404;
                return;
            }
            if (found->second.before)
                found->second.before(found->second, asked_[request.path]++);
            file = found->second;
        }
        if (refuses(file, request, response)) {
            response.body = file.bytes;
            return;
        }
        describe(file, response);
        std::size_t begin = 0, end = file.bytes.size();
        const bool isPart = file.ranges && !request.ranges.empty();
        if (isPart) {
            begin = static_cast<std::size_t>(std::max<ssize_t>(0, request.ranges[0].first));
            end = std::min<std::size_t>(end, static_cast<std::size_t>(request.ranges[0].second) + 1);
        }
        request.ranges.clear();
        if (isPart && begin >= file.bytes.size()) {
            response.status = 416;
            return;
        }
        response.status = isPart ? 206 : 200;
        if (isPart)
            response.set_header("Content-Range",
                "bytes " + std::to_string(begin) + "-" + std::to_string(end - 1) + "/"
                    + std::to_string(file.bytes.size() + file.lie));
        if (isPart && file.hollow)
            return;
        const std::string part = file.bytes.substr(begin, end - begin);
        const bool isCut = part.size() > 1 && cuts_ > 0 && cuts_-- > 0;
        const std::size_t sent = isCut ? part.size() / 2 : part.size();
        const auto give
            = [this, part, sent, rate = bytesPerSecond_.load()](std::size_t offset, httplib::DataSink& sink) {
                  if (offset >= sent)
                      return false;
                  std::size_t now = std::min<std::size_t>(64 << 10, sent - offset);
                  if (rate > 0) {
                      now = std::min(now, rate / 10);
                      std::this_thread::sleep_for(std::chrono::milliseconds(100));
                  }
                  const bool wrote = sink.write(part.data() + offset, now);
                  served_ += wrote ? now : 0;
                  return wrote;
              };
        if (file.saysLength)
            response.set_content_provider(part.size(), "application/octet-stream",
                [give](std::size_t offset, std::size_t, httplib::DataSink& sink) { return give(offset, sink); });
        else
            response.set_chunked_content_provider(
                "application/octet-stream", [give, size = part.size()](std::size_t offset, httplib::DataSink& sink) {
                    if (offset < size)
                        return give(offset, sink);
                    sink.done();
                    return true;
                });
    });
    server_->port = server_->http.bind_to_any_port("127.0.0.1");
    server_->thread = std::thread([this] { server_->http.listen_after_bind(); });
    while (!server_->http.is_running())
        std::this_thread::yield();
}

FakeWeb::~FakeWeb()
{
    server_->http.stop();
    server_->thread.join();
}

std::string FakeWeb::origin() const { return "http://127.0.0.1:" + std::to_string(server_->port); }

void FakeWeb::put(const std::string& path, File file)
{
    const std::lock_guard guard(mutex_);
    files_[path] = std::move(file);
}

std::vector<std::string> FakeWeb::authorizations() const
{
    const std::lock_guard guard(mutex_);
    return authorizations_;
}

} // namespace furrow::test
