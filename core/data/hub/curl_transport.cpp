#include "core/data/hub/http.h"

#include "core/base/lower_case.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <cstdlib>
#include <cctype>
#include <curl/curl.h>

namespace furrow {

namespace {

struct FreeEasy {
    void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};
struct FreeList {
    void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};

/// What the callbacks fill during one transfer.
struct Transfer {
    HttpResponse response;
    const BodySink* sink = nullptr;
    std::stop_token stop;
    bool stopped = false; ///< by the sink, or by `stop`
    bool tooLarge = false;
};

std::size_t onHeader(char* data, std::size_t size, std::size_t count, void* user) noexcept
{
    auto& transfer = *static_cast<Transfer*>(user);
    std::string_view line(data, size * count);
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r'))
        line.remove_suffix(1);
    if (line.starts_with("HTTP/")) {
        transfer.response.headers.clear();
        transfer.response.isFramed = !line.starts_with("HTTP/1") && !line.starts_with("HTTP/0");
        const auto space = line.find(' ');
        transfer.response.status = space == std::string_view::npos
            ? 0
            : std::strtol(std::string(line.substr(space + 1, 3)).c_str(), nullptr, 10);
        return size * count;
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || transfer.response.headers.size() > 200)
        return size * count;
    const std::string name = lowerCase(line.substr(0, colon));
    auto value = line.substr(colon + 1);
    while (!value.empty() && value.front() == ' ')
        value.remove_prefix(1);
    transfer.response.headers[name] = std::string(value);
    return size * count;
}

std::size_t onBody(char* data, std::size_t size, std::size_t count, void* user) noexcept
{
    auto& transfer = *static_cast<Transfer*>(user);
    const std::size_t n = size * count;
    const bool good = transfer.response.status >= 200 && transfer.response.status < 300;
    if (good && transfer.sink != nullptr && *transfer.sink) {
        if (!(*transfer.sink)(transfer.response, std::string_view(data, n))) {
            transfer.stopped = true;
            return 0;
        }
    } else if (transfer.response.body.size() + n > kMaxBody) {
        transfer.tooLarge = true;
        return 0;
    } else {
        transfer.response.body.append(data, n);
    }
    return n;
}

int onProgress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) noexcept
{
    auto& transfer = *static_cast<Transfer*>(user);
    transfer.stopped = transfer.stopped || transfer.stop.stop_requested();
    return transfer.stopped ? 1 : 0;
}

/// A line break in a value would end its header, and begin another one.
bool isOneLine(std::string_view text)
{
    return std::none_of(text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; });
}

bool canBeSent(const HttpRequest& request)
{
    return isOneLine(request.bearer.reveal()) && isOneLine(request.account.reveal())
        && std::all_of(request.headers.begin(), request.headers.end(), isOneLine);
}

class CurlTransport : public HttpTransport {
public:
    CurlTransport(const TransportLimits& limits, const TransportWay& way)
        : limits_(limits)
        , way_(way)
    {
        static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
        if (started == CURLE_OK)
            easy_.reset(curl_easy_init());
    }

    Result<HttpResponse> send(const HttpRequest& request, const BodySink& sink) override
    {
        if (!easy_)
            return Error { ErrorCode::Internal, sentence("libcurl could not be started") };
        if (!canBeSent(request))
            return Error { ErrorCode::NotFound, // as whoever lacks the secret: it says nothing of the data
                sentence(
                    "%1 is not asked: the secret that goes with the request has a line break or another control character in it. Set it again (HF_TOKEN, or the keys of the store), as one line.",
                    { printableUrl(request.url) }) };
        Transfer transfer;
        transfer.sink = &sink;
        transfer.stop = request.stop;
        auto headers = prepare(request, transfer);
        const CURLcode code = curl_easy_perform(easy_.get());
        curl_easy_setopt(easy_.get(), CURLOPT_HTTPHEADER, nullptr);
        if (transfer.stopped)
            return Error { ErrorCode::Cancelled, sentence("Reading %1 was stopped.", { printableUrl(request.url) }) };
        if (transfer.tooLarge)
            return Error { ErrorCode::InvalidArgument,
                sentence(
                    "%1 answered with more than 64 MiB where a list was expected.", { printableUrl(request.url) }) };
        if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
            return Error { ErrorCode::NotFound, // trying again at once would change nothing
                sentence(
                    "%1 cannot prove that it is this server: %2. Nothing is read from it. CURL_CA_BUNDLE names a file of further certificates to trust.",
                    { printableUrl(request.url), curl_easy_strerror(code) }) };
        if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL) // nor would it here
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 is not an address that data can be read from.", { printableUrl(request.url) }) };
        if (code != CURLE_OK)
            return Error { ErrorCode::Network, printableUrl(request.url) + ": " + curl_easy_strerror(code) };
        return std::move(transfer.response);
    }
    void dropConnections() override
    {
        if (easy_) // they are the handle's
            easy_.reset(curl_easy_init());
    }

private:
    static std::string withAccount(const HttpRequest& request)
    {
        const auto host = request.url.find("://");
        if (request.account.empty() || host == std::string::npos)
            return request.url;
        return request.url.substr(0, host + 3) + request.account.reveal() + "@" + request.url.substr(host + 3);
    }

    std::unique_ptr<curl_slist, FreeList> prepare(const HttpRequest& request, Transfer& transfer)
    {
        CURL* easy = easy_.get();
        curl_easy_reset(easy); // keeps connections
        curl_easy_setopt(easy, CURLOPT_URL, withAccount(request).c_str());
        curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(easy, CURLOPT_NOBODY, request.method == "HEAD" ? 1L : 0L);
        curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
        for (const char* variable : { "SSL_CERT_FILE", "CURL_CA_BUNDLE" }) // curl's own program heeds them
            if (const char* file = std::getenv(variable))
                curl_easy_setopt(easy, CURLOPT_CAINFO, file);
        if (!way_.certificates.empty())
            curl_easy_setopt(easy, CURLOPT_CAINFO, way_.certificates.c_str());
        if (!way_.proxy.empty())
            curl_easy_setopt(easy, CURLOPT_PROXY, way_.proxy.reveal().c_str());
        if (way_.netrc)
            curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, limits_.connectSeconds);
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, limits_.stallSeconds);
        curl_easy_setopt(easy, CURLOPT_USERAGENT, "furrow/" FURROW_VERSION);
        curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, onHeader);
        curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, onBody);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
        if (request.stop.stop_possible()) {
            curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
            curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, onProgress);
            curl_easy_setopt(easy, CURLOPT_XFERINFODATA, &transfer);
        }
        curl_slist* list = nullptr;
        if (!request.bearer.empty() && request.account.empty())
            list = curl_slist_append(list, ("Authorization: Bearer " + request.bearer.reveal()).c_str());
        if (request.range)
            list = curl_slist_append(list,
                ("Range: bytes=" + std::to_string(request.range->offset) + "-"
                    + std::to_string(request.range->offset + request.range->sizeBytes - 1))
                    .c_str());
        for (const auto& header : request.headers)
            list = curl_slist_append(list, header.c_str());
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
        return std::unique_ptr<curl_slist, FreeList>(list);
    }

    TransportLimits limits_;
    TransportWay way_;
    std::unique_ptr<CURL, FreeEasy> easy_;
};

} // namespace

std::unique_ptr<HttpTransport> curlTransport(const TransportLimits& limits, const TransportWay& way)
{
    return std::make_unique<CurlTransport>(limits, way);
}

} // namespace furrow
