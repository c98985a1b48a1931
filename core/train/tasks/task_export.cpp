// export: one checkpoint as a Hugging Face folder, or as a GGUF.

#include "core/train/tasks/tasks_torch.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/whole_folder.h"
#include "core/data/tokenizer/huggingface_tokenizer.h"
#include "core/model/gguf/gguf_blocks.h"
#include "core/run/audit/model_card.h"
#include "core/run/folder/adopted_model.h"
#include "core/run/folder/before_writing.h"
#include "core/train/weights/gguf_torch.h"

namespace furrow {

namespace {

/// Before the weights are read.
Status checkOut(const TaskOptions& options, bool isFile)
{
    if (options.out.empty())
        return Error { ErrorCode::InvalidArgument,
            isFile ? sentence("Name the file to make with --out.") : sentence("Name the folder to make with --out.") };
    const auto out = pathFromUtf8(options.out);
    std::error_code failed;
    if (isFile && isTaken(out))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is there already. Name a new file for the export.", { options.out }) };
    if (!isFile && std::filesystem::exists(out, failed) && !holdsNothing(out))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is not empty. Name a new folder for the export.", { options.out }) };
    return {};
}

Result<GgufChoice> ggufChoice(const TaskOptions& options, const LoadedRun& run)
{
    if (!isWritable(options.type))
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "There is no type '%1'. Known are f32, f16, bf16, q8_0, q4_0, q4_1.", { toString(options.type) }) };
    const std::string& name = run.setup.config.name;
    return GgufChoice { options.type, name.empty() ? utf8Text(pathFromUtf8(options.out).stem()) : name };
}

} // namespace

Result<nlohmann::json> exportTask(const TaskOptions& options)
{
    const bool isGguf = options.format == ModelFormat::Gguf;
    FURROW_TRY(checkOut(options, isGguf));
    const auto out = pathFromUtf8(options.out);
    FURROW_TRY_ASSIGN(auto run, loadRun(options));
    if (run.isRun())
        FURROW_TRY(beforeExportingTo(run.setup.paths, out));
    auto* model = run.learner->model();
    if (!model)
        return Error { ErrorCode::InvalidArgument, sentence("the counting model cannot be exported") };
    HuggingFaceExtras extras;
    extras.tokens.begin = extras.tokens.end = static_cast<std::int64_t>(run.tokenizer->endOfText());
    FURROW_TRY_ASSIGN(extras.files, originFiles(run.setup.paths, run.setup.file));
    if (!extras.files.contains("tokenizer.json") && !extras.files.contains("tokenizer.model"))
        extras.files.merge(huggingFaceTokenizerFiles(*run.tokenizer, model->config().contextLength));
    if (isGguf) {
        FURROW_TRY_ASSIGN(const auto choice, ggufChoice(options, run));
        FURROW_TRY(exportGguf(*model, extras, choice, realFileSystem(), out));
    } else {
        if (run.isRun()) {
            FURROW_TRY_ASSIGN(extras.files["README.md"],
                modelCard(run.setup.paths,
                    { run.setup.file, run.setup.config, describeShape(run.setup.modelConfig), run.checkpoint }));
        }
        FURROW_TRY(makeWholeFolder(realFileSystem(), out, "config.json", // without which nothing loads the weights
            [&](const auto& folder) { return exportHuggingFace(*model, extras, realFileSystem(), folder); }));
    }
    return nlohmann::json { { "is_run", run.isRun() }, { "checkpoint", run.checkpoint },
        { "weights", weightsJson(run) }, { "step", run.state.step }, { "format", nameOf(options.format) },
        { "out", utf8Text(std::filesystem::absolute(out)) } };
}

} // namespace furrow
