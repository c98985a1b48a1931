#pragma once

#include "core/base/file_system.h"
#include "core/chat/chat_format.h"
#include "core/config/schema.h"
#include "core/model/model_config.h"
#include "core/run/folder/run_file.h"
#include "core/run/folder/run_paths.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace furrow {

/// What init_from brings besides weights.
struct AdoptedModel {
    std::string from; ///< for people: "the llama in FOLDER", "run NAME"; "": it says nothing of its shape
    RunConfig settings; ///< the shape, as settings
    std::string tokenizer; ///< name or path; "": there is none
    std::int64_t context = 0; ///< tokens that a training window may have; 0: any
    std::uint32_t vocabulary = 0; ///< ids of the model
    std::filesystem::path files; ///< folder of a config.json and what stands beside it, or a GGUF; "": none
};
/// Reads a Hugging Face folder, a GGUF or the run that a checkpoint belongs to. InvalidArgument names the key of
/// config.json, or of the metadata, that stopped it.
Result<AdoptedModel> readAdoptedModel(const std::string& initFrom);

/// Whether a file is a GGUF, or says so by its name.
bool isGgufName(const std::filesystem::path& path);
/// Whether a path is a GGUF or a Hugging Face folder: a model without a run.
bool isModelOfOthers(const std::filesystem::path& path);

/// Whether init_from decides a setting: then the form shows it and nobody types it.
bool isAdopted(const Setting& setting);

/// Takes shape and tokenizer of init_from into the settings; without it nothing happens. InvalidArgument names each
/// setting that says something else.
/// @param usual  what stands there when nobody chose: the preset
/// @param typed  keys that somebody chose in any case
/// @return what came from where, as sentences
Result<std::vector<std::string>> adoptModel(
    RunConfig& config, const RunConfig& usual, const std::set<std::string>& typed = {});

/// Keeps in a new run what its exports pass on unchanged: config.json, generation_config.json, and where the tokenizer
/// is that of init_from its files, chat template included. Of a GGUF those that it stands for.
Status keepOrigin(const RunPaths& paths, const RunConfig& config, FileSystem& files);
/// Keeps how the run writes conversations, where that is not what the model came with.
Status keepChatFormat(const RunPaths& paths, const ChatFormat& format, FileSystem& files);
/// How a run writes conversations: as its data was written, else as the model came; nothing where there is no template.
Result<std::optional<ChatFormat>> chatFormatOfRun(const RunPaths& paths, const RunFile& file);
/// Those files: name to text; none for a run that came from nowhere. Corrupt: they are not those of then.
Result<std::map<std::string, std::string>> originFiles(const RunPaths& paths, const RunFile& file);
/// SHA-256 of names and texts of those files as they are now; "": there are none.
Result<std::string> originHash(const RunPaths& paths);

} // namespace furrow
