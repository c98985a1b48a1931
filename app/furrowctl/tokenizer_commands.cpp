// tokenize, tokenizer train: ids of a file and back, and a vocabulary of one's own.

#include "app/furrowctl/command.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/sentence.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/plan/each_row.h"
#include "core/data/plan/inspect.h"
#include "core/data/tokenizer/bpe_trainer.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/folder/run_paths.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <iostream>
#include <optional>

namespace furrow::ctl {

namespace {

constexpr std::uint64_t kMaxTokenizeBytes = 4ull << 30;

struct TokenizeOptions {
    std::string tokenizer = "gpt2";
    std::string file;
    std::string out;
    bool ids = false;
    bool decode = false;
};

int write(const TokenizeOptions& o, const std::string& bytes)
{
    if (o.out.empty()) {
        std::cout << bytes << std::flush;
        return std::cout.good() ? kDone : kFailed;
    }
    if (auto isNew = checkNewFile(o.out); !isNew.ok())
        return fail(isNew.error());
    const auto status = writeNewFile(realFileSystem(), pathFromUtf8(o.out), bytes);
    return status.ok() ? kDone : fail(status.error());
}

/// A JSON array of numbers, read without keeping a value per number.
Result<std::vector<TokenId>> readIds(std::string_view text, const std::string& file)
{
    const Error wrong { ErrorCode::InvalidArgument, sentence("%1 is not a JSON array of token ids.", { file }) };
    const auto skipSpace = [&text] { text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size())); };
    const auto take = [&](char c) {
        skipSpace();
        const bool there = text.starts_with(c);
        text.remove_prefix(there ? 1 : 0);
        return there;
    };
    std::vector<TokenId> ids;
    if (!take('['))
        return wrong;
    if (!take(']')) {
        do {
            skipSpace();
            TokenId id = 0;
            const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), id);
            if (failed != std::errc {})
                return wrong;
            text.remove_prefix(static_cast<std::size_t>(end - text.data()));
            ids.push_back(id);
        } while (take(','));
        if (!take(']'))
            return wrong;
    }
    skipSpace();
    if (!text.empty())
        return wrong;
    return ids;
}

int decodeIds(const TokenizeOptions& o, const Tokenizer& tokenizer, const std::string& text)
{
    auto ids = readIds(text, o.file);
    if (!ids.ok())
        return fail(ids.error());
    for (const auto id : ids.value())
        if (id >= tokenizer.vocabularySize())
            return failUsage(sentence("%1 has the id %2; the vocabulary of %3 ends at %4.",
                { o.file, std::to_string(id), o.tokenizer, std::to_string(tokenizer.vocabularySize() - 1) }));
    return write(o, tokenizer.decode(ids.value()));
}

int tokenize(const TokenizeOptions& o)
{
    auto tokenizer = loadTokenizer(o.tokenizer);
    if (!tokenizer.ok())
        return fail(tokenizer.error());
    auto text = readFile(pathFromUtf8(o.file), kMaxTokenizeBytes);
    if (!text.ok())
        return fail(text.error());
    if (o.decode)
        return decodeIds(o, *tokenizer.value(), text.value());
    std::vector<TokenId> ids;
    if (auto encoded = tokenizer.value()->encode(text.value(), ids); !encoded.ok())
        return fail(encoded.error());
    if (!o.ids) {
        std::cout << formatCount(static_cast<std::int64_t>(ids.size())) << " tokens for "
                  << formatBytes(text.value().size()) << ", tokenizer " << o.tokenizer << ", vocabulary "
                  << formatCount(tokenizer.value()->vocabularySize());
        if (const auto dropped = tokenizer.value()->dropped(text.value(), false); dropped > 0)
            std::cout << "; " << formatCount(dropped) << " characters have no token and are dropped";
        std::cout << std::endl;
        return kDone;
    }
    std::string json = "[";
    for (std::size_t i = 0; i < ids.size(); ++i)
        json.append(i == 0 ? "" : ",").append(std::to_string(ids[i]));
    return write(o, json + "]\n");
}

struct TrainOptions {
    SettingOptions settings;
    std::string workspace = defaultWorkspace();
    BpeTrainingOptions bpe;
    std::string out = "tokenizer.json";
    std::uint64_t mostBytes = 1ull << 30;
    bool json = false;
};

int trainTokenizer(const TrainOptions& o)
{
    RunConfig config;
    if (const auto problems = o.settings.apply(config); !problems.empty())
        return failUsage(toString(problems), o.json);
    if (auto isNew = checkNewFile(o.out); !isNew.ok())
        return fail(isNew.error(), o.json);
    const KeepHubPieces kept(cacheOfWorkspace(pathFromUtf8(o.workspace)), config.cacheGiB);
    auto data = inspectData(config);
    if (!data.ok())
        return fail(data.error(), o.json);
    std::optional<StopRequest> interrupt(std::in_place, false);
    BpeTrainer trainer;
    std::uint64_t bytes = 0;
    std::int64_t samples = 0;
    const auto walked = forEachText(config, data.value().manifest, [&](std::string_view text) {
        trainer.add(text);
        bytes += text.size();
        ++samples;
        return bytes < o.mostBytes && !interrupt->requested();
    });
    if (!walked.ok())
        return fail(walked.error(), o.json);
    if (interrupt->requested())
        return fail({ ErrorCode::Cancelled, sentence("Stopped before the tokenizer was trained.") }, o.json);
    interrupt.reset(); // what follows is long, asks nobody, and has written nothing that Ctrl+C could leave half done
    auto definition = trainer.train(o.bpe);
    if (!definition.ok())
        return fail(definition.error(), o.json);
    auto tokenizer = loadTokenizerDefinition(definition.value(), o.out);
    if (!tokenizer.ok())
        return fail(tokenizer.error(), o.json);
    if (auto status = writeNewFile(realFileSystem(), pathFromUtf8(o.out), definition.value()); !status.ok())
        return fail(status.error(), o.json);
    const auto size = tokenizer.value()->vocabularySize();
    if (o.json)
        print({ { "file", o.out }, { "vocabulary", size }, { "samples", samples }, { "bytes", bytes },
            { "hash", tokenizer.value()->hash() } });
    else
        std::cout << o.out << ": " << formatCount(size) << " tokens, learnt from " << formatCount(samples)
                  << " samples (" << formatBytes(bytes) << ")"
                  << (size < o.bpe.vocabularySize ? "; no more pairs occur " + std::to_string(o.bpe.minCount) + " times"
                                                  : "")
                  << ".\nTrain with it: --tokenizer " << o.out << std::endl;
    return kDone;
}

} // namespace

void addTokenizerCommands(CLI::App& app, Chosen& chosen)
{
    auto to = std::make_shared<TokenizeOptions>();
    auto* tok = app.add_subcommand("tokenize", "Count or print the tokens of a file.");
    tok->add_option("--tokenizer", to->tokenizer, "byte, gpt2, or the path of a tokenizer.json or .model.")
        ->capture_default_str();
    auto* ids = tok->add_flag("--ids", to->ids, "Print the ids as one JSON array.");
    tok->add_flag("--decode", to->decode, "The file is such an array: print its text.")->excludes(ids);
    tok->add_option("--out", to->out, "Write to this file instead.");
    tok->add_option("file", to->file, "File to read.")->required();
    tok->callback([&chosen, to] { chosen.action = [to] { return tokenize(*to); }; });

    auto* tokenizer = app.add_subcommand("tokenizer", "Make tokenizers.");
    tokenizer->require_subcommand(1);
    auto tr = std::make_shared<TrainOptions>();
    auto* training
        = tokenizer->add_subcommand("train", "Learn a byte-level BPE from a data set and write it as tokenizer.json.");
    training->add_option("--size", tr->bpe.vocabularySize, "Tokens of the vocabulary: 256 bytes, merges, end-of-text.")
        ->capture_default_str();
    training->add_option("--min-count", tr->bpe.minCount, "Pairs that occur fewer times are not merged.")
        ->capture_default_str()
        ->check(kFromOne);
    training->add_option("--out", tr->out, "File to write.")->capture_default_str();
    training
        ->add_option("--workspace", tr->workspace,
            "Folder whose cache keeps what is fetched, so that a run need not fetch it again.")
        ->capture_default_str();
    training->add_option("--most-bytes", tr->mostBytes, "Read at most so much text.")
        ->capture_default_str()
        ->check(kFromOne);
    training->add_flag("--json", tr->json, "Print JSON.");
    tr->settings.addTo(*training, false);
    training->callback([&chosen, tr] { chosen.action = [tr] { return trainTokenizer(*tr); }; });
}

} // namespace furrow::ctl
