#include "core/data/hub/hub_spec.h"

#include "core/base/sentence.h"
#include "core/data/source/archive_files.h"
#include "core/data/source/data_format.h"
#include "core/data/source/source_files.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace furrow {

namespace {

constexpr const char* kForm = "hf://owner/name[:config][:split][@revision]";

/// One `data_files` pattern of a config.
struct Pattern {
    std::string split;
    std::string glob;
};
struct Config {
    std::string name;
    std::vector<Pattern> patterns;
    bool isDefault = false;
};

bool isName(std::string_view text)
{
    return !text.empty() && text != "." && text != ".." && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    });
}

/// Never leads out of the repository or of a folder made from it.
bool isSafePath(std::string_view path)
{
    if (path.empty() || path.front() == '/' || path.find('\\') != std::string_view::npos
        || path.find('\0') != std::string_view::npos)
        return false;
    while (!path.empty()) {
        const auto part = path.substr(0, path.find('/'));
        if (part.empty() || part == "." || part == "..")
            return false;
        path.remove_prefix(std::min(path.size(), part.size() + 1));
    }
    return true;
}

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
        text.remove_suffix(1);
    if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
        text = text.substr(1, text.size() - 2);
    return text;
}

/// One path, or those of a list such as [a, "b"], which may go over lines.
/// @param rest  of the YAML behind the line of the value
std::vector<std::string> pathsOf(std::string_view value, std::string_view rest)
{
    if (!value.starts_with('['))
        return { std::string(value) };
    std::string list(value.substr(1));
    if (list.find(']') == std::string::npos)
        list += rest.substr(0, rest.find(']'));
    list.resize(std::min(list.size(), list.find(']')));
    if (list.find('{') != std::string::npos)
        return {}; // of splits with paths, on one line: not read
    std::vector<std::string> paths;
    for (std::string_view items = list; !items.empty();) {
        const auto item = items.substr(0, items.find(','));
        items.remove_prefix(std::min(items.size(), item.size() + 1));
        const auto begin = item.find_first_not_of(" \t\r\n");
        const auto end = item.find_last_not_of(" \t\r\n");
        if (begin != std::string_view::npos)
            paths.emplace_back(trimmed(item.substr(begin, end - begin + 1)));
    }
    return paths;
}

/// Reads the `configs:` list of the YAML head: the few forms that the hub documents, one key a line.
std::vector<Config> readConfigs(std::string_view readme)
{
    std::vector<Config> configs;
    if (!readme.starts_with("---"))
        return configs;
    readme = readme.substr(0, std::min<std::size_t>(readme.size(), 1 << 20));
    readme = readme.substr(0, readme.find("\n---", 3));
    bool inside = false;
    std::string split;
    while (!readme.empty()) {
        std::string_view line = readme.substr(0, readme.find('\n'));
        readme.remove_prefix(std::min(readme.size(), line.size() + 1));
        const bool atMargin = !line.empty() && line.front() != ' ' && line.front() != '-';
        if (atMargin)
            inside = line.starts_with("configs:");
        if (!inside || atMargin)
            continue;
        auto item = trimmed(line);
        if (item.starts_with("- "))
            item = trimmed(item.substr(2));
        const auto colon = item.find(':');
        const auto key = item.substr(0, colon);
        const auto value = colon == std::string_view::npos ? std::string_view() : trimmed(item.substr(colon + 1));
        if (key == "config_name") {
            configs.push_back({ std::string(value), {}, value == "default" });
            split.clear();
        } else if (configs.empty()) {
            continue;
        } else if (key == "split") {
            split = value;
        } else if ((key == "path" || key == "data_files") && !value.empty()) {
            const bool isOpen = value.starts_with('[') && value.find(']') == std::string_view::npos;
            for (auto& path : pathsOf(value, readme))
                configs.back().patterns.push_back({ split.empty() ? "train" : split, std::move(path) });
            if (isOpen)
                readme.remove_prefix(std::min(readme.size(), std::min(readme.size(), readme.find(']')) + 1));
        } else if (key == "default") {
            configs.back().isDefault = value == "true";
        } else if (colon == std::string_view::npos && !item.empty()) {
            configs.back().patterns.push_back(
                { split.empty() ? "train" : split, std::string(trimmed(item)) }); // an entry of a list of paths
        }
    }
    std::erase_if(configs, [](const Config& config) { return config.patterns.empty(); });
    return configs;
}

/// Descriptions of data sets are small .json files in the root, unless the metadata names one by its ending.
bool isDescription(const HubFile& file, const std::vector<Config>& configs)
{
    constexpr std::uint64_t kSmall = 1u << 16;
    if (!file.path.ends_with(".json") || file.path.find('/') != std::string::npos || file.sizeBytes >= kSmall)
        return false;
    return std::none_of(configs.begin(), configs.end(), [&](const Config& config) {
        return std::any_of(config.patterns.begin(), config.patterns.end(), [&](const Pattern& pattern) {
            return pattern.glob.ends_with(".json") && pathMatches(pattern.glob, file.path);
        });
    });
}

/// The split a path tells by its folder or file name, or "".
std::string splitOf(const std::string& path)
{
    static const std::pair<const char*, const char*> kWords[] = { { "train", "train" }, { "training", "train" },
        { "validation", "validation" }, { "valid", "validation" }, { "val", "validation" }, { "dev", "validation" },
        { "test", "test" }, { "testing", "test" }, { "eval", "test" }, { "evaluation", "test" } };
    std::string word;
    std::string found;
    for (const char c : path + "/") {
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
            word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            continue;
        }
        for (const auto& [name, split] : kWords)
            if (word == name)
                found = split;
        word.clear();
    }
    return found;
}

std::string folderOf(const std::string& path)
{
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

/// Without metadata a config is a folder with data files; a lone `data` folder or the root is "default".
std::vector<Config> conventionalConfigs(const std::vector<HubFile>& data)
{
    std::map<std::string, Config> byFolder;
    for (const auto& file : data) {
        std::string folder = folderOf(file.path);
        if (!splitOf(folder.substr(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/') + 1)).empty())
            folder = folderOf(folder);
        const std::string name = folder.empty() || folder == "data" ? "default" : folder;
        auto& config = byFolder[name];
        config.name = name;
        config.isDefault = name == "default";
        const auto split = splitOf(file.path);
        config.patterns.push_back({ split.empty() ? "train" : split, file.path });
    }
    std::vector<Config> all;
    for (auto& [name, config] : byFolder)
        all.push_back(std::move(config));
    return all;
}

template <typename Items, typename NameOf> std::string listed(const Items& items, const NameOf& nameOf)
{
    std::string text;
    std::vector<std::string> names;
    for (const auto& item : items)
        if (std::find(names.begin(), names.end(), nameOf(item)) == names.end())
            names.push_back(nameOf(item));
    for (std::size_t i = 0; i < names.size() && i < 50; ++i)
        text += (i == 0 ? "" : ", ") + names[i];
    return names.size() > 50 ? text + ", and " + std::to_string(names.size() - 50) + " more" : text;
}

Result<Config> chooseConfig(const HubSpec& spec, const std::vector<Config>& configs)
{
    const auto nameOf = [](const Config& config) { return config.name; };
    const auto named = std::find_if(
        configs.begin(), configs.end(), [&](const Config& config) { return config.name == spec.config; });
    if (named != configs.end())
        return *named;
    if (!spec.config.empty())
        return Error { ErrorCode::NotFound,
            sentence(
                "hf://%1 has no config '%2'. It has: %3.", { spec.repository, spec.config, listed(configs, nameOf) }) };
    const auto standard
        = std::find_if(configs.begin(), configs.end(), [](const Config& config) { return config.isDefault; });
    if (standard != configs.end())
        return *standard;
    if (configs.size() == 1)
        return configs.front();
    return Error { ErrorCode::InvalidArgument,
        sentence("hf://%1 has several configs; name one, as in hf://%2:%3. It has: %4.",
            { spec.repository, spec.repository, configs.front().name, listed(configs, nameOf) }) };
}

} // namespace

bool pathMatches(std::string_view pattern, std::string_view path)
{
    if (pattern.starts_with("./"))
        pattern.remove_prefix(2);
    const auto slash = pattern.find('/');
    const auto part = pattern.substr(0, slash);
    if (part == "**") {
        if (slash == std::string_view::npos)
            return true;
        const auto rest = pattern.substr(slash + 1);
        for (std::size_t at = 0; at != std::string_view::npos;) {
            if (pathMatches(rest, path.substr(at)))
                return true;
            const auto next = path.find('/', at);
            at = next == std::string_view::npos ? next : next + 1;
        }
        return false;
    }
    const auto pathSlash = path.find('/');
    if (!globMatches(part, path.substr(0, pathSlash)))
        return false;
    if (slash == std::string_view::npos || pathSlash == std::string_view::npos)
        return slash == pathSlash;
    return pathMatches(pattern.substr(slash + 1), path.substr(pathSlash + 1));
}

Result<HubSpec> parseHubSpec(std::string_view text)
{
    const std::string whole(text);
    const auto wrong = [&](const Message& why) {
        return Error { ErrorCode::InvalidArgument, sentence("%1: %2 The form is %3.", { whole, why, kForm }) };
    };
    if (!text.starts_with("hf://"))
        return wrong(sentence("it does not begin with hf://."));
    text.remove_prefix(5);
    HubSpec spec;
    if (const auto at = text.rfind('@'); at != std::string_view::npos) {
        spec.revision = text.substr(at + 1);
        text = text.substr(0, at);
        if (spec.revision.empty() || !isSafePath(spec.revision))
            return wrong(sentence("the revision is not a name."));
    }
    std::vector<std::string> parts;
    for (;;) {
        const auto colon = text.find(':');
        parts.emplace_back(text.substr(0, colon));
        if (colon == std::string_view::npos)
            break;
        text.remove_prefix(colon + 1);
    }
    if (parts.size() > 3)
        return wrong(sentence("it has too many parts."));
    spec.repository = parts[0];
    if (spec.repository == "wikitext")
        spec.repository = "Salesforce/wikitext";
    else if (spec.repository == "c4")
        spec.repository = "allenai/c4";
    const auto slash = spec.repository.find('/');
    const std::string_view repository = spec.repository;
    if (slash == std::string::npos ? !isName(repository)
                                   : !isName(repository.substr(0, slash)) || !isName(repository.substr(slash + 1)))
        return wrong(sentence("the repository is not owner/name."));
    if (parts.size() > 1)
        spec.config = parts[1];
    if (parts.size() > 2)
        spec.split = parts[2];
    return spec;
}

Result<HubChoice> chooseHubFiles(const HubSpec& spec, const std::vector<HubFile>& tree, std::string_view readme)
{
    std::vector<HubFile> data, archives;
    for (const auto& file : tree)
        if (isSafePath(file.path) && !file.path.starts_with(".") && file.sizeBytes > 0) {
            if (hasDataExtension(file.path))
                data.push_back(file);
            else if (hasArchiveExtension(file.path))
                archives.push_back(file);
        }
    auto configs = readConfigs(readme);
    HubChoice choice;
    std::erase_if(data, [&](const HubFile& file) {
        const bool isOne = isDescription(file, configs);
        if (isOne && !file.path.starts_with("dataset_info"))
            choice.skipped.push_back(sentence(
                "%1 is a small .json in the root of hf://%2, as descriptions of data sets are, and was left out.",
                { file.path, spec.repository }));
        return isOne;
    });
    if (data.empty() && archives.empty())
        return Error { ErrorCode::NotFound,
            sentence("hf://%1 has no file with text (txt, csv, tsv, jsonl, parquet, zip, tar).", { spec.repository }) };
    if (configs.empty()) // archives beside data mostly hold the same once more
        configs = conventionalConfigs(data.empty() ? archives : data);
    data.insert(data.end(), archives.begin(), archives.end());
    HubSpec asked = spec;
    const auto isSplit = [&](const Config& config) {
        return std::any_of(
            config.patterns.begin(), config.patterns.end(), [&](const Pattern& p) { return p.split == spec.config; });
    };
    const bool named
        = std::any_of(configs.begin(), configs.end(), [&](const Config& c) { return c.name == spec.config; });
    if (!spec.config.empty() && spec.split.empty() && !named && configs.size() == 1 && isSplit(configs.front())) {
        asked.split = spec.config; // hf://owner/name:test, where there is one config
        asked.config.clear();
    }
    FURROW_TRY_ASSIGN(auto config, chooseConfig(asked, configs));
    const auto& patterns = config.patterns;
    const auto has = [&](const std::string& split) {
        return std::any_of(patterns.begin(), patterns.end(), [&](const Pattern& p) { return p.split == split; });
    };
    choice.config = config.name;
    choice.split = !asked.split.empty() ? asked.split : has("train") ? "train" : patterns.front().split;
    if (!has(choice.split))
        return Error { ErrorCode::NotFound,
            sentence("hf://%1:%2 has no split '%3'. It has: %4.",
                { spec.repository, choice.config, choice.split,
                    listed(patterns, [](const Pattern& p) { return p.split; }) }) };
    for (const auto& file : data)
        if (std::any_of(patterns.begin(), patterns.end(),
                [&](const Pattern& p) { return p.split == choice.split && pathMatches(p.glob, file.path); }))
            choice.files.push_back(file);
    if (choice.files.empty())
        return Error { ErrorCode::NotFound,
            sentence("hf://%1:%2:%3 names no file that is there.", { spec.repository, choice.config, choice.split }) };
    std::sort(choice.files.begin(), choice.files.end(),
        [](const HubFile& a, const HubFile& b) { return naturalLess(a.path, b.path); });
    return choice;
}

} // namespace furrow
