// Combinations of settings that cannot work, each with a value that would. Ranges first, then each rule in one line of its own.

#include "core/config/schema.h"

#include <algorithm>
#include <charconv>

namespace furrow {

namespace {

struct Rules {
    const RunConfig& c;
    std::vector<ConfigProblem>& problems;

    void refuse(const char* key, std::string message, std::string fix = {})
    {
        problems.push_back({ key, std::move(message), std::move(fix) });
    }

    void data()
    {
        if (c.data.empty())
            refuse("data", "data is empty, allowed is at least one file, folder or hf:// source.");
        if (c.tokenizer.empty())
            refuse("tokenizer", "tokenizer is empty, allowed is byte, char, gpt2 or the path of a tokenizer.json.", "byte");
        if (c.chunkSamples > c.samplesPerBlock)
            refuse("chunk_samples", "chunk_samples is " + std::to_string(c.chunkSamples) + ", allowed is at most samples_per_block, which is " + std::to_string(c.samplesPerBlock) + ".", std::to_string(c.samplesPerBlock));
        if (c.maxChars > 0 && c.maxChars < c.minChars)
            refuse("max_chars", "max_chars is " + std::to_string(c.maxChars) + ", below min_chars " + std::to_string(c.minChars) + ": every sample would be filtered.", "0");
        if (!c.dataWeights.empty() && c.dataWeights.size() != c.data.size())
            refuse("data_weights", "data_weights has " + std::to_string(c.dataWeights.size()) + " numbers for " + std::to_string(c.data.size()) + " sources, allowed is one for each or none.");
        for (const auto& weight : c.dataWeights)
            if (!isPositiveNumber(weight))
                refuse("data_weights", "data_weights has '" + weight + "', allowed are numbers above 0.", "1");
        if (c.dataMode == "stream" && c.data.size() > 1)
            refuse("data", "data names several sources, data_mode stream takes one file.");
    }

    void model()
    {
        if (c.width % c.heads != 0)
            refuse("heads", "heads is " + std::to_string(c.heads) + ", which does not divide width " + std::to_string(c.width) + ".", std::to_string(largestDivisor(c.width, c.heads)));
        else if (c.positions == "rope" && (c.width / c.heads) % 2 != 0)
            refuse("heads", "heads is " + std::to_string(c.heads) + ": rotary positions need an even head size, width / heads is " + std::to_string(c.width / c.heads) + ".");
        if (c.kvHeads > 0 && c.heads % c.kvHeads != 0)
            refuse("kv_heads", "kv_heads is " + std::to_string(c.kvHeads) + ", which does not divide heads " + std::to_string(c.heads) + ".", "0");
        if (c.moeExperts == 1)
            refuse("moe_experts", "moe_experts is 1, allowed is 0 (no experts) or 2 to 256.", "0");
        if (c.moeExperts > 1 && c.moeActive > c.moeExperts)
            refuse("moe_active", "moe_active is " + std::to_string(c.moeActive) + ", allowed is at most moe_experts, which is " + std::to_string(c.moeExperts) + ".", std::to_string(c.moeExperts));
        if (c.loraRank > 0 && (c.architecture != "gpt" || c.moeExperts > 0))
            refuse("lora_rank", "lora_rank is " + std::to_string(c.loraRank) + ", which works with architecture gpt without experts only.", "0");
        if (c.loraRank > c.width)
            refuse("lora_rank", "lora_rank is " + std::to_string(c.loraRank) + ", allowed is at most width, which is " + std::to_string(c.width) + ".", "8");
        if (c.architecture == "hrm" && c.dropout > 0)
            refuse("dropout", "dropout is " + settingText(c, *findSetting("dropout")) + ", but hrm has none.", "0");
        if (c.architecture == "hrm" && c.recompute)
            refuse("recompute", "recompute is on, which works with architecture gpt only; hrm keeps the activations of one step anyway.", "false");
    }

    void training()
    {
        if (c.minLr > c.lr)
            refuse("min_lr", "min_lr is " + settingText(c, *findSetting("min_lr")) + ", allowed is at most lr, which is " + settingText(c, *findSetting("lr")) + ".", settingText(c, *findSetting("lr")));
        if (c.precision == "fp16" && c.devices.rfind("cpu", 0) == 0)
            refuse("precision", "precision is fp16, which needs a GPU; allowed with devices " + c.devices + " is auto, fp32 or bf16.", "auto");
        if (c.lr == 0)
            refuse("lr", "lr is 0: nothing would be learnt.", "0.001");
    }

    void devices()
    {
        if (c.devices.empty())
            refuse("devices", "devices is empty, allowed is auto, cpu:N or a list of GPUs.", "auto");
        if (c.devices.rfind("cpu", 0) == 0 && c.devices != "cpu") {
            const std::string count = c.devices.substr(3);
            const bool number = count.size() > 1 && count[0] == ':' && std::all_of(count.begin() + 1, count.end(), [](char d) { return d >= '0' && d <= '9'; });
            if (!number || count == ":0" || count.size() > 4)
                refuse("devices", "devices is " + c.devices + ", allowed is cpu or cpu:1 to cpu:256.", "cpu:2");
        }
    }

    /// All workers train one model.
    void dataParallel()
    {
        if (c.parallel != "data")
            return;
        if (c.workers == 1)
            refuse("workers", "workers is 1, but parallel is data, which splits each step over at least 2.", "2");
        if (c.devices == "cpu:1" && c.workers == 0)
            refuse("devices", "devices is cpu:1, but parallel is data, which splits each step over at least 2 workers.", "cpu:2");
        if (c.merge == "diloco")
            refuse("merge", "merge is diloco, but with parallel data there is one model and nothing to merge; allowed is average or none.", "average");
        if (c.mergeTokens > 0)
            refuse("merge_tokens", "merge_tokens is " + std::to_string(c.mergeTokens) + ", but with parallel data there is one model and nothing to merge.", "0");
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
    for (const auto& s : settings()) { // every stored value must survive its own parser: same ranges, one place
        RunConfig copy = config;
        auto own = setSetting(copy, s, settingText(config, s));
        problems.insert(problems.end(), own.begin(), own.end());
    }
    Rules rules { config, problems };
    if (config.heads < 1)
        return problems; // the rules divide by it
    rules.data();
    rules.model();
    rules.training();
    rules.devices();
    rules.dataParallel();
    return problems;
}

} // namespace furrow
