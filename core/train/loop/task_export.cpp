// export: one checkpoint as a Hugging Face folder.

#include "core/train/loop/tasks_torch.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/tokenizer/huggingface_tokenizer.h"
#include "core/run/adopted_model.h"
#include "core/train/weights/huggingface_torch.h"

namespace furrow {

Result<nlohmann::json> exportTask(const TaskOptions& options)
{
    if (options.out.empty())
        return Error { ErrorCode::InvalidArgument, sentence("Name the folder to make with --out.") };
    const auto folder = pathFromUtf8(options.out);
    std::error_code failed;
    if (std::filesystem::exists(folder, failed) && !std::filesystem::is_empty(folder, failed))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is not empty. Name a new folder for the export.", { options.out }) };
    FURROW_TRY_ASSIGN(auto run, loadRun(options));
    auto* model = run.learner->model();
    if (!model)
        return Error { ErrorCode::InvalidArgument, sentence("the counting model cannot be exported") };
    HuggingFaceExtras extras;
    extras.tokens.begin = extras.tokens.end = static_cast<std::int64_t>(run.tokenizer->endOfText());
    FURROW_TRY_ASSIGN(extras.files, originFiles(run.setup.paths));
    if (!extras.files.contains("tokenizer.json") && !extras.files.contains("tokenizer.model"))
        extras.files.merge(huggingFaceTokenizerFiles(*run.tokenizer, model->config().contextLength));
    FURROW_TRY(exportHuggingFace(*model, extras, realFileSystem(), folder));
    return nlohmann::json { { "checkpoint", run.checkpoint }, { "weights", weightsJson(run) },
        { "step", run.state.step }, { "format", "huggingface" },
        { "out", utf8Text(std::filesystem::absolute(folder)) } };
}

} // namespace furrow
