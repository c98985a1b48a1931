// model fetch, model list: models of the hub on this machine.

#include "app/furrowctl/command.h"
#include "app/furrowctl/hub_models.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/terminal.h"
#include "core/data/hub/hub_model.h"
#include "core/data/hub/hub_progress.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace furrow::ctl {

namespace {

/// Tries four times before it gives up: a person sits there.
std::shared_ptr<HubClient> patientClient()
{
    RetryPolicy retry;
    retry.attempts = 4;
    return std::make_shared<HubClient>(modelHubSettings(), [] { return curlTransport(); }, kHubTransfers, retry);
}

Result<std::filesystem::path> fetched(const std::string& name, bool quiet)
{
    FURROW_TRY_ASSIGN(const auto spec, parseHubModelSpec(name));
    FURROW_TRY_ASSIGN(const auto models, modelsFolder());
    const auto tell = [quiet](const Message& text) {
        if (!quiet)
            std::cerr << plainLine(text.text()) << std::endl;
    };
    setHubProgress([tell](const HubProgress& progress) { tell(toString(progress)); });
    auto place = fetchHubModel(spec, models, patientClient(), tell);
    setHubProgress({});
    return place;
}

int fetch(const std::string& name, bool json)
{
    const auto place = fetched(name, json);
    if (!place.ok())
        return fail(place.error(), json);
    if (json)
        print({ { "model", name }, { "place", utf8Text(place.value()) } });
    else
        std::cout << utf8Text(place.value()) << std::endl;
    return kDone;
}

std::uint64_t sizeOf(const std::filesystem::path& folder)
{
    std::uint64_t bytes = 0;
    std::error_code unknown;
    for (std::filesystem::recursive_directory_iterator entries(folder, unknown), end; entries != end && !unknown;
        entries.increment(unknown))
        if (entries->is_regular_file(unknown))
            bytes += entries->file_size(unknown);
    return bytes;
}

int list(bool json)
{
    const auto models = modelsFolder();
    if (!models.ok())
        return fail(models.error(), json);
    auto all = nlohmann::json::array();
    const auto owners = entriesOf(models.value());
    for (const auto& owner : owners.ok() ? owners.value() : std::vector<std::filesystem::path>()) {
        const auto there = entriesOf(owner);
        for (const auto& model : there.ok() ? there.value() : std::vector<std::filesystem::path>()) {
            if (model.filename() == "" || model.extension() == ".lock")
                continue;
            all.push_back({ { "place", utf8Text(model) }, { "bytes", sizeOf(model) },
                { "whole", model.extension() != ".part" } });
        }
    }
    if (json) {
        print(all);
        return kDone;
    }
    for (const auto& model : all)
        std::cout << plainLine(model["place"].get<std::string>()) << "  "
                  << formatBytes(model["bytes"].get<std::uint64_t>())
                  << (model["whole"].get<bool>() ? "" : "  not whole: fetching it again goes on") << "\n";
    if (all.empty())
        std::cout << "No model was fetched yet. They would lie in " << utf8Text(models.value()) << ".\n";
    std::cout << std::flush;
    return kDone;
}

} // namespace

Status bringModel(std::string& model, bool quiet)
{
    if (!isHubModel(model))
        return {};
    FURROW_TRY_ASSIGN(const auto place, fetched(model, quiet));
    model = utf8Text(place);
    return {};
}

void addModelCommands(CLI::App& app, Chosen& chosen)
{
    auto* group = app.add_subcommand("model", "Models of the Hugging Face hub on this machine.");
    group->require_subcommand(1);
    auto* fetching = group->add_subcommand("fetch",
        "Bring a model to this machine and print where it lies. --init-from, eval, sample, chat and export take hf://owner/name themselves.");
    auto name = std::make_shared<std::string>();
    auto json = std::make_shared<bool>(false);
    fetching
        ->add_option(
            "model", *name, "hf://owner/name, hf://owner/name/FILE.gguf; @revision behind it for another than main.")
        ->required();
    fetching->add_flag("--json", *json, "Print JSON.");
    fetching->callback([&chosen, name, json] { chosen.action = [name, json] { return fetch(*name, *json); }; });
    auto* listing
        = group->add_subcommand("list", "The models that were fetched. What nobody needs can be deleted by hand.");
    listing->add_flag("--json", *json, "Print JSON.");
    listing->callback([&chosen, json] { chosen.action = [json] { return list(*json); }; });
}

} // namespace furrow::ctl
