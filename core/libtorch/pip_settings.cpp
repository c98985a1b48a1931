// pip's own parser is Python's configparser with interpolation switched off: sections, "key = value", values that go on
// in indented lines, and comments. Source: pip's user guide, "Configuration".

#include "core/libtorch/pip_settings.h"

#include "core/base/file_system.h"
#include "core/base/lower_case.h"
#include "core/base/path.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace furrow {

namespace {

constexpr std::uint64_t kMostConfigBytes = 1 << 20;
constexpr const char* kDefaultIndex = "https://pypi.org/simple/";
constexpr const char* kKeys[] = { "index-url", "extra-index-url", "find-links", "no-index", "cert", "proxy" };

using Values = std::map<std::string, std::string>;
using Variable = std::function<const char*(const char*)>;

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view kBlank = " \t\r";
    const auto from = std::min(text.find_first_not_of(kBlank), text.size());
    const auto to = text.find_last_not_of(kBlank);
    return to == std::string_view::npos ? std::string_view() : text.substr(from, to + 1 - from);
}

std::vector<std::string> words(const std::string& text)
{
    std::vector<std::string> all;
    for (std::size_t at = 0; at < text.size();) {
        const auto from = text.find_first_not_of(" \t\r\n", at);
        if (from == std::string::npos)
            break;
        at = std::min(text.find_first_of(" \t\r\n", from), text.size());
        all.push_back(text.substr(from, at - from));
    }
    return all;
}

/// What one file says in [global] and, stronger, in [download].
void readFileInto(const std::filesystem::path& path, Values& values)
{
    const auto text = readFile(path, kMostConfigBytes);
    std::map<std::string, Values> sections;
    std::string section, key;
    std::string_view rest = text.ok() ? std::string_view(text.value()) : std::string_view();
    while (!rest.empty()) {
        const auto end = std::min(rest.find('\n'), rest.size());
        const auto whole = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const auto line = trimmed(whole);
        const auto equals = line.find_first_of("=:");
        if (line.empty() || line.front() == '#' || line.front() == ';')
            continue;
        if (line.front() == '[') {
            section = trimmed(line.substr(1, line.find(']') - 1));
            key.clear();
        } else if ((whole.front() == ' ' || whole.front() == '\t') && !key.empty()) {
            sections[section][key] += " " + std::string(line);
        } else if (equals != std::string_view::npos) {
            key = trimmed(line.substr(0, equals));
            std::transform(key.begin(), key.end(), key.begin(),
                [](unsigned char c) { return c == '_' ? '-' : static_cast<char>(std::tolower(c)); });
            sections[section][key] = trimmed(line.substr(equals + 1));
        }
    }
    for (const char* name : { "global", "download" })
        for (const auto& [known, value] : sections[name])
            values[known] = value;
}

std::filesystem::path pathFrom(const Variable& variable, const char* name)
{
    const char* value = variable(name);
    return value && *value ? pathFromUtf8(value) : std::filesystem::path();
}

std::vector<std::filesystem::path> configFiles(const Variable& variable)
{
    const auto named = pathFrom(variable, "PIP_CONFIG_FILE");
    if (named == "/dev/null") // pip's word for: none
        return {};
    std::vector<std::filesystem::path> files;
    const auto home = pathFrom(variable, "HOME");
    auto config = pathFrom(variable, "XDG_CONFIG_HOME");
    if (config.empty() && !home.empty())
        config = home / ".config";
#ifdef _WIN32
    files.push_back(pathFrom(variable, "PROGRAMDATA") / "pip" / "pip.ini");
    files.push_back(pathFrom(variable, "APPDATA") / "pip" / "pip.ini");
#else
    files.insert(files.end(), { "/etc/xdg/pip/pip.conf", "/etc/pip.conf" });
    if (!home.empty())
        files.push_back(home / ".pip" / "pip.conf");
    if (!config.empty())
        files.push_back(config / "pip" / "pip.conf");
#endif
    if (const auto environment = pathFrom(variable, "VIRTUAL_ENV"); !environment.empty())
        files.push_back(environment / "pip.conf");
    if (!named.empty())
        files.push_back(named);
    return files;
}

std::string nameOfVariable(std::string key)
{
    std::transform(key.begin(), key.end(), key.begin(),
        [](unsigned char c) { return c == '-' ? '_' : static_cast<char>(std::toupper(c)); });
    return "PIP_" + key;
}

bool isYes(const std::string& said)
{
    const std::string text = lowerCase(said);
    return text == "1" || text == "true" || text == "yes" || text == "on" || text == "y" || text == "t";
}

IndexAddress addressOf(const std::string& text)
{
    const auto parts = withoutAccount(text);
    return { parts.address, Secret(parts.account) };
}

} // namespace

PipSettings readPipSettings(const Variable& variable)
{
    Values values;
    for (const auto& file : configFiles(variable))
        readFileInto(file, values);
    for (const char* key : kKeys)
        if (const char* value = variable(nameOfVariable(key).c_str()); value && *value)
            values[key] = value;
    PipSettings settings;
    if (values["index-url"].empty())
        values["index-url"] = kDefaultIndex;
    if (!isYes(values["no-index"]))
        for (const auto& text : words(values["index-url"] + " " + values["extra-index-url"]))
            settings.indexes.push_back(addressOf(text.ends_with('/') ? text : text + "/"));
    for (const auto& text : words(values["find-links"])) {
        if (text.starts_with("http://") || text.starts_with("https://"))
            settings.pages.push_back(addressOf(text));
        else
            settings.folders.push_back(text.starts_with("file://") ? text.substr(7) : text);
    }
    settings.certificates = values["cert"];
    settings.proxy = Secret(values["proxy"]);
    return settings;
}

} // namespace furrow
