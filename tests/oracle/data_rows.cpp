#include "core/config/schema.h"
#include "core/data/plan/inspect.h"
#include "core/data/source/row_reader.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

// The other side of data_differ.py: the rows that a run would read.
//   data_rows   reads settings from stdin, one JSON object a line ({"data": ["a.csv"], "text_column": "text"});
//               answers each with a line of JSON, {"refused": why} or {"reading": [...], "rows": n, "wrong": ""},
//               and in the second case with the rows: a byte (0 a text, 1 unreadable), a 4-byte little-endian length,
//               the text or why

using namespace furrow;

namespace {

struct Answer {
    bool unreadable = false;
    std::string text;
    bool operator==(const Answer&) const = default;
};

struct Answers {
    std::vector<Message> reading;
    std::vector<Answer> rows;
    std::string wrong; ///< what contradicts itself: rows read from the middle, or counted, are others than those read
                       ///< from the beginning
};

Status readFrom(FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position,
    std::vector<Answer>& rows)
{
    auto reader = openRowReader(access, file, options, position);
    if (!reader.ok())
        return reader.error();
    for (Row row;;) {
        auto more = reader.value()->next(row);
        if (!more.ok())
            return more.error();
        if (!more.value())
            return {};
        rows.push_back({ row.problem != nullptr, row.problem != nullptr ? row.problem : std::string(row.text) });
    }
}

/// Where a block could begin: the position before each row, and that behind the last one.
Result<std::vector<std::uint64_t>> scan(FileAccess& access, const DataFile& file, const RowOptions& options)
{
    auto scanner = openRowScanner(access, file, options, 0);
    if (!scanner.ok())
        return scanner.error();
    std::vector<std::uint64_t> positions { 0 };
    for (std::uint64_t size = 0;;) {
        auto more = scanner.value()->next(size);
        if (!more.ok())
            return more.error();
        if (!more.value())
            return positions;
        positions.push_back(scanner.value()->position());
    }
}

/// As blocks are planned and prepared: from places in the middle the same rows must follow.
Status compareFromTheMiddle(FileAccess& access, const DataFile& file, const RowOptions& options,
    const std::vector<Answer>& whole, std::string& wrong)
{
    auto positions = scan(access, file, options);
    if (!positions.ok())
        return positions.error();
    const std::size_t rows = positions.value().size() - 1;
    if (rows != whole.size())
        wrong = "planning finds " + std::to_string(rows) + " rows, reading " + std::to_string(whole.size());
    for (const std::size_t row : { rows / 3, 2 * rows / 3, rows - std::min<std::size_t>(rows, 1), rows }) {
        std::vector<Answer> rest;
        if (auto status = readFrom(access, file, options, positions.value()[row], rest); !status.ok())
            return status;
        if (wrong.empty()
            && !std::equal(rest.begin(), rest.end(), whole.begin() + static_cast<std::ptrdiff_t>(row), whole.end()))
            wrong = "read from row " + std::to_string(row) + " on, other rows come";
    }
    return {};
}

Status readFile(const DataSource& source, const DataFile& file, const RunConfig& config, Answers& answers)
{
    DirectAccess access;
    const auto options = rowOptions(config, source);
    std::vector<Answer> rows;
    if (auto status = readFrom(access, file, options, 0, rows); !status.ok())
        return status;
    if (auto status = compareFromTheMiddle(access, file, options, rows, answers.wrong); !status.ok())
        return status;
    answers.rows.insert(answers.rows.end(), rows.begin(), rows.end());
    return {};
}

/// What `furrowctl run` freezes with these settings, and the rows that it would then read.
Result<Answers> answer(const RunConfig& config)
{
    auto inspection = inspectData(config);
    if (!inspection.ok())
        return inspection.error();
    auto manifest = readManifest(inspection.value().manifest);
    if (!manifest.ok())
        return manifest.error();
    Answers answers;
    answers.reading = inspection.value().reading;
    for (const auto& source : manifest.value().sources)
        for (const auto& file : source.files)
            if (auto status = readFile(source, file, config, answers); !status.ok())
                return status.error();
    const auto counted = static_cast<std::size_t>(inspection.value().rows);
    if (answers.wrong.empty() && inspection.value().rowsExact && counted != answers.rows.size())
        answers.wrong = "the probe counts " + std::to_string(counted) + " rows, reading finds "
            + std::to_string(answers.rows.size());
    return answers;
}

void write(const Answer& row)
{
    const auto length = static_cast<std::uint32_t>(row.text.size());
    std::fputc(row.unreadable ? 1 : 0, stdout);
    std::fwrite(&length, sizeof length, 1, stdout);
    std::fwrite(row.text.data(), 1, length, stdout);
}

void write(const nlohmann::json& line)
{
    const std::string text = line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
}

} // namespace

int main()
{
    for (std::string line; std::getline(std::cin, line);) {
        const auto reading = configFromJson(nlohmann::json::parse(line, nullptr, false));
        if (!reading.problems.empty()) {
            std::cerr << toString(reading.problems) << '\n';
            return 2;
        }
        const auto answers = answer(reading.config);
        if (answers.ok()) {
            write(nlohmann::json { { "reading", answers.value().reading }, { "rows", answers.value().rows.size() },
                { "wrong", answers.value().wrong } });
            for (const auto& row : answers.value().rows)
                write(row);
        } else {
            write(nlohmann::json { { "refused", answers.error().message } });
        }
        std::fflush(stdout);
    }
    return 0;
}
