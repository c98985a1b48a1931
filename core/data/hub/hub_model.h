#pragma once

#include "core/data/hub/hub_client.h"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace furrow {

/// hf://owner/name[/FILE.gguf][@revision]: a model of the hub.
struct HubModelSpec {
    std::string repository; ///< "owner/name"
    std::string gguf; ///< a file of it; "": what transformers would take
    std::string revision = "main";
    bool operator==(const HubModelSpec&) const = default;
};

/// Whether a text names a model of the hub instead of a place on this machine.
bool isHubModel(std::string_view text);
/// InvalidArgument with the right form.
Result<HubModelSpec> parseHubModelSpec(std::string_view text);

/// A client that asks for models instead of data sets.
HubSettings modelHubSettings();

/// Where fetched models lie: a folder for each commit, OWNER/NAME@COMMIT. As userDataFolder().
Result<std::filesystem::path> modelsFolder();

/// A model that was fetched, or is being fetched.
struct FetchedModel {
    std::string name; ///< hf://owner/name@commit, as parseHubModelSpec() takes it
    std::filesystem::path place; ///< what init_from takes: a folder, or a GGUF
    std::uint64_t sizeBytes = 0;
    bool isWhole = false;
};
/// Those in a folder as modelsFolder() names it, by name; what is none of them is left aside.
std::vector<FetchedModel> fetchedModels(const std::filesystem::path& models);

/// Brings to this machine what init_from takes of a model (its config, tokenizer, chat template and safetensors, or one
/// GGUF), each file compared with the hub's SHA-256. What is there already is not fetched; a fetch that broke or was
/// killed goes on with its bytes. While the hub cannot be reached, the copy that is here is taken, where there is one.
/// @param models  modelsFolder()
/// @param tell  told what comes from where, as sentences
/// @return the folder, or the GGUF in it. InvalidArgument: there is nothing that can be taken; Io: no room.
Result<std::filesystem::path> fetchHubModel(const HubModelSpec& spec, const std::filesystem::path& models,
    const std::shared_ptr<HubClient>& client, const std::function<void(const Message&)>& tell);

} // namespace furrow
