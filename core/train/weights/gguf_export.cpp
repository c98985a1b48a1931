#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/sentence.h"
#include "core/data/tokenizer/gguf_tokenizer.h"
#include "core/model/gguf/gguf_blocks.h"
#include "core/model/gguf/gguf_model.h"
#include "core/train/weights/gguf_torch.h"

#include <torch/torch.h>

#include <algorithm>

namespace furrow {

namespace {

constexpr std::int64_t kPieceNumbers = 1 << 22; // packed at once

/// "blk.0.ffn_up.3.weight" -> "blk.0.ffn_up_exps.weight"; "": it is no expert's.
std::string stackOf(const std::string& name)
{
    constexpr std::string_view kEnd = ".weight";
    if (!name.ends_with(kEnd))
        return "";
    const std::string stem = name.substr(0, name.size() - kEnd.size());
    const auto point = stem.rfind('.');
    const bool isNumber = point != std::string::npos && point + 1 < stem.size()
        && stem.find_first_not_of("0123456789", point + 1) == std::string::npos;
    return isNumber ? stem.substr(0, point) + "_exps.weight" : "";
}

/// Experts one above the other, as llama.cpp wants them.
NamedTensors stacked(const NamedTensors& tensors)
{
    NamedTensors all;
    std::vector<std::pair<std::string, std::vector<at::Tensor>>> stacks;
    for (const auto& [name, tensor] : tensors) {
        const std::string stack = stackOf(name);
        if (stack.empty()) {
            all.emplace_back(name, name.ends_with("ffn_gate_inp_shexp.weight") ? tensor.squeeze(0) : tensor);
            continue;
        }
        auto found
            = std::find_if(stacks.begin(), stacks.end(), [&stack](const auto& one) { return one.first == stack; });
        if (found == stacks.end())
            found = stacks.insert(stacks.end(), { stack, {} });
        found->second.push_back(tensor);
    }
    for (const auto& [name, experts] : stacks)
        all.emplace_back(name, at::stack(experts));
    return all;
}

/// What llama.cpp's converter stores how: vectors, norms, routers and positions as they are; the embedding and the head
/// of a model of four bits in eight; rows that are no whole blocks in half precision.
GgufType typeOf(const std::string& name, const at::Tensor& tensor, GgufType wanted)
{
    const auto has = [&name](const char* part) { return name.find(part) != std::string::npos; };
    if (tensor.dim() <= 1 || has("_norm.") || has("ffn_gate_inp") || has("position_embd"))
        return GgufType::F32;
    const bool isFourBit = wanted == GgufType::Q4_0 || wanted == GgufType::Q4_1;
    const GgufType type
        = isFourBit && (name == "token_embd.weight" || name == "output.weight") ? GgufType::Q8_0 : wanted;
    const bool isWhole = tensor.size(-1) % static_cast<std::int64_t>(rowOf(type).blockNumbers) == 0;
    return isWhole ? type : GgufType::F16;
}

Status writeTensor(const at::Tensor& tensor, const GgufTensor& place, OutputFile& out)
{
    const GgufTypeRow& row = rowOf(place.type);
    const at::Tensor numbers = tensor.detach().to(at::kCPU, at::kFloat).contiguous().flatten();
    std::vector<std::byte> blocks;
    for (std::int64_t from = 0; from < numbers.numel(); from += kPieceNumbers) {
        const std::int64_t count = std::min(kPieceNumbers, numbers.numel() - from);
        blocks.resize(static_cast<std::uint64_t>(count) / row.blockNumbers * row.blockBytes);
        const std::span piece(numbers.const_data_ptr<float>() + from, static_cast<std::size_t>(count));
        if (!writeBlocks(place.type, piece, blocks) && place.type != GgufType::F32)
            return Error { ErrorCode::InvalidArgument,
                sentence("tensor '%1' has a number that %2 cannot hold. Export with --type f32.",
                    { place.name, toString(place.type) }) };
        FURROW_TRY(out.append(blocks.data(), blocks.size()));
    }
    const std::string padding((kGgufAlignment - place.sizeBytes % kGgufAlignment) % kGgufAlignment, '\0');
    return out.append(padding.data(), padding.size());
}

Status writeAll(const NamedTensors& tensors, const std::vector<GgufTensor>& places, const std::string& header,
    FileSystem& files, const std::filesystem::path& path)
{
    FURROW_TRY_ASSIGN(auto file, files.create(path));
    FURROW_TRY(file->append(header.data(), header.size()));
    for (std::size_t i = 0; i < tensors.size(); ++i)
        FURROW_TRY(writeTensor(tensors[i].second, places[i], *file));
    FURROW_TRY(file->sync());
    return file->close();
}

/// The tokens that config.json names: the first where it names several.
SpecialTokens tokensOf(const std::string& configText, SpecialTokens otherwise)
{
    const auto json = nlohmann::json::parse(configText, nullptr, false);
    const auto of = [&json](const char* key, std::int64_t usual) {
        const auto value = json.is_object() ? json.value(key, nlohmann::json()) : nlohmann::json();
        const auto& first = value.is_array() && !value.empty() ? value.front() : value;
        return first.is_number_integer() ? first.get<std::int64_t>() : usual;
    };
    return { of("bos_token_id", otherwise.begin), of("eos_token_id", otherwise.end) };
}

std::uint64_t numbersOf(const GgufTensor& place)
{
    std::uint64_t count = 1;
    for (const std::int64_t size : place.shape)
        count *= static_cast<std::uint64_t>(size);
    return count;
}

/// What general.file_type says: the type that was asked for, or half precision where more became that.
GgufType typeOfFile(const std::vector<GgufTensor>& places, GgufType wanted)
{
    const auto numbers = [&places](GgufType type) {
        std::uint64_t sum = 0;
        for (const GgufTensor& place : places)
            sum += place.type == type ? numbersOf(place) : 0;
        return sum;
    };
    return wanted == GgufType::F32 || numbers(wanted) >= numbers(GgufType::F16) ? wanted : GgufType::F16;
}

/// Blocks that no row fills would be asked for, and the file be half precision all through.
Status checkBlocks(const std::vector<GgufTensor>& places, GgufType wanted, std::int64_t width)
{
    const auto has = [wanted](const GgufTensor& place) { return place.type == wanted; };
    if (wanted == GgufType::F32 || std::any_of(places.begin(), places.end(), has))
        return {};
    return Error { ErrorCode::InvalidArgument,
        sentence(
            "%1 stores rows in blocks of %2 numbers, and no matrix of this model has such rows (width %3): all would be f16. Export with --type f16, bf16 or f32.",
            { toString(wanted), std::to_string(rowOf(wanted).blockNumbers), std::to_string(width) }) };
}

Status writeGguf(const Model& model, const HuggingFaceExtras& extras, const GgufChoice& choice, FileSystem& files,
    const std::filesystem::path& path)
{
    FURROW_TRY_ASSIGN(const auto config, exportedConfig(model.config(), extras));
    FURROW_TRY_ASSIGN(auto made, ggufMetadataOf(config.meaning));
    const auto tokens = tokensOf(config.config, extras.tokens);
    FURROW_TRY_ASSIGN(const auto tokenizer,
        ggufTokenizerMetadata(extras.files, config.meaning.config.vocabularySize, tokens.begin, tokens.end));
    made.metadata.update(tokenizer);
    made.metadata.update(
        { { "general.type", "model" }, { "general.name", choice.name }, { "general.quantization_version", 2 } });
    NamedTensors tensors
        = stacked(toHuggingFace({ config.meaning.config, &made.architecture->family }, model.fullState()));
    if (!made.ropeFactors.empty())
        tensors.emplace_back(kGgufRopeFactors, at::tensor(made.ropeFactors, at::kFloat));
    std::vector<GgufTensor> places;
    for (const auto& [name, tensor] : tensors)
        places.push_back({ name, tensor.sizes().vec(), typeOf(name, tensor, choice.type) });
    FURROW_TRY(checkBlocks(places, choice.type, config.meaning.config.width));
    made.metadata["general.file_type"] = rowOf(typeOfFile(places, choice.type)).fileType;
    FURROW_TRY_ASSIGN(const auto header, ggufHeader(made.metadata, places));
    return writeAll(tensors, places, header, files, path);
}

} // namespace

Status exportGguf(const Model& model, const HuggingFaceExtras& extras, const GgufChoice& choice, FileSystem& files,
    const std::filesystem::path& path)
{
    if (isTaken(path))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is there already. Name a new file for the export.", { utf8Text(path) }) };
    const auto folder = std::filesystem::absolute(path).parent_path();
    auto temporary = path;
    temporary += ".new-" + randomHex(8);
    try {
        FURROW_TRY(files.createFolders(folder));
        Status done = writeGguf(model, extras, choice, files, temporary);
        if (done.ok())
            done = files.rename(temporary, path);
        if (!done.ok()) {
            (void)files.removeAll(temporary);
            return done;
        }
        return files.syncFolder(folder);
    } catch (const std::exception& error) {
        (void)files.removeAll(temporary);
        return Error { ErrorCode::Internal, sentence("exporting to %1: %2", { utf8Text(path), error.what() }) };
    }
}

} // namespace furrow
