#include "core/data/hub/store_settings.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

namespace furrow {

namespace {

constexpr std::uint64_t kMostIniBytes = 1 << 20;

/// The first of them that has a value; its first line.
std::string environment(std::initializer_list<const char*> names)
{
    for (const char* name : names)
        if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
            return std::string(value, std::strcspn(value, "\r\n"));
    return {};
}

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && std::string_view(" \t\r").find(text.front()) != std::string_view::npos)
        text.remove_prefix(1);
    while (!text.empty() && std::string_view(" \t\r").find(text.back()) != std::string_view::npos)
        text.remove_suffix(1);
    return text;
}

std::string iniFile(const char* variable, const char* name)
{
    std::string path = environment({ variable });
    if (path.empty())
        path = environment({ "HOME", "USERPROFILE" }) + "/.aws/" + name;
    const auto text = readFile(pathFromUtf8(path), kMostIniBytes);
    return text.ok() ? text.value() : std::string();
}

std::string withoutSlash(std::string address)
{
    while (address.ends_with('/'))
        address.pop_back();
    return address;
}

} // namespace

std::string iniValue(std::string_view text, std::string_view section, std::string_view key)
{
    bool inside = false;
    while (!text.empty()) {
        const auto line = trimmed(text.substr(0, text.find('\n')));
        text.remove_prefix(
            std::min(text.size(), text.find('\n') == std::string_view::npos ? text.size() : text.find('\n') + 1));
        if (line.starts_with('['))
            inside = line.ends_with(']') && trimmed(line.substr(1, line.size() - 2)) == section;
        const auto equals = line.find('=');
        if (inside && equals != std::string_view::npos && trimmed(line.substr(0, equals)) == key)
            return std::string(trimmed(line.substr(equals + 1)));
    }
    return {};
}

StoreSettings StoreSettings::fromEnvironment()
{
    StoreSettings settings;
    std::string profile = environment({ "AWS_PROFILE" });
    if (profile.empty())
        profile = "default";
    const std::string config = iniFile("AWS_CONFIG_FILE", "config");
    const std::string section = profile == "default" ? profile : "profile " + profile;
    settings.keys = { environment({ "AWS_ACCESS_KEY_ID" }), Secret(environment({ "AWS_SECRET_ACCESS_KEY" })),
        Secret(environment({ "AWS_SESSION_TOKEN" })) };
    if (settings.keys.id.empty() || settings.keys.secret.empty()) {
        const std::string file = iniFile("AWS_SHARED_CREDENTIALS_FILE", "credentials");
        settings.keys
            = { iniValue(file, profile, "aws_access_key_id"), Secret(iniValue(file, profile, "aws_secret_access_key")),
                  Secret(iniValue(file, profile, "aws_session_token")) };
    }
    if (settings.keys.secret.empty())
        settings.keys = {};
    std::string region = environment({ "AWS_REGION", "AWS_DEFAULT_REGION" });
    if (region.empty())
        region = iniValue(config, section, "region");
    if (!region.empty())
        settings.region = region;
    settings.endpoint = environment({ "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL" });
    if (settings.endpoint.empty())
        settings.endpoint = iniValue(config, section, "endpoint_url");
    settings.endpoint = withoutSlash(settings.endpoint);
    settings.googleToken = Secret(environment({ "CLOUDSDK_AUTH_ACCESS_TOKEN", "GOOGLE_OAUTH_ACCESS_TOKEN" }));
    if (const auto emulator = withoutSlash(environment({ "STORAGE_EMULATOR_HOST" })); !emulator.empty())
        settings.googleEndpoint = emulator.find("://") == std::string::npos ? "http://" + emulator : emulator;
    return settings;
}

bool isStorePath(std::string_view path) { return path.starts_with("s3://") || path.starts_with("gs://"); }

Result<StoreAddress> parseStoreAddress(std::string_view text)
{
    StoreAddress address;
    address.isGoogle = text.starts_with("gs://");
    const auto rest = text.substr(std::min<std::size_t>(5, text.size()));
    const auto slash = std::min(rest.find('/'), rest.size());
    address.bucket = rest.substr(0, slash);
    address.key = rest.substr(std::min(slash + 1, rest.size()));
    const bool isName = !address.bucket.empty()
        && std::all_of(address.bucket.begin(), address.bucket.end(),
            [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; });
    if (!isStorePath(text) || !isName)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 names no bucket. The form is s3://bucket/key or gs://bucket/key; the key may be a file, a folder that ends in /, or a pattern with *.",
                { std::string(text) }) };
    return address;
}

std::string toString(const StoreAddress& address)
{
    return (address.isGoogle ? "gs://" : "s3://") + address.bucket + "/" + address.key;
}

} // namespace furrow
