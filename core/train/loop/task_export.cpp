// export: one checkpoint as a Hugging Face folder.

#include "core/train/loop/tasks_torch.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/tokenizer/huggingface_tokenizer.h"
#include "core/train/weights/huggingface_torch.h"

namespace furrow {

Result<nlohmann::json> exportTask(const TaskOptions& options)
{
    if (options.out.empty())
        return Error { ErrorCode::InvalidArgument, sentence("Name the folder to make with --out.") };
    const auto folder = pathFromUtf8(options.out);
    std::error_code failed;
    if (std::filesystem::exists(folder, failed) && !std::filesystem::is_empty(folder, failed))
        return Error { ErrorCode::InvalidArgument, sentence("%1 is not empty. Name a new folder for the export.", { options.out }) };
    auto run = loadRun(options);
    if (!run.ok())
        return run.error();
    auto* model = run.value().learner->model();
    if (!model)
        return Error { ErrorCode::InvalidArgument, sentence("the counting model cannot be exported") };
    HuggingFaceExtras extras;
    extras.tokens.begin = extras.tokens.end = static_cast<std::int64_t>(run.value().tokenizer->endOfText());
    extras.files = huggingFaceTokenizerFiles(*run.value().tokenizer, model->config().contextLength);
    if (auto written = exportHuggingFace(*model, extras, realFileSystem(), folder); !written.ok())
        return written.error();
    return nlohmann::json { { "checkpoint", run.value().checkpoint }, { "weights", weightsJson(run.value()) }, { "step", run.value().state.step }, { "format", "huggingface" }, { "out", utf8Text(std::filesystem::absolute(folder)) } };
}

} // namespace furrow
