#pragma once

#include "core/data/source/byte_source.h"
#include "core/data/hub/bucket_list.h"
#include "core/data/hub/http.h"
#include "core/data/hub/hub_spec.h"
#include "core/data/hub/transfers.h"
#include "core/data/hub/web_requests.h"

#include <atomic>
#include <mutex>

namespace furrow {

/// What the repositories are that a client asks for; the hub keeps them apart.
enum class HubKind { Datasets, Models };

/// Where the hub is and who asks. Read from the environment once.
struct HubSettings {
    HubKind kind = HubKind::Datasets;
    std::string endpoint = "https://huggingface.co"; ///< without an account
    Secret account; ///< "name:password" that HF_ENDPOINT had in it; a mirror behind a password is asked with it, not
                    ///< with the token
    Secret token;
    bool offline = false;
    WebSecrets web;

    /// HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH, HF_HOME, HF_HUB_DISABLE_IMPLICIT_TOKEN, HF_HUB_OFFLINE, WebSecrets. A
    /// token is sent to an endpoint other than huggingface.co only when HF_TOKEN names it explicitly.
    static HubSettings fromEnvironment();
};

/// One file as the hub serves it now.
struct ResolvedFile {
    std::string url; ///< where the bytes are; signed and short-lived, never stored or logged; "": at its own address
    std::string etag; ///< SHA-256 for large files, else git's name of the content
    std::uint64_t sizeBytes = 0;
    WebState web; ///< of a file outside of the hub
};

/// "hf://owner/name@commit/path", as manifests keep it; outside of the hub `path` alone: "https://host/file".
struct HubAddress {
    std::string repository;
    std::string commit;
    std::string path;
    bool isWeb() const { return repository.empty(); }
};

struct HubTraffic {
    std::uint64_t requests = 0;
    std::uint64_t bodyBytes = 0;
};

/// How many ranges are fetched at once unless the setting hub_transfers says otherwise.
inline constexpr int kHubTransfers = 4;

/// Fetches files of the Hugging Face hub, whose protocol it speaks, and of other servers. Thread-safe: one question at
/// a time, and of one file as many ranges at once as it has transports, so that one machine is one polite downloader.
/// Errors name the repository and what to do; no token or signature appears in them.
class HubClient {
public:
    HubClient(HubSettings settings, std::unique_ptr<HttpTransport> transport, RetryPolicy retry = {});
    /// @param transfers  at most so many at once, >= 1
    HubClient(HubSettings settings, const TransportMaker& transport, int transfers, RetryPolicy retry = {});

    /// The 40-hex commit of a branch, tag or commit.
    Result<std::string> resolveRevision(const std::string& repository, const std::string& revision);
    /// All files of a commit.
    Result<std::vector<HubFile>> tree(const std::string& repository, const std::string& commit);
    /// A small text file, such as README.md; "" when the repository has none.
    Result<std::string> readSmall(const std::string& repository, const std::string& commit, const std::string& path);
    /// What the server of a file outside of the hub says of it now.
    Result<WebState> look(const std::string& address);
    /// The objects of a store whose keys begin as that of the folder, in the store's order. At most `most`, else
    /// InvalidArgument.
    Result<std::vector<StoreObject>> list(const StoreAddress& folder, std::size_t most);
    /// All of a file outside of the hub whose server says too little to ask for parts.
    /// @param begin  called before each try: bytes come from the first one on again
    Result<WebState> readWhole(const std::string& address, const std::function<Status()>& begin,
        const std::function<bool(std::string_view)>& sink);
    /// How a file outside of the hub was found to be another one than was asked for; "": it was not.
    std::string whyChanged(const std::string& address) const;
    /// The same, found by somebody else.
    Error changed(const std::string& address, const std::string& how);

    /// Bytes [offset, offset + size) of a file; goes on where a broken transfer stopped, resolves anew when a signed
    /// address has run out. The pieces arrive in order, once.
    /// @param sink  false stops the transfer (Cancelled)
    /// InvalidArgument: a file outside of the hub is another one now.
    Status read(const std::string& repository, const std::string& commit, const HubFile& file, ByteRange range,
        const std::function<bool(std::string_view)>& sink);
    /// Several ranges of a file, as many at once as there may be transfers. See transferParts for the order in which
    /// bytes reach the sink.
    Status readParts(const std::string& repository, const std::string& commit, const HubFile& file,
        std::span<const ByteRange> parts, const PartSink& sink);
    HubKind kind() const { return settings_.kind; }
    /// At once, at most.
    std::size_t transfers() const { return transports_.size(); }

    /// Waits as between two tries; false: give up. Waits for no transfer.
    bool wait(double seconds, const Message& why) const;
    /// Waits for no transfer.
    HubTraffic traffic() const;

private:
    using Address = std::string; ///< "repository@commit/path"

    /// With token and account where `url` is the hub's.
    HttpRequest request(const char* method, const std::string& url) const;
    Status mayAskTheHub() const;
    Result<HttpResponse> get(const std::string& url);
    /// Follows redirects inside the hub (renamed repositories), without a body.
    Result<ResolvedFile> resolve(const HubAddress& address, const HubFile& file, const TransferLane& lane);
    Result<ResolvedFile> resolved(const HubAddress& address, const HubFile& file, const TransferLane& lane);
    Result<ResolvedFile> resolveWeb(const std::string& address, const TransferLane& lane, std::uint64_t knownBytes = 0);
    HttpRequest requestFor(const HubAddress& address, const std::string& url) const;
    /// The file is not where it was said to be; asked anew when it is needed.
    void forgetAddress(const Address& address, const std::string& url);
    Status readPart(const HubAddress& address, const HubFile& file, const ByteRange& range, const TransferLane& lane,
        const std::function<bool(std::string_view)>& sink);
    Error refusal(const HttpResponse& response, const std::string& repository) const;
    bool isHub(const std::string& url) const;
    std::string apiOf(const std::string& repository) const;
    std::string pageOf(const std::string& repository) const;
    std::string viaEndpoint(const std::string& url) const;
    Result<HttpResponse> send(const std::function<HttpRequest()>& make, const BodySink& sink, const TransferLane& lane,
        const std::function<bool()>& progressed = {});

    HubSettings settings_;
    RetryPolicy retry_;
    mutable std::recursive_mutex mutex_;
    std::atomic<std::uint64_t> requests_ { 0 };
    std::atomic<std::uint64_t> bodyBytes_ { 0 };
    std::vector<std::unique_ptr<HttpTransport>> transports_; ///< guarded by mutex_: used by one question at a time
    std::mutex addressMutex_; ///< while a file is being resolved too, so that one lane asks
    std::map<Address, ResolvedFile> addresses_; ///< guarded by addressMutex_
    WebRequests web_;
    mutable std::mutex changedMutex_;
    std::map<std::string, std::string> changed_; ///< guarded by changedMutex_; address -> how it differs
};

/// The client of this process, made from the environment at the first call.
const std::shared_ptr<HubClient>& sharedHubClient();
/// Another client from now on: with another patience, or in a test.
void setSharedHubClient(std::shared_ptr<HubClient> client);

std::string toString(const HubAddress& address);
Result<HubAddress> parseHubAddress(std::string_view text);

class HubPieces;
/// What a file is opened for: its rows, or only to see what it is, where its beginning comes by pieces as small as what
/// is asked for. Whoever reads on finds them, and asks for the rest alone.
enum class HubReading { Rows, Beginning };
/// A file of the hub, read by ranges. Of Parquet what is asked for, and stretches of it by pieces; of others pieces, so
/// that the small reads of a parser are few requests. No byte is asked for twice while reading in order.
/// @param pieces  asked before the hub, and kept there; null: none are kept
std::shared_ptr<const ByteSource> hubSource(std::shared_ptr<HubClient> client, const HubAddress& address,
    const HubFile& file, std::shared_ptr<HubPieces> pieces, HubReading reading = HubReading::Rows);

} // namespace furrow
