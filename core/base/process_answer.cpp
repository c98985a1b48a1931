#include "core/base/process_answer.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/scratch_folder.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <cstdlib>

namespace furrow {

namespace {

constexpr std::uint64_t kMostOutput = 1 << 20;
#ifdef _WIN32
constexpr char kBetweenPaths = ';';
constexpr const char* kProgramEnding = ".exe";
#else
constexpr char kBetweenPaths = ':';
constexpr const char* kProgramEnding = "";
#endif

} // namespace

std::string ProcessAnswer::lastLine() const
{
    std::string_view line = text;
    while (line.ends_with('\n') || line.ends_with('\r'))
        line.remove_suffix(1);
    return std::string(line.substr(line.find_last_of('\n') + 1));
}

Message ProcessAnswer::reason() const
{
    if (const auto why = unanswered(); !why.empty())
        return why;
    const auto line = lastLine();
    return line.empty() ? exit->describe() : Message(line);
}

Message ProcessAnswer::unanswered() const
{
    if (!exit)
        return sentence("it took longer than %1 s",
            { Real(static_cast<double>(patience.count()) / 1000, patience.count() % 1000 == 0 ? 0 : 1) });
    return exit->signal != 0 ? sentence("it ended before it answered (%1)", { exit->describe() }) : Message();
}

Result<ProcessAnswer> askProcess(
    const std::filesystem::path& program, ProcessOptions options, std::chrono::milliseconds patience)
{
    std::error_code unknown;
    FURROW_TRY_ASSIGN(auto folder, ScratchFolder::make(std::filesystem::temp_directory_path(unknown)));
    options.outputFile = folder / "answer";
    FURROW_TRY_ASSIGN(auto child, ChildProcess::start(program, options));
    ProcessAnswer answer;
    answer.patience = patience;
    answer.exit = child.wait(patience);
    const auto said = readFile(options.outputFile, kMostOutput);
    answer.text = said.ok() ? said.value() : std::string();
    return answer;
}

std::filesystem::path programInPath(const std::string& name)
{
    const char* path = std::getenv("PATH");
    std::string_view rest = path ? path : "";
    while (!rest.empty()) {
        const auto end = std::min(rest.find(kBetweenPaths), rest.size());
        const auto folder = pathFromUtf8(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const auto program = folder / (name + kProgramEnding);
        std::error_code error;
        if (folder.is_absolute() && std::filesystem::is_regular_file(program, error))
            return program;
    }
    return {};
}

} // namespace furrow
