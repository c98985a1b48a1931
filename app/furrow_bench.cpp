#include "app/furrow_bench.h"

#include "core/base/path.h"
#include "core/trials/synthetic_run.h"
#include "ui/bench/ui_bench.h"

#include <QStringList>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

int runConsoleBench(const std::string& name, const std::string& jsonFile)
{
    const auto results = furrow::runUiBench(QString::fromStdString(name));
    if (results.empty()) {
        std::cerr << "furrow: there is no bench '" << name << "'. Known are all, "
                  << furrow::uiBenchNames().join(QStringLiteral(", ")).toStdString() << ".\n";
        return 2;
    }
    nlohmann::json rows = nlohmann::json::array();
    for (const furrow::BenchResult& result : results) {
        std::cout << std::left << std::setw(44) << result.name.toStdString() << std::right << std::fixed
                  << std::setprecision(2) << std::setw(10) << result.value << ' ' << result.unit.toStdString()
                  << "  target " << result.target << (result.met ? "  met" : "  missed") << '\n';
        rows.push_back({ { "name", result.name.toStdString() }, { "value", result.value },
            { "unit", result.unit.toStdString() }, { "target", result.target }, { "met", result.met } });
    }
    if (jsonFile.empty())
        return 0;
    std::ofstream file(jsonFile);
    file << nlohmann::json { { "results", rows } }.dump(2) << '\n';
    if (!file.good())
        std::cerr << "furrow: " << jsonFile << " could not be written.\n";
    return file.good() ? 0 : 1;
}

int makeSyntheticRun(const std::string& folder, const furrow::SyntheticRun& run)
{
    const auto totals = furrow::writeSyntheticRun(furrow::pathFromUtf8(folder), run);
    if (!totals.ok()) {
        std::cerr << "furrow: " << totals.error().message << '\n';
        return 1;
    }
    std::cout << folder << ": " << totals.value().stepLines << " steps, " << totals.value().bytes
              << " bytes. Show it with: furrow " << folder << '\n';
    return 0;
}
