#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/model/gguf/gguf_blocks.h"
#include "core/model/gguf/gguf_model.h"
#include "core/train/weights/gguf_torch.h"

#include <torch/torch.h>

namespace furrow {

namespace {

constexpr std::string_view kStacked = "_exps.weight"; // experts one above the other in one tensor

Result<at::Tensor> readTensor(const RandomAccessFile& file, const GgufTensor& tensor)
{
    std::vector<std::byte> stored(tensor.sizeBytes);
    if (const Status status = file.readAt(tensor.offset, stored); !status.ok())
        return status.error().in(sentence("tensor '%1'", { tensor.name }));
    at::Tensor numbers = at::empty(tensor.shape, at::kFloat);
    readBlocks(tensor.type, stored, { numbers.mutable_data_ptr<float>(), static_cast<std::size_t>(numbers.numel()) });
    return numbers;
}

/// Under the names that the table of architectures has.
void addNamed(const std::string& name, const at::Tensor& tensor, NamedTensors& all)
{
    if (name.ends_with(kStacked) && tensor.dim() == 3) {
        const std::string stem = name.substr(0, name.size() - kStacked.size());
        for (std::int64_t i = 0; i < tensor.size(0); ++i)
            all.emplace_back(stem + "." + std::to_string(i) + ".weight", tensor[i]);
        return;
    }
    const bool isRow = name.ends_with("ffn_gate_inp_shexp.weight") && tensor.dim() == 1;
    all.emplace_back(name, isRow ? tensor.unsqueeze(0) : tensor);
}

} // namespace

Result<HuggingFaceModel> importGguf(const std::filesystem::path& path)
{
    try {
        GgufFile header;
        FURROW_TRY_ASSIGN(auto model, readGgufModel(path, header));
        FURROW_TRY_ASSIGN(const auto file, RandomAccessFile::open(path));
        NamedTensors saved;
        for (const GgufTensor& tensor : header.tensors) {
            if (tensor.name == kGgufRopeFactors)
                continue;
            auto numbers = readTensor(file, tensor);
            if (!numbers.ok())
                return numbers.error().in(utf8Text(path));
            addNamed(tensor.name, numbers.value(), saved);
        }
        auto state = fromHuggingFace(model.layout, std::move(saved));
        if (!state.ok())
            return state.error().in(utf8Text(path));
        return HuggingFaceModel { model.layout, std::move(state).value() };
    } catch (const std::exception& error) {
        return Error { ErrorCode::Internal, sentence("importing %1: %2", { utf8Text(path), error.what() }) };
    }
}

} // namespace furrow
