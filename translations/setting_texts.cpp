// Prints the texts of settings and presets as C++ for lupdate.
#include "core/config/schema.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

using namespace furrow;

namespace {

std::set<std::string> told;

void tell(const char* context, const std::string& text)
{
    const std::string quoted = nlohmann::json(text).dump(); // a C++ literal too
    if (!text.empty() && told.insert(context + quoted).second)
        std::printf("    QT_TRANSLATE_NOOP(\"%s\", %s),\n", context, quoted.c_str());
}

} // namespace

int main()
{
    std::printf("const char* const texts[] = {\n");
    for (const Setting& setting : settings()) {
        for (const std::string& text :
            { setting.label, setting.unit, setting.zeroMeans, setting.help, toString(setting.group) })
            tell("Schema", text);
        for (const SettingChoice& choice : setting.choices)
            tell("Choices", choice.label);
    }
    for (const Preset& preset : presets()) {
        tell("Schema", preset.title.find(", ") == std::string::npos ? "" : preset.title); // the others are names
        tell("Schema", preset.hint);
    }
    std::printf("};\n");
}
