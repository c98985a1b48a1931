// torch: whether a libtorch is there, taking one that is, bringing one, removing it.

#include "app/furrowctl/command.h"
#include "app/furrowctl/terminal_output.h"
#include "core/base/sentence.h"
#include "core/config/message_json.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/terminal.h"
#include "core/device/driver.h"
#include "core/libtorch/torch_install.h"
#include "core/libtorch/torch_pins.h"
#include "core/libtorch/torch_place.h"
#include "core/libtorch/torch_search.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace furrow::ctl {

namespace {

struct Options {
    bool cpu = false;
    bool cuda = false;
    std::string from;
    std::string folder;
    bool json = false;
};

std::string versionWords(const TorchFacts& facts)
{
    return facts.version.empty() ? "libtorch of an unknown version" : "libtorch " + facts.version;
}

int status(bool json)
{
    const auto place = torchInUse();
    const auto facts = place.ok() ? checkTorch(place.value().folder) : Result<TorchFacts>(place.error());
    const auto outlook = gpuOutlook(gpuDriver(), otherAccelerators(), pinnedCudaMajor());
    if (json) {
        nlohmann::json out = { { "good", facts.ok() }, { "gpu", outlook.words }, { "gpu_usable", outlook.usable } };
        if (place.ok())
            out.update({ { "folder", utf8Text(place.value().folder) }, { "for_all", place.value().isForAll },
                { "unpacked_here", isOurs(place.value().folder) } });
        if (facts.ok())
            out.update({ { "version", facts.value().version }, { "cuda", facts.value().hasCuda } });
        else
            out["error"] = facts.error().message;
        print(out);
        return facts.ok() ? kDone : kFailed;
    }
    if (!facts.ok())
        return fail(facts.error());
    std::cout << versionWords(facts.value()) << (facts.value().hasCuda ? ", with CUDA" : ", for the CPU") << ", in "
              << utf8Text(place.value().folder)
              << (place.value().isForAll                ? ", for all users of this Furrow"
                         : isOurs(place.value().folder) ? ", installed by Furrow"
                                                        : ", found here")
              << ". It works.\n"
              << outlook.words << std::endl;
    return kDone;
}

/// What lies beside the programs goes before what a person chooses.
void warnOfLinkForAll()
{
    if (const auto place = torchInUse(); place.ok() && place.value().isForAll)
        std::cout << "Workers start with " << utf8Text(place.value().folder)
                  << " all the same, which is there for all users of this Furrow." << std::endl;
}

int take(const TorchFacts& facts, bool json)
{
    if (const auto chosen = chooseTorch(facts.folder); !chosen.ok())
        return fail(chosen.error(), json);
    if (json) {
        print({ { "folder", utf8Text(facts.folder) }, { "version", facts.version }, { "cuda", facts.hasCuda } });
        return kDone;
    }
    std::cout << versionWords(facts) << " in " << utf8Text(facts.folder)
              << " fits. Workers start with it from now on; nothing was copied." << std::endl;
    warnOfLinkForAll();
    return kDone;
}

int find(const Options& o)
{
    if (!o.folder.empty()) {
        const auto below = torchBelow(pathFromUtf8(o.folder));
        const auto facts = checkTorch(below.empty() ? pathFromUtf8(o.folder) : below);
        return facts.ok() ? take(facts.value(), o.json) : fail(facts.error(), o.json);
    }
    const auto candidates = searchTorch();
    for (const auto& candidate : candidates) {
        if (candidate.checked.ok())
            return take(candidate.checked.value(), o.json);
        if (!o.json && candidate.checked.error().code != ErrorCode::Busy)
            std::cerr << candidate.from << ": " << candidate.checked.error().message << std::endl;
    }
    for (const auto& candidate : candidates)
        if (candidate.checked.error().code == ErrorCode::Busy) // it may fit
            return fail(candidate.checked.error(), o.json);
    return fail(
        { ErrorCode::NotFound,
            sentence(
                "No libtorch that fits was found in the active environment, in python3 or in /opt/libtorch. `furrowctl torch find FOLDER` looks elsewhere, `furrowctl torch install` brings one.") },
        o.json);
}

/// Draws one line on a terminal; elsewhere says each tenth.
class ProgressLine {
public:
    explicit ProgressLine(bool json)
        : json_(json)
        , draws_(!json && errorsAreOnTerminal())
    {
    }
    void operator()(const TorchInstallProgress& p)
    {
        const bool isNew = p.file != file_ || p.step != step_;
        const auto percent = p.total > 0 ? static_cast<int>(std::min(p.done, p.total) * 100 / p.total) : 0;
        if (!isNew && percent / (draws_ ? 1 : 10) == percent_ / (draws_ ? 1 : 10))
            return;
        file_ = p.file;
        step_ = p.step;
        percent_ = percent;
        const bool fetches = p.step == TorchInstallProgress::Step::Download;
        if (json_) {
            print({ { "step", fetches ? "download" : "unpack" }, { "file", p.file }, { "done", p.done },
                { "total", p.total } });
            return;
        }
        if (draws_)
            clearLine(std::cerr);
        std::cerr << (fetches ? "fetching " : "unpacking ") << p.file << ": " << formatBytes(p.done) << " of "
                  << (p.total > 0 ? formatBytes(p.total) : "?") << ", " << percent << " %" << (draws_ ? "" : "\n")
                  << std::flush;
        drawn_ = draws_;
    }
    void endLine()
    {
        if (std::exchange(drawn_, false))
            clearLine(std::cerr) << std::flush;
    }

private:
    bool json_;
    bool draws_;
    bool drawn_ = false;
    std::string file_;
    TorchInstallProgress::Step step_ = TorchInstallProgress::Step::Download;
    int percent_ = 0;
};

int install(const Options& o)
{
    if (const auto there = requireTrainer(); !there.ok()) // before anything is fetched
        return fail(there.error(), o.json);
    const auto outlook = gpuOutlook(gpuDriver(), otherAccelerators(), pinnedCudaMajor());
    TorchInstallOptions options;
    options.cuda = o.cuda || (!o.cpu && outlook.usable);
    options.from = pathFromUtf8(o.from);
    if (!o.json)
        std::cout << outlook.words << (options.cuda ? "" : " CUDA's libraries are left out; --cuda brings them.")
                  << std::endl;
    ProgressLine line(o.json);
    const TorchInstallListener listener {
        [&](const Message& text) {
            line.endLine();
            if (o.json)
                print({ { "say", text }, { "message", toJson(text) } });
            else
                std::cout << text << std::endl;
        },
        [&](const TorchInstallProgress& p) { line(p); },
    };
    const auto facts = installTorch(options, listener);
    line.endLine();
    if (!facts.ok())
        return fail(facts.error(), o.json);
    if (o.json) {
        print({ { "folder", utf8Text(facts.value().folder) }, { "version", facts.value().version },
            { "cuda", facts.value().hasCuda } });
        return kDone;
    }
    std::cout << versionWords(facts.value()) << " is installed and works. `furrowctl torch remove` removes it again."
              << std::endl;
    warnOfLinkForAll();
    return kDone;
}

int remove(bool json)
{
    const auto removal = removeTorch();
    if (!removal.ok())
        return fail(removal.error(), json);
    const auto& r = removal.value();
    if (json) {
        print({ { "bytes", r.bytes }, { "left", utf8Text(r.left) } });
        return kDone;
    }
    std::cout << (r.bytes > 0 ? formatBytes(r.bytes) + " were removed."
                              : std::string("Furrow has unpacked no libtorch here."))
              << (r.left.empty() ? "" : " " + utf8Text(r.left) + " is not used any more and stays where it is.")
              << std::endl;
    return kDone;
}

} // namespace

void addTorchCommands(CLI::App& app, Chosen& chosen)
{
    auto o = std::make_shared<Options>();
    auto* torch = app.add_subcommand(
        "torch", "The libtorch that workers start with: say what there is, take one, bring one, remove it.");
    torch->require_subcommand(1);
    const auto add = [&](const char* name, const char* what, auto action) {
        auto* command = torch->add_subcommand(name, what);
        command->add_flag("--json", o->json, "Print JSON.");
        command->callback([&chosen, o, action] { chosen.action = [o, action] { return action(*o); }; });
        return command;
    };
    add("status", "Which libtorch is in use, whether it works, and what becomes of the GPUs here.",
        [](const Options& given) { return status(given.json); });
    add("find",
        "Take a libtorch of the series that Furrow was built with, where one is here already: of the active environment, of python3, or of a folder. It is checked first; nothing is copied.",
        [](const Options& given) { return find(given); })
        ->add_option("folder", o->folder, "An unpacked libtorch, site-packages or an environment.");
    auto* fetch = add("install",
        "Fetch libtorch from the package index that pip is configured for, compare its SHA-256 and unpack it for you alone; a second call goes on where one was stopped.",
        [](const Options& given) { return install(given); });
    auto* cpu = fetch->add_flag("--cpu", o->cpu, "Without CUDA's libraries; default where no GPU can be used.");
    fetch->add_flag("--cuda", o->cuda, "With them.")->excludes(cpu);
    fetch->add_option(
        "--from", o->from, "A wheel, an archive of libtorch, or a folder of wheels, instead of an index.");
    add("remove", "Remove what install unpacked. What find took is used no more and stays.",
        [](const Options& given) { return remove(given.json); });
}

} // namespace furrow::ctl
