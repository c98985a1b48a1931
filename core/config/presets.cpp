#include "core/config/schema.h"

#include "core/base/lower_case.h"
#include "core/base/sentence.h"

namespace furrow {

namespace {

RunConfig charConfig()
{
    RunConfig c;
    c.tokenizer = "char";
    c.dataMode = DataMode::Span;
    c.spanBytes = 512;
    c.samplesPerBlock = 400;
    c.chunkSamples = 20;
    c.batchSize = 12;
    c.seqLen = 64;
    c.bias = false;
    c.epochs = 5;
    c.checkpointMinutes = 0.5;
    c.evalSteps = 250;
    c.heldOutPercent = 5;
    return c;
}

RunConfig gptConfig(
    std::int64_t layers, std::int64_t heads, std::int64_t width, std::int64_t seqLen, std::int64_t batch, double lr)
{
    RunConfig c;
    c.tokenizer = "gpt2";
    c.layers = layers;
    c.heads = heads;
    c.width = width;
    c.seqLen = seqLen;
    c.batchSize = batch;
    c.bias = false;
    c.lr = lr;
    c.minLr = lr / 10;
    c.warmupSteps = 700;
    c.beta2 = 0.95;
    c.evalSteps = 500;
    return c;
}

RunConfig hrmConfig(std::int64_t width, std::int64_t heads, std::int64_t layers = 2)
{
    RunConfig c = gptConfig(layers, heads, width, 256, 16, 3e-4);
    c.architecture = Architecture::Hrm;
    c.positions = Positions::Rotary;
    c.norm = NormKind::Rms;
    c.activation = FeedForward::SwiGlu;
    c.tiedHead = false;
    return c;
}

std::vector<Preset> makePresets()
{
    std::vector<Preset> all;
    all.push_back({ "char", "GPT char, 4 layers", "CPU, words after two minutes", charConfig() });
    auto large = charConfig();
    large.layers = large.heads = 6;
    large.width = 384;
    large.seqLen = 256;
    large.batchSize = 64;
    large.dropout = 0.2;
    large.spanBytes = 4000; // many windows long, so that few begin in the middle of nothing, and no multiple of one:
                            // they begin elsewhere in each epoch
    large.chunkSamples = 16; // 251 windows: four steps
    large.epochs = 50;
    all.push_back({ "char-large", "GPT char, 6 layers", "GPU, width 384", large });
    all.push_back({ "10m", "GPT 10M", "8 layers, 256", gptConfig(8, 8, 256, 256, 16, 1e-3) });
    all.push_back({ "30m", "GPT 30M", "8 layers, 384", gptConfig(8, 8, 384, 512, 16, 8e-4) });
    all.push_back({ "124m", "GPT-2 124M", "12 layers, 768", gptConfig(12, 12, 768, 1024, 12, 6e-4) });
    all.push_back({ "350m", "GPT 350M", "24 layers, 1,024", gptConfig(24, 16, 1024, 1024, 8, 3e-4) });
    all.push_back({ "hrm-1m", "HRM 1M", "2+2 layers, 128", hrmConfig(128, 4) });
    all.push_back({ "hrm-5m", "HRM 5M", "2+2 layers, 256", hrmConfig(256, 8) });
    all.push_back({ "hrm-10m", "HRM 10M", "2+2 layers, 384", hrmConfig(384, 8) });
    all.push_back({ "hrm-20m", "HRM 20M", "2+2 layers, 512", hrmConfig(512, 8) });
    auto paper = hrmConfig(512, 8, 4);
    paper.hrmExpansion = 4;
    paper.hrmSegments = 16;
    all.push_back({ "hrm-27m", "HRM 27M", "4+4 layers, 512, as published", paper });
    all.push_back({ "hrm-50m", "HRM 50M", "2+2 layers, 768", hrmConfig(768, 12) });
    all.push_back({ "hrm-100m", "HRM 100M", "4+4 layers, 1,024", hrmConfig(1024, 16, 4) });
    return all;
}

} // namespace

const std::vector<Preset>& presets()
{
    static const std::vector<Preset> all = makePresets();
    return all;
}

Result<Preset> findPreset(std::string_view name)
{
    const std::string lower = lowerCase(name);
    std::string known;
    for (const auto& preset : presets()) {
        if (preset.name == lower)
            return preset;
        known += (known.empty() ? "" : ", ") + preset.name;
    }
    return Error { ErrorCode::InvalidArgument,
        sentence("There is no preset '%1'. Known are %2.", { std::string(name), known }) };
}

std::string commandLine(const RunConfig& config, const Preset& from)
{
    const auto quoted = [](const std::string& text) {
        const bool plain = !text.empty()
            && text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,@+=")
                == std::string::npos;
        if (plain)
            return text;
        std::string out = "'";
        for (const char c : text)
            out += c == '\'' ? std::string("'\\''") : std::string(1, c);
        return out + "'";
    };
    std::string line = "furrowctl run --preset " + from.name;
    for (const auto& change : changes(from.config, config)) {
        if (std::holds_alternative<bool RunConfig::*>(change.setting->field))
            line += " " + change.setting->option() + "=" + change.after;
        else if (const auto* list = std::get_if<std::vector<std::string> RunConfig::*>(&change.setting->field))
            for (const auto& item : config.*(*list))
                line += " " + change.setting->option() + " " + quoted(item);
        else
            line += " " + change.setting->option() + " " + quoted(change.after);
    }
    return line;
}

} // namespace furrow
