// Whatever a hub answers (revision, tree, headers, README metadata): refused or read, never a crash, never a path
// outside.

#include "core/base/check.h"
#include "core/data/hub/hub_client.h"
#include "tests/fuzz/fuzz_seeds.h"

using namespace furrow;

namespace {

/// Answers every request with the same bytes, as body and as the interesting headers.
class HostileTransport : public HttpTransport {
public:
    explicit HostileTransport(std::string_view bytes)
        : bytes_(bytes)
    {
    }
    Result<HttpResponse> send(const HttpRequest& request, const BodySink& sink) override
    {
        HttpResponse response { 200, {}, std::string(bytes_) };
        const std::string line(bytes_.substr(0, bytes_.find('\n')));
        for (const char* name :
            { "link", "x-linked-etag", "x-linked-size", "content-range", "ratelimit", "retry-after" })
            response.headers[name] = line;
        if (request.method == "HEAD") {
            response.status = 302;
            response.headers["location"] = line;
        }
        if (sink)
            sink(response, bytes_);
        return response;
    }

private:
    std::string_view bytes_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    RetryPolicy once;
    once.attempts = 1;
    once.wait = [](double, const std::string&) { return false; };
    HubClient client({}, std::make_unique<HostileTransport>(text), once);
    (void)client.resolveRevision("o/n", "main");
    const auto tree = client.tree("o/n", std::string(40, 'a'));
    (void)client.read(
        "o/n", std::string(40, 'a'), { "a.txt", 10, "", "" }, { 2, 5 }, [](std::string_view) { return true; });
    (void)parseHubSpec("hf://" + std::string(text.substr(0, 200)));
    (void)parseHubAddress(text);
    HubSpec spec;
    spec.repository = "o/n";
    const std::vector<HubFile> usual { { "data/train-0.parquet", 5, "", "" }, { "en/a.jsonl", 5, "", "" } };
    for (const auto& files : { tree.ok() ? tree.value() : usual, usual }) {
        const auto choice = chooseHubFiles(spec, files, text);
        for (const auto& file : choice.ok() ? choice.value().files : std::vector<HubFile> {})
            FURROW_CHECK(("/" + file.path + "/").find("/../") == std::string::npos && !file.path.starts_with("/"),
                "a path leaves the repository");
    }
    return 0;
}

std::vector<std::string> fuzzSeeds()
{
    return {
        R"([{"type":"file","path":"data/train-0.parquet","size":5,"oid":"ab","lfs":{"oid":"cd","size":5}},{"type":"file","path":"../a.txt","size":1}])",
        R"({"sha":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})", "<https://h/a?cursor=2>; rel=\"next\"\n",
        "bytes 2-6/10\n", "\"resolvers\";r=0;t=7\n",
        "---\nconfigs:\n- config_name: en\n  default: true\n  data_files:\n  - split: train\n    path:\n    - en/*.jsonl\n    - ../x\n---\n# T\n",
        "o/n:en:train@main"
    };
}
