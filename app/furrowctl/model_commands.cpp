// model fetch, model list: models of the hub on this machine.

#include "app/furrowctl/command.h"
#include "app/furrowctl/hub_models.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/config/message_json.h"
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

/// What is told while a model comes: lines for people on stderr, objects on stdout, or nothing.
enum class Telling { Lines, Json, Nothing };

Result<std::filesystem::path> fetched(const std::string& name, Telling telling)
{
    FURROW_TRY_ASSIGN(const auto spec, parseHubModelSpec(name));
    FURROW_TRY_ASSIGN(const auto models, modelsFolder());
    const auto tell = [telling](const Message& text) {
        if (telling == Telling::Lines)
            std::cerr << plainLine(text.text()) << std::endl;
        else if (telling == Telling::Json)
            print({ { "say", text }, { "message", toJson(text) } });
    };
    setHubProgress([&](const HubProgress& progress) {
        tell(toString(progress));
        if (telling == Telling::Json)
            print({ { "file", progress.file }, { "done", progress.arrivedBytes }, { "total", progress.sizeBytes } });
    });
    auto place = fetchHubModel(spec, models, patientClient(), tell);
    setHubProgress({});
    return place;
}

int fetch(const std::string& name, bool json)
{
    const auto place = fetched(name, json ? Telling::Json : Telling::Lines);
    if (!place.ok())
        return fail(place.error(), json);
    if (json)
        print({ { "model", name }, { "place", utf8Text(place.value()) } });
    else
        std::cout << utf8Text(place.value()) << std::endl;
    return kDone;
}

int list(bool json)
{
    const auto folder = modelsFolder();
    if (!folder.ok())
        return fail(folder.error(), json);
    const auto models = fetchedModels(folder.value());
    if (json) {
        auto all = nlohmann::json::array();
        for (const auto& model : models)
            all.push_back({ { "name", model.name }, { "place", utf8Text(model.place) }, { "bytes", model.sizeBytes },
                { "whole", model.isWhole } });
        print({ { "folder", utf8Text(folder.value()) }, { "models", all } });
        return kDone;
    }
    for (const auto& model : models)
        std::cout << plainLine(model.name) << ", " << formatBytes(model.sizeBytes) << ", in "
                  << plainLine(utf8Text(model.place)) << (model.isWhole ? "" : ": not whole; fetching it again goes on")
                  << "\n";
    if (models.empty())
        std::cout << "No model was fetched yet. They would lie in " << plainLine(utf8Text(folder.value())) << ".\n";
    std::cout << std::flush;
    return kDone;
}

} // namespace

Status bringModel(std::string& model, bool quiet)
{
    if (!isHubModel(model))
        return {};
    FURROW_TRY_ASSIGN(const auto place, fetched(model, quiet ? Telling::Nothing : Telling::Lines));
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
