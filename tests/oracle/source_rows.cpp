// Prints what Furrow reads of a file: {"rows": [...], "warnings": [...]} or {"error": ..., "code": ...}; for the
// scripts of this folder.

#include "core/data/plan/each_row.h"
#include "core/data/plan/inspect.h"

#include <iostream>
#include <nlohmann/json.hpp>

int main(int argc, char** argv)
{
    furrow::RunConfig config;
    config.data = { argc > 1 ? argv[1] : "" };
    config.textColumn = argc > 2 ? argv[2] : "";
    config.dataMode = furrow::DataMode::Lines;
    config.minChars = 0;
    nlohmann::json out;
    const auto fail = [&out](const furrow::Error& error) {
        out = { { "error", error.message }, { "code", static_cast<int>(error.code) } };
    };
    const auto inspection = furrow::inspectData(config);
    if (inspection.ok()) {
        out = { { "rows", nlohmann::json::array() }, { "warnings", inspection.value().warnings },
            { "count", inspection.value().rows } };
        const auto status = furrow::forEachText(config, inspection.value().manifest, [&out](std::string_view text) {
            out["rows"].push_back(text);
            return furrow::Result<bool>(true);
        });
        if (!status.ok())
            fail(status.error());
    } else {
        fail(inspection.error());
    }
    std::cout << out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}
