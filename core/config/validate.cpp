// Combinations of settings that cannot work, each with a value that would. Ranges first, then each rule in one line of
// its own. Settings stand in the sentences by their keys; the console says their labels.

#include "core/base/sentence.h"
#include "core/config/chunk_name.h"
#include "core/config/csv_character.h"
#include "core/config/gaussian_privacy.h"
#include "core/config/kept_text.h"
#include "core/config/schema.h"
#include "core/config/secret_address.h"

#include <algorithm>
#include <charconv>

namespace furrow {

namespace {

struct Rules {
    const RunConfig& c;
    std::vector<ConfigProblem>& problems;

    void refuse(const char* key, Message message, std::string fix = {})
    {
        problems.push_back({ key, std::move(message), std::move(fix) });
    }

    void noSecret(const char* key, const std::string& source)
    {
        if (auto why = whySecretAddress(key, source); !why.empty())
            refuse(key, std::move(why));
    }

    std::string valueOf(const char* key) const { return settingText(c, *findSetting(key)); }

    Message atMost(const char* key, const char* limit) const
    {
        return sentence("%1 is %2, allowed is at most %3, which is %4.",
            { settingTerm(key), valueOf(key), settingTerm(limit), valueOf(limit) });
    }

    /// The same for what somebody pasted in place of a name or a prompt.
    void noSecrets()
    {
        const auto secrets = secretVariables();
        for (const auto& s : settings()) {
            const std::string text = settingText(c, s);
            const bool isSource = s.key == "data" || s.key == "eval_data"; // noSecret() says what to do
            if (auto why = isSource ? whyVariableNotKept(text, settingTerm(s.key), secrets)
                                    : whyNotKept(text, settingTerm(s.key), secrets);
                !why.empty())
                refuse(s.key.c_str(), std::move(why));
        }
    }

    void data()
    {
        if (c.data.empty())
            refuse("data",
                sentence("%1 is empty, allowed is at least one file, folder, hf://, https://, s3:// or gs:// source.",
                    { settingTerm("data") }));
        for (const auto& source : c.data) {
            noSecret("data", source);
            if (source.empty())
                refuse("data", sentence("%1 has an empty name. Is a variable not set?", { settingTerm("data") }));
        }
        noSecret("eval_data", c.evalData);
        if (c.tokenizer.empty())
            refuse("tokenizer",
                sentence("%1 is empty, allowed is byte, char, gpt2 or the path of a tokenizer.json.",
                    { settingTerm("tokenizer") }),
                "byte");
        if (c.chunkSamples > c.samplesPerBlock)
            refuse("chunk_samples", atMost("chunk_samples", "samples_per_block"), std::to_string(c.samplesPerBlock));
        if (c.maxChars > 0 && c.maxChars < c.minChars)
            refuse("max_chars",
                sentence("%1 is %2, below %3 %4: every sample would be filtered.",
                    { settingTerm("max_chars"), std::to_string(c.maxChars), settingTerm("min_chars"),
                        std::to_string(c.minChars) }),
                "0");
        if (!c.dataWeights.empty() && c.dataWeights.size() != c.data.size())
            refuse("data_weights",
                sentence("%1 has %2 numbers for %3 sources, allowed is one for each or none.",
                    { settingTerm("data_weights"), std::to_string(c.dataWeights.size()),
                        std::to_string(c.data.size()) }));
        for (const auto& weight : c.dataWeights)
            if (!isPositiveNumber(weight))
                refuse("data_weights",
                    sentence("%1 has '%2', allowed are numbers above 0.", { settingTerm("data_weights"), weight }),
                    "1");
        if (!c.startAt.empty() && !parseChunkName(c.startAt))
            refuse("start_at",
                sentence("%1 is '%2', allowed is BLOCK:CHUNK, both from 0, such as 3:17.",
                    { settingTerm("start_at"), c.startAt }),
                "0:0");
        if (c.dataMode == DataMode::Stream && c.data.size() > 1)
            refuse("data",
                sentence("%1 names several sources, %2 stream takes one file.",
                    { settingTerm("data"), settingTerm("data_mode") }));
    }

    void csv()
    {
        for (const auto& [key, value] : { std::pair { "csv_delimiter", &c.csvDelimiter }, { "csv_quote", &c.csvQuote },
                 { "csv_escape", &c.csvEscape } })
            if (*value != "auto" && !csvCharacter(*value))
                refuse(key,
                    sentence(
                        "%1 is %2, allowed is auto, none, comma, semicolon, tab, pipe, space or one ASCII character.",
                        { settingTerm(key), value->empty() ? "empty" : *value }),
                    "auto");
        if (csvCharacter(c.csvDelimiter) == '\0')
            refuse("csv_delimiter",
                sentence("%1 is none, but the fields of a csv file need something between them.",
                    { settingTerm("csv_delimiter") }),
                "auto");
        if (csvCharacter(c.csvDelimiter) && csvCharacter(c.csvDelimiter) == csvCharacter(c.csvQuote))
            refuse("csv_quote",
                sentence("%1 is the same character as %2.", { settingTerm("csv_quote"), settingTerm("csv_delimiter") }),
                "auto");
    }

    void model()
    {
        const bool hasHeadWidth = !c.shape.empty(); // of its own; core/model has the rules then
        if (!hasHeadWidth && c.width % c.heads != 0)
            refuse("heads",
                sentence("%1 is %2, which does not divide %3 %4.",
                    { settingTerm("heads"), std::to_string(c.heads), settingTerm("width"), std::to_string(c.width) }),
                std::to_string(largestDivisor(c.width, c.heads)));
        else if (!hasHeadWidth && c.positions == Positions::Rotary && (c.width / c.heads) % 2 != 0)
            refuse("heads",
                sentence("%1 is %2: rotary positions need an even head size, width / heads is %3.",
                    { settingTerm("heads"), std::to_string(c.heads), std::to_string(c.width / c.heads) }));
        if (c.kvHeads > 0 && c.heads % c.kvHeads != 0)
            refuse("kv_heads",
                sentence("%1 is %2, which does not divide %3 %4.",
                    { settingTerm("kv_heads"), std::to_string(c.kvHeads), settingTerm("heads"),
                        std::to_string(c.heads) }),
                "0");
        if (c.moeExperts == 1)
            refuse("moe_experts",
                sentence("%1 is 1, allowed is 0 (no experts) or 2 to 256.", { settingTerm("moe_experts") }), "0");
        if (c.moeExperts > 1 && c.moeActive > c.moeExperts)
            refuse("moe_active", atMost("moe_active", "moe_experts"), std::to_string(c.moeExperts));
        if (c.loraRank > 0 && (c.architecture != Architecture::Gpt || c.moeExperts > 0))
            refuse("lora_rank",
                sentence("%1 is %2, which works with architecture gpt without experts only.",
                    { settingTerm("lora_rank"), std::to_string(c.loraRank) }),
                "0");
        if (c.loraRank > 0 && c.initFrom.empty())
            refuse("lora_rank",
                sentence(
                    "%1 is %2, but there are no weights to keep as they are: the pairs would be trained beside random ones. Name the weights with %3.",
                    { settingTerm("lora_rank"), std::to_string(c.loraRank), settingTerm("init_from") }),
                "0");
        if (c.loraRank > c.width)
            refuse("lora_rank", atMost("lora_rank", "width"), "8");
        if (c.architecture == Architecture::Hrm && c.dropout > 0)
            refuse("dropout", sentence("%1 is %2, but hrm has none.", { settingTerm("dropout"), valueOf("dropout") }),
                "0");
        if (c.architecture == Architecture::Hrm && c.recompute)
            refuse("recompute",
                sentence(
                    "%1 is on, which works with architecture gpt only; hrm keeps the activations of one step anyway.",
                    { settingTerm("recompute") }),
                "false");
        if (c.architecture == Architecture::Hrm && c.documentMasks == DocumentMasks::On)
            refuse("document_masks",
                sentence("%1 is on, which works with architecture gpt only: hrm sums up a window as a whole.",
                    { settingTerm("document_masks") }),
                "off");
        if (c.dataMode == DataMode::Stream && c.documentMasks == DocumentMasks::On)
            refuse("document_masks",
                sentence("%1 is on, but %2 stream knows no samples.",
                    { settingTerm("document_masks"), settingTerm("data_mode") }),
                "off");
        if (c.dataMode == DataMode::Stream && (c.packing == Packing::BestFit || c.packing == Packing::Single))
            refuse("packing",
                sentence("%1 is %2, but %3 stream knows no samples.",
                    { settingTerm("packing"), valueOf("packing"), settingTerm("data_mode") }),
                "end_to_end");
    }

    void training()
    {
        if (c.minLr > c.lr)
            refuse("min_lr", atMost("min_lr", "lr"), valueOf("lr"));
        if (c.precision == PrecisionChoice::Float16 && c.devices.rfind("cpu", 0) == 0)
            refuse("precision",
                sentence("%1 is fp16, which needs a GPU; allowed with %2 %3 is auto, fp32 or bf16.",
                    { settingTerm("precision"), settingTerm("devices"), c.devices }),
                "auto");
        if (c.lr == 0)
            refuse("lr", sentence("%1 is 0: nothing would be learnt.", { settingTerm("lr") }), "0.001");
    }

    void devices()
    {
        if (c.devices.empty())
            refuse("devices",
                sentence("%1 is empty, allowed is auto, cpu:N or a list of GPUs.", { settingTerm("devices") }), "auto");
        if (c.devices.rfind("cpu", 0) == 0 && c.devices != "cpu") {
            const std::string count = c.devices.substr(3);
            const bool number = count.size() > 1 && count[0] == ':'
                && std::all_of(count.begin() + 1, count.end(), [](char d) { return d >= '0' && d <= '9'; });
            if (!number || count == ":0" || count.size() > 4)
                refuse("devices",
                    sentence("%1 is %2, allowed is cpu or cpu:1 to cpu:256.", { settingTerm("devices"), c.devices }),
                    "cpu:2");
        }
    }

    /// All workers train one model.
    void dataParallel()
    {
        if (c.parallel != ParallelMode::Data)
            return;
        if (c.workers == 1)
            refuse("workers",
                sentence("%1 is 1, but %2 is data, which splits each step over at least 2.",
                    { settingTerm("workers"), settingTerm("parallel") }),
                "2");
        if (c.devices == "cpu:1" && c.workers == 0)
            refuse("devices",
                sentence("%1 is cpu:1, but %2 is data, which splits each step over at least 2 workers.",
                    { settingTerm("devices"), settingTerm("parallel") }),
                "cpu:2");
        if (c.merge == MergeMethod::DiLoCo)
            refuse("merge",
                sentence(
                    "%1 is diloco, but with %2 data there is one model and nothing to merge; allowed is average or none.",
                    { settingTerm("merge"), settingTerm("parallel") }),
                "average");
        if (c.mergeTokens > 0)
            refuse("merge_tokens",
                sentence("%1 is %2, but with %3 data there is one model and nothing to merge.",
                    { settingTerm("merge_tokens"), std::to_string(c.mergeTokens), settingTerm("parallel") }),
                "0");
    }

    /// What pairs of answers do not work with.
    void preferences()
    {
        if (c.objective != Objective::Dpo)
            return;
        const auto without = [this](const char* key, const char* fix) {
            refuse(key,
                sentence("%1 is %2, which does not work with %3 %4; allowed is %5.",
                    { settingTerm(key), valueOf(key), settingTerm("objective"), valueOf("objective"), fix }),
                fix);
        };
        if (c.architecture == Architecture::Hrm)
            without("architecture", "gpt");
        else if (c.loraRank == 0)
            refuse("lora_rank",
                sentence(
                    "%1 is 0, but %2 %3 compares the model with its start weights, which are there only beside the pairs of LoRA. Set it, such as to 16.",
                    { settingTerm("lora_rank"), settingTerm("objective"), valueOf("objective") }),
                "16");
        if (c.dataMode == DataMode::Stream)
            without("data_mode", "auto");
        if (!c.textColumn.empty())
            refuse("text_column",
                sentence("%1 is %2, but %3 %4 reads the columns chosen and rejected, and prompt. Leave it out.",
                    { settingTerm("text_column"), c.textColumn, settingTerm("objective"), valueOf("objective") }));
        if (c.packing == Packing::EndToEnd)
            without("packing", "auto");
        if (c.documentMasks == DocumentMasks::Off)
            without("document_masks", "auto");
        if (c.clipPerSample > 0)
            without("clip_per_sample", "0");
        if (c.cudaGraph)
            without("cuda_graph", "false");
    }

    /// What a bound on each window does not work with.
    void clipping()
    {
        const auto without = [this](const char* key, const char* fix) {
            refuse(key,
                sentence("%1 is %2, but %3 needs the gradient of each window alone, which is not known with it.",
                    { settingTerm(key), valueOf(key), settingTerm("clip_per_sample") }),
                fix);
        };
        if (c.clipPerSample == 0)
            return;
        if (c.architecture == Architecture::Hrm)
            without("architecture", "gpt");
        if (c.moeExperts > 0)
            without("moe_experts", "0");
        if (c.recompute)
            without("recompute", "false");
        if (c.cudaGraph)
            without("cuda_graph", "false");
        if (c.precision == PrecisionChoice::Float16)
            without("precision", "bf16");
    }

    /// What is to be stated, or kept to.
    void guarantee()
    {
        for (const char* key : { "target_delta", "target_epsilon" })
            if (c.noiseMultiplier == 0 && valueOf(key) != "0")
                refuse(key,
                    sentence("%1 is %2, but %3 is 0: without noise there is no guarantee.",
                        { settingTerm(key), valueOf(key), settingTerm("noise_multiplier") }),
                    "0");
        if (c.noiseMultiplier == 0 || c.targetEpsilon == 0)
            return;
        if (c.targetDelta == 0)
            refuse("target_delta",
                sentence("%1 is 0, but %2 is %3: an epsilon is one at a delta above 0, such as 0.000001.",
                    { settingTerm("target_delta"), settingTerm("target_epsilon"), valueOf("target_epsilon") }),
                "0.000001");
        else if (mostParticipations(c.noiseMultiplier, c.targetEpsilon, c.targetDelta) == 0)
            refuse("target_epsilon",
                sentence("%1 is %2, which does not allow one epoch: that gives %3 with %4 %5, and needs noise of %6.",
                    { settingTerm("target_epsilon"), valueOf("target_epsilon"),
                        Real(epsilonOf(lossOf(1, c.noiseMultiplier), c.targetDelta), 3),
                        settingTerm("noise_multiplier"), valueOf("noise_multiplier"),
                        Real(leastNoise(1, c.targetEpsilon, c.targetDelta), 3) }),
                "0");
    }

    /// Noise hides what is bounded, of units that are counted.
    void privacy()
    {
        guarantee();
        if (c.noiseMultiplier == 0) {
            if (c.privacyUnit == PrivacyUnit::Sample)
                refuse("privacy_unit",
                    sentence("%1 is sample, but %2 is 0: nothing is hidden without noise.",
                        { settingTerm("privacy_unit"), settingTerm("noise_multiplier") }),
                    "window");
            return;
        }
        if (c.clipPerSample == 0)
            refuse("noise_multiplier",
                sentence("%1 is %2, but %3 is 0: noise hides a window only if its part is bounded, such as by 1.",
                    { settingTerm("noise_multiplier"), valueOf("noise_multiplier"), settingTerm("clip_per_sample") }),
                "0");
        if (c.dataMode == DataMode::Stream)
            refuse("data_mode",
                sentence("%1 is stream, which does not count how often a window is trained, but %2 is %3.",
                    { settingTerm("data_mode"), settingTerm("noise_multiplier"), valueOf("noise_multiplier") }),
                "auto");
        if (c.adaptiveLr)
            refuse("adaptive_lr",
                sentence("%1 is on, but it follows losses that no noise hides; with %2 the rate follows %3 alone.",
                    { settingTerm("adaptive_lr"), settingTerm("noise_multiplier"), settingTerm("schedule") }),
                "false");
        if (c.privacyUnit == PrivacyUnit::Sample && c.packing != Packing::Single)
            refuse("packing",
                sentence(
                    "%1 is %2, where a window holds parts of several samples, but %3 is sample; allowed is single.",
                    { settingTerm("packing"), valueOf("packing"), settingTerm("privacy_unit") }),
                "single");
        if (c.privacyUnit == PrivacyUnit::Sample && c.longSamples == LongSamples::Split)
            refuse("long_samples",
                sentence(
                    "%1 is split, so that a long sample has several windows, but %2 is sample; allowed is cut or leave_out.",
                    { settingTerm("long_samples"), settingTerm("privacy_unit") }),
                "cut");
        if (c.privacyUnit == PrivacyUnit::Window && c.shuffle && (c.epochs != 1 || c.iterate))
            refuse(c.iterate ? "iterate" : "epochs", // a resume may ask for them
                sentence(
                    "%1 asks for several epochs, but %2 is window, whose text is another one in each of them where %3 is on. Allowed is one epoch, or %4 sample, or no shuffling.",
                    { settingTerm(c.iterate ? "iterate" : "epochs"), settingTerm("privacy_unit"),
                        settingTerm("shuffle"), settingTerm("privacy_unit") }),
                c.iterate ? "false" : "1");
    }

    static bool isPositiveNumber(const std::string& text)
    {
        double value = 0;
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
        return failed == std::errc {} && end == text.data() + text.size() && value > 0 && value < 1e12;
    }

    static std::int64_t largestDivisor(std::int64_t width, std::int64_t atMost)
    {
        while (atMost > 1 && width % atMost != 0)
            --atMost;
        return atMost;
    }
};

} // namespace

std::vector<ConfigProblem> validate(const RunConfig& config)
{
    std::vector<ConfigProblem> problems;
    Rules rules { config, problems };
    rules.noSecrets();
    if (!problems.empty())
        return problems; // what else is wrong is said with the values
    for (const auto& s : settings()) { // every stored value must survive its own parser: same ranges, one place
        RunConfig copy = config;
        auto own = setSetting(copy, s, settingText(config, s));
        problems.insert(problems.end(), own.begin(), own.end());
    }
    if (config.heads < 1)
        return problems; // the rules divide by it
    rules.data();
    rules.csv();
    rules.model();
    rules.training();
    rules.devices();
    rules.dataParallel();
    rules.preferences();
    rules.clipping();
    rules.privacy();
    return problems;
}

} // namespace furrow
