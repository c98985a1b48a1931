#include "core/data/hub/hub_client.h"

#include "core/base/file_system.h"
#include "core/base/path.h"

#include <cstdlib>
#include <utility>

namespace furrow {

namespace {

std::string environment(const char* name)
{
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// A token is one line: what follows its line break would become lines of the request.
std::string firstLine(const std::string& text) { return text.substr(0, text.find_first_of("\r\n")); }

bool isTrue(const std::string& value)
{
    return value == "1" || value == "true" || value == "TRUE" || value == "yes" || value == "ON" || value == "on";
}

} // namespace

HubSettings HubSettings::fromEnvironment()
{
    HubSettings settings;
    const auto named = withoutAccount(environment("HF_ENDPOINT"));
    std::string endpoint = named.address;
    while (endpoint.ends_with('/'))
        endpoint.pop_back();
    const bool mirror = !endpoint.empty() && originOf(endpoint) != originOf(settings.endpoint);
    if (!originOf(endpoint).empty()) {
        settings.endpoint = endpoint;
        settings.account = Secret(named.account);
    }
    settings.offline = isTrue(environment("HF_HUB_OFFLINE"));
    std::string token = firstLine(environment("HF_TOKEN"));
    if (token.empty() && !mirror && !isTrue(environment("HF_HUB_DISABLE_IMPLICIT_TOKEN"))) {
        std::string path = environment("HF_TOKEN_PATH");
        if (path.empty()) {
            const std::string home = environment("HF_HOME");
            path = (home.empty() ? environment("HOME") + "/.cache/huggingface" : home) + "/token";
        }
        auto text = readFile(pathFromUtf8(path), 4096);
        if (text.ok())
            token = firstLine(text.value());
    }
    settings.token = Secret(std::move(token));
    settings.web = WebSecrets::fromEnvironment();
    return settings;
}

} // namespace furrow
