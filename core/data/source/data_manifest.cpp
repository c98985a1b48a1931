#include "core/data/source/data_manifest.h"

#include "core/base/clock.h"
#include "core/base/format.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/csv_character.h"
#include "core/config/json_reading.h"
#include "core/data/source/changed_file.h"
#include "core/data/source/distant_source.h"
#include "core/data/source/row_rules.h"

#include <nlohmann/json.hpp>

namespace furrow {

namespace {

using nlohmann::json;

constexpr int kManifestVersion = 2; ///< raised with kRowRules
constexpr int kVersionOfAllDuplicates
    = 3; ///< only where it says something that a reader of version 2 would do otherwise
constexpr int kVersionOfFurtherSources = 4; ///< the same: files inside archives, other compressions than gzip and zstd,
                                            ///< other formats than Parquet and before
constexpr int kVersionOfWebFiles = 5; ///< the same: files of other servers than the hub
constexpr int kVersionOfConversations = 6; ///< the same: rows that are conversations
constexpr int kVersionOfChoice = 7; ///< the same: other rows repeat others, or are drawn
constexpr int kVersionOfBytes = 8; ///< the same: rows of csv and WARC (kRulesOfBytes)
constexpr int kVersionOfPairs = 9; ///< the same: rows that are pairs of answers
constexpr int kNewestVersion = kVersionOfPairs;
constexpr std::uint64_t kWholeHashBytes = 64ull << 20; ///< larger files are sampled
constexpr std::uint64_t kSampleBytes = 64ull << 10;
constexpr std::uint64_t kSamples = 32;

Result<std::string> sampledHash(const ByteSource& source)
{
    Sha256 sha;
    std::vector<std::byte> buffer(kSampleBytes);
    const std::uint64_t step = (source.sizeBytes() - kSampleBytes) / (kSamples - 1);
    for (std::uint64_t i = 0; i < kSamples; ++i) {
        FURROW_TRY(source.readAt(i * step, buffer));
        sha.update(buffer.data(), buffer.size());
    }
    return sha.hex();
}

json toJson(const CsvDialect& csv)
{
    return { { "delimiter", csvCharacterName(csv.delimiter) }, { "quote", csvCharacterName(csv.quote) },
        { "escape", csvCharacterName(csv.escape) }, { "header", csv.header } };
}

CsvDialect dialectFromJson(const JsonPart& j)
{
    const auto character = [&j](const char* key) {
        const auto named = csvCharacter(j[key].as<std::string>());
        if (!named)
            j[key].refuse(sentence("is not the name of a character"));
        return named.value_or('\0');
    };
    return { character("delimiter"), character("quote"), character("escape"), j["header"].as<bool>() };
}

json toJson(const ArchiveMember& member)
{
    json j = { { "archive", member.archive }, { "archive_bytes", member.archiveBytes },
        { "archive_compression", toString(member.archivePacking) }, { "offset", member.offset },
        { "packed_bytes", member.packedBytes }, { "compression", toString(member.packing) },
        { "size", member.sizeBytes } };
    if (member.crc32)
        j["crc32"] = *member.crc32;
    return j;
}

json toJson(const DataFile& file)
{
    json j = { { "path", file.path }, { "size", file.sizeBytes }, { "modified_ns", file.modifiedNs },
        { "sha256", file.hash }, { "whole", file.wholeHash }, { "format", toString(file.format.format) },
        { "compression", toString(file.format.compression) }, { "skip_bytes", file.format.skipBytes },
        { "rules", file.format.rules } };
    if (!file.format.encoding.empty())
        j["encoding"] = file.format.encoding;
    if (file.format.isCsv())
        j["csv"] = toJson(file.format.csv);
    if (!file.format.list.empty())
        j["list"] = file.format.list;
    if (!file.version.empty())
        j["version"] = file.version;
    if (file.fetchWhole)
        j["fetch_whole"] = true;
    if (file.member)
        j["member"] = toJson(*file.member);
    return j;
}

Compression compressionOf(const JsonPart& j)
{
    const auto name = j.as<std::string>();
    const auto* found = std::find_if(std::begin(kCompressions), std::end(kCompressions),
        [&name](Compression candidate) { return toString(candidate) == name; });
    if (found != std::end(kCompressions))
        return *found;
    j.refuse(sentence("is a compression that this Furrow does not know"));
    return Compression::None;
}

TextFormat formatOf(const JsonPart& j)
{
    const auto name = j.as<std::string>();
    const auto* found = std::find_if(std::begin(kTextFormats), std::end(kTextFormats),
        [&name](TextFormat candidate) { return toString(candidate) == name; });
    if (found != std::end(kTextFormats))
        return *found;
    j.refuse(sentence("is a format that this Furrow does not know"));
    return {};
}

ArchiveMember memberFromJson(const JsonPart& j)
{
    ArchiveMember member;
    j["archive"].to(member.archive);
    j["archive_bytes"].to(member.archiveBytes);
    member.archivePacking = compressionOf(j["archive_compression"]);
    j["offset"].to(member.offset);
    j["packed_bytes"].to(member.packedBytes);
    member.packing = compressionOf(j["compression"]);
    j["size"].to(member.sizeBytes);
    if (j.has("crc32"))
        member.crc32 = j["crc32"].as<std::uint32_t>();
    return member;
}

/// What a reader of version 3 would take for something else.
bool needsFurtherSources(const DataFile& file)
{
    const auto packing = file.format.compression;
    return file.member || file.format.format > TextFormat::Parquet
        || (packing != Compression::None && packing != Compression::Gzip && packing != Compression::Zstd);
}

int versionOf(const DataManifest& manifest)
{
    for (const auto& source : manifest.sources)
        if (isPair(source.conversation))
            return kVersionOfPairs;
    for (const auto& source : manifest.sources)
        if (std::any_of(source.files.begin(), source.files.end(),
                [](const DataFile& file) { return file.format.rules >= kRulesOfBytes; }))
            return kVersionOfBytes;
    if (manifest.trainsCopiesOfExcluded
        || std::any_of(manifest.sources.begin(), manifest.sources.end(),
            [](const DataSource& source) { return source.fractionDraw != 0; }))
        return kVersionOfChoice;
    if (manifest.chat)
        return kVersionOfConversations;
    for (const auto& source : manifest.sources)
        if (std::any_of(source.files.begin(), source.files.end(),
                [](const DataFile& file) { return isWebPath(file.pathOnDisk()); }))
            return kVersionOfWebFiles;
    for (const auto& source : manifest.sources)
        if (std::any_of(source.files.begin(), source.files.end(), needsFurtherSources))
            return kVersionOfFurtherSources;
    return manifest.skipsAllDuplicates ? kVersionOfAllDuplicates : kManifestVersion;
}

DataFile fileFromJson(const JsonPart& j)
{
    DataFile file;
    j["path"].to(file.path);
    j["size"].to(file.sizeBytes);
    j["modified_ns"].to(file.modifiedNs);
    j["sha256"].to(file.hash);
    j["whole"].to(file.wholeHash);
    file.version = j.valueOr("version", std::string());
    file.fetchWhole = j.valueOr("fetch_whole", false);
    j["skip_bytes"].to(file.format.skipBytes);
    file.format.format = formatOf(j["format"]);
    file.format.compression = compressionOf(j["compression"]);
    if (j.has("member"))
        file.member = memberFromJson(j["member"]);
    file.format.rules = j.valueOr("rules", 1); // what runs had before it was written down
    file.format.encoding = j.valueOr("encoding", std::string());
    file.format.list = j.valueOr("list", std::string());
    if (j.has("csv"))
        file.format.csv = dialectFromJson(j["csv"]);
    else if (file.format.format == TextFormat::Tsv)
        file.format.csv.delimiter = '\t';
    return file;
}

DataSource sourceFromJson(const JsonPart& j)
{
    DataSource source;
    j["spec"].to(source.spec);
    j["text_column"].to(source.textColumn);
    if (j.has("conversation")) {
        source.conversation = conversationForm(j["conversation"].as<std::string>());
        if (source.conversation == ConversationForm::None)
            j["conversation"].refuse(sentence("is a form of conversations that this Furrow does not know"));
    }
    source.fractionDraw = j.valueOr("fraction_draw", std::uint64_t { 0 });
    j["skipped"].to(source.skipped);
    j["files"].each([&source](const JsonPart& file) { source.files.push_back(fileFromJson(file)); });
    return source;
}

json toJson(const ChatFormat& chat)
{
    json tokens = json::array();
    for (const auto& [name, text] : chat.tokens)
        tokens.push_back({ name, text });
    json j { { "template", chat.source }, { "tokens", std::move(tokens) }, { "day", chat.day } };
    if (chat.readsTurnWeights)
        j["turn_weights"] = true;
    return j;
}

ChatFormat chatFromJson(const JsonPart& j)
{
    ChatFormat chat;
    j["template"].to(chat.source);
    j["day"].to(chat.day);
    chat.readsTurnWeights = j.valueOr("turn_weights", false);
    j["tokens"].each([&chat](const JsonPart& token) {
        std::vector<std::string> both;
        token.to(both);
        if (both.size() == 2)
            chat.tokens.emplace_back(both[0], both[1]);
        else
            token.refuse(sentence("is not a name with a text"));
    });
    return chat;
}

} // namespace

std::uint64_t DataSource::sizeBytes() const
{
    std::uint64_t sum = 0;
    for (const auto& file : files)
        sum += file.sizeBytes;
    return sum;
}

std::string writeManifest(const DataManifest& manifest)
{
    json sources = json::array();
    for (const auto& source : manifest.sources) {
        json files = json::array();
        for (const auto& file : source.files)
            files.push_back(toJson(file));
        sources.push_back({ { "spec", source.spec }, { "text_column", source.textColumn },
            { "files", std::move(files) }, { "skipped", source.skipped } });
        if (source.conversation != ConversationForm::None)
            sources.back()["conversation"] = toString(source.conversation);
        if (source.fractionDraw != 0)
            sources.back()["fraction_draw"] = source.fractionDraw;
    }
    json all { { "version", versionOf(manifest) }, { "sources", std::move(sources) } };
    if (manifest.skipsAllDuplicates)
        all["skips_all_duplicates"] = true;
    if (manifest.trainsCopiesOfExcluded)
        all["trains_copies_of_excluded"] = true;
    if (manifest.refusesNoTokens)
        all["refuses_no_tokens"] = true;
    if (!manifest.quarantine.empty())
        all["quarantine"] = manifest.quarantine;
    if (manifest.chat)
        all["chat"] = toJson(*manifest.chat);
    return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<DataManifest> readManifest(std::string_view text)
{
    JsonReading reading(text);
    const JsonPart j = reading.root();
    const int version = j["version"].as<int>();
    if (reading.ok() && version > kNewestVersion)
        return Error { ErrorCode::InvalidArgument,
            sentence("The data manifest of this run has version %1; this Furrow reads up to %2. Use a newer one.",
                { std::to_string(version), std::to_string(kNewestVersion) }) };
    DataManifest manifest;
    j["sources"].each([&manifest](const JsonPart& source) { manifest.sources.push_back(sourceFromJson(source)); });
    manifest.quarantine = j.valueOr("quarantine", std::string());
    manifest.refusesNoTokens = j.valueOr("refuses_no_tokens", false);
    manifest.skipsAllDuplicates = j.valueOr("skips_all_duplicates", false);
    manifest.trainsCopiesOfExcluded = j.valueOr("trains_copies_of_excluded", false);
    if (j.has("chat"))
        manifest.chat = chatFromJson(j["chat"]);
    if (!reading.ok())
        return Error { ErrorCode::Corrupt,
            sentence("The data manifest in run.json cannot be read: %1. Restore run.json from a copy of the run.",
                { reading.trouble() }) };
    return manifest;
}

std::string dataIdentity(const DataManifest& manifest, const RunConfig& config)
{
    json sources = json::array();
    for (const auto& source : manifest.sources) {
        json files = json::array();
        for (const auto& file : source.files) {
            files.push_back({ file.sizeBytes, file.hash, file.wholeHash ? 0 : file.modifiedNs, rowsKey(file.format),
                toString(file.format.compression), file.format.skipBytes });
            if (file.member)
                files.back().push_back(file.member->offset);
        }
        sources.push_back({ { "column", source.textColumn }, { "files", std::move(files) } });
        if (source.conversation != ConversationForm::None) // how it is written is no part of the data
            sources.back()["conversation"] = toString(source.conversation);
        if (source.fractionDraw != 0)
            sources.back()["fraction_draw"] = source.fractionDraw;
    }
    json all = { { "sources", std::move(sources) },
        { "mode", nameOf(config.dataMode == DataMode::Auto ? DataMode::Lines : config.dataMode) },
        { "span", config.dataMode == DataMode::Span ? config.spanBytes : 0 }, { "start", config.startSample },
        { "max", config.maxSamples } };
    if (config.fraction < 1) {
        all["fraction"] = config.fraction;
        all["seed"] = config.seed;
    }
    if (!config.dataWeights.empty())
        all["weights"] = config.dataWeights;
    if (!manifest.quarantine.empty())
        all["quarantine"] = manifest.quarantine;
    return sha256Hex(all.dump());
}

Result<DataFile> describeFile(const std::string& path)
{
    const auto local = pathFromUtf8(path);
    FURROW_TRY_ASSIGN(auto source, openLocalSource(local));
    DataFile file;
    file.path = path;
    file.sizeBytes = source->sizeBytes();
    std::error_code error;
    const auto time = std::filesystem::last_write_time(local, error);
    if (!error)
        file.modifiedNs = std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::chrono::file_clock::to_sys(time).time_since_epoch())
                              .count();
    file.wholeHash = file.sizeBytes <= kWholeHashBytes;
    FURROW_TRY_ASSIGN(auto hash, file.wholeHash ? sha256File(local) : sampledHash(*source));
    file.hash = hash;
    return file;
}

Status checkUnchanged(const DataFile& frozen)
{
    const std::string& path = frozen.pathOnDisk();
    FURROW_TRY_ASSIGN(auto now, describeFile(path));
    const auto changed = [](const Message& how) { return Error { ErrorCode::InvalidArgument, how }; };
    const auto& file = now;
    if (file.sizeBytes != frozen.bytesOnDisk())
        return changed(sentence(kFileOfOtherSize,
            { path, Count(static_cast<std::int64_t>(file.sizeBytes)),
                Count(static_cast<std::int64_t>(frozen.bytesOnDisk())) }));
    if (file.hash != frozen.hash)
        return changed(sentence(kFileOfOtherContent, { path }));
    if (!frozen.wholeHash && file.modifiedNs != frozen.modifiedNs)
        return changed(sentence(kFileWrittenLater, { path, WallTime(file.modifiedNs), WallTime(frozen.modifiedNs) }));
    return {};
}

} // namespace furrow
