#include "core/libtorch/package_index.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr int kMostRedirects = 5;
constexpr std::size_t kMostLinks = 100'000;
constexpr std::size_t kMostPageBytes = 16u << 20;
constexpr std::string_view kHashMark = "sha256=";

std::string withoutEntities(std::string_view text)
{
    std::string out(text);
    for (const auto& [entity, letter] : { std::pair("&amp;", "&"), std::pair("&#x2B;", "+"), std::pair("&#43;", "+") })
        for (auto at = out.find(entity); at != std::string::npos; at = out.find(entity, at + 1))
            out.replace(at, std::string_view(entity).size(), letter);
    return out;
}

std::string decoded(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto digit = [&](std::size_t at) {
            return at < text.size() ? std::string_view("0123456789abcdef").find(static_cast<char>(text[at] | 0x20))
                                    : std::string_view::npos;
        };
        const auto high = digit(i + 1), low = digit(i + 2);
        if (text[i] == '%' && high < 16 && low < 16) {
            out += static_cast<char>(high * 16 + low);
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

bool isFor(const WheelSource& wheel, const PinnedPackage& package)
{
    const auto name = parseWheelName(wheel.name);
    return name.package == package.name && name.version == package.version && name.fitsHere()
        && (wheel.sha256.empty() || package.allows(wheel.sha256));
}

Error refused(const std::string& address, long status)
{
    if (status == 401 || status == 403)
        return { ErrorCode::InvalidArgument,
            sentence(
                "%1 asks for an account (HTTP %2). Give it as pip takes it: in PIP_INDEX_URL or pip.conf, https://name:password@host.",
                { address, std::to_string(status) }) };
    return { ErrorCode::Network, sentence("%1 answers with HTTP %2.", { address, std::to_string(status) }) };
}

} // namespace

std::vector<WheelSource> readIndexPage(std::string_view html, const IndexAddress& page)
{
    std::vector<WheelSource> found;
    for (auto at = html.find("href"); at != std::string_view::npos && found.size() < kMostLinks;
        at = html.find("href", at + 1)) {
        const auto open = html.find_first_of("\"'>", at);
        if (open == std::string_view::npos || html[open] == '>')
            continue;
        const auto close = html.find(html[open], open + 1);
        if (close == std::string_view::npos)
            break;
        const std::string link = withoutEntities(html.substr(open + 1, close - open - 1));
        WheelSource wheel;
        if (const auto mark = link.find(kHashMark); mark != std::string::npos && mark > link.find('#'))
            wheel.sha256 = link.substr(mark + kHashMark.size(), 64);
        const std::string plain = link.substr(0, link.find('#'));
        wheel.from = { resolveUrl(page.address, plain), page.account };
        const std::string path = plain.substr(0, plain.find('?'));
        wheel.name = decoded(path.substr(path.rfind('/') + 1));
        if (isPlainName(wheel.name) && !originOf(wheel.from.address).empty())
            found.push_back(std::move(wheel));
    }
    return found;
}

std::vector<WheelSource> wheelsIn(const std::filesystem::path& folder, const PinnedPackage& package)
{
    std::vector<WheelSource> found;
    const auto entries = entriesOf(folder);
    for (const auto& path : entries.ok() ? entries.value() : std::vector<std::filesystem::path>()) {
        std::error_code error;
        WheelSource wheel { utf8Text(path.filename()), path, {}, {}, std::filesystem::file_size(path, error) };
        if (!error && isFor(wheel, package))
            found.push_back(std::move(wheel));
    }
    return found;
}

Result<HttpResponse> fetchFrom(HttpTransport& transport, const RetryPolicy& retry, const IndexAddress& from,
    const std::string& method, const std::function<std::uint64_t()>& resume, const BodySink& sink)
{
    std::string url = from.address;
    std::uint64_t before = 0;
    for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
        const auto make = [&] {
            HttpRequest request;
            request.method = method;
            request.url = url;
            if (originOf(url) == originOf(from.address))
                request.account = from.account;
            before = resume ? resume() : 0;
            if (before > 0)
                request.headers.push_back("Range: bytes=" + std::to_string(before) + "-");
            return request;
        };
        auto answer = sendWithRetry(transport, make, sink, retry, [&] { return resume && resume() > before; });
        if (!answer.ok() || answer.value().status < 300 || answer.value().status >= 400)
            return answer;
        url = resolveUrl(url, answer.value().header("location"));
        if (originOf(url).empty())
            return Error { ErrorCode::Network,
                sentence("%1 redirects to something that is not an address.", { printableUrl(from.address) }) };
    }
    return Error { ErrorCode::Network, sentence("%1 redirects without end.", { printableUrl(from.address) }) };
}

PackageIndex::PackageIndex(PipSettings settings, HttpTransport& transport, RetryPolicy retry)
    : settings_(std::move(settings))
    , transport_(transport)
    , retry_(std::move(retry))
{
}

Status PackageIndex::lookIn(const IndexAddress& page, const PinnedPackage& package, std::vector<WheelSource>& found)
{
    std::string html;
    const BodySink sink = [&](const HttpResponse&, std::string_view piece) {
        html += piece;
        return html.size() <= kMostPageBytes;
    };
    FURROW_TRY_ASSIGN(const auto answer, fetchFrom(transport_, retry_, page, "GET", {}, sink));
    if (answer.status == 404)
        return {};
    if (answer.status != 200)
        return refused(printableUrl(page.address), answer.status);
    for (auto& wheel : readIndexPage(html, page)) {
        if (originOf(wheel.from.address) != originOf(page.address))
            wheel.from.account = Secret();
        if (isFor(wheel, package))
            found.push_back(std::move(wheel));
    }
    return {};
}

Result<WheelSource> PackageIndex::find(const PinnedPackage& package)
{
    std::vector<WheelSource> found;
    std::string places;
    const auto looked = [&](const std::string& place) { places += (places.empty() ? "" : ", ") + place; };
    for (const auto& folder : settings_.folders) {
        looked(folder);
        for (auto& wheel : wheelsIn(pathFromUtf8(folder), package))
            found.push_back(std::move(wheel));
    }
    Status trouble;
    auto pages = settings_.pages;
    for (const auto& index : settings_.indexes)
        pages.push_back({ index.address + package.name + "/", index.account });
    for (auto page = pages.begin(); found.empty() && page != pages.end(); ++page) {
        looked(printableUrl(page->address));
        if (auto asked = lookIn(*page, package, found); !asked.ok() && trouble.ok())
            trouble = asked;
    }
    if (!found.empty())
        return *std::min_element(
            found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    if (!trouble.ok())
        return Error { trouble.error().code,
            sentence(
                "%1 %2 cannot be fetched: %3. Without a network, `furrowctl torch install --from FOLDER` takes a folder of wheels that were fetched elsewhere.",
                { package.name, package.version, trouble.error().message }) };
    return Error { ErrorCode::NotFound,
        sentence(
            "No wheel of %1 %2 for this computer with a pinned hash is in %3. The index is the one that pip is configured for; PIP_INDEX_URL names another one, `furrowctl torch install --from FOLDER` takes a folder of wheels.",
            { package.name, package.version, places.empty() ? "any place (no-index)" : places }) };
}

} // namespace furrow
