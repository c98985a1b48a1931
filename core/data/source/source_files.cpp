#include "core/data/source/source_files.h"

#include "core/base/absolute_path.h"
#include "core/base/denied.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/redact.h"
#include "core/base/sentence.h"
#include "core/data/source/archive_files.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace furrow {

namespace {

namespace fs = std::filesystem;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view takeNumber(std::string_view& text)
{
    std::size_t n = 0;
    while (n < text.size() && isDigit(text[n]))
        ++n;
    auto digits = text.substr(0, n);
    text.remove_prefix(n);
    while (digits.size() > 1 && digits.front() == '0')
        digits.remove_prefix(1);
    return digits;
}

bool isHidden(const fs::path& path) { return utf8Text(path.filename()).starts_with("."); }

/// Whether a hidden folder has data files. One with very many files is not looked at to its end.
bool holdsData(const fs::path& folder)
{
    constexpr int kMostSeen = 10'000;
    std::error_code error;
    int seen = 0;
    if (!fs::is_directory(folder, error) || fs::is_symlink(folder, error))
        return false;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end && seen < kMostSeen;
        it.increment(error), ++seen) {
        const auto name = utf8Text(it->path().filename());
        std::error_code statError;
        if (!name.starts_with(".") && hasDataExtension(name) && it->is_regular_file(statError))
            return true;
    }
    return false;
}

/// An error of looking that means "there is nothing", not "it cannot be told what is there".
bool isNothingThere(const std::error_code& error)
{
    return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory
        || error == std::errc::too_many_symbolic_link_levels;
}

Error cannotReadFolder(const fs::path& folder, const std::error_code& error)
{
    return { ErrorCode::Io,
        sentence("The folder %1 cannot be read (%2).", { utf8Text(folder), whyNot(folder, error) }) };
}

/// To the next entry. An iterator that fails becomes the end: all behind it would be missing without a word.
Status step(fs::recursive_directory_iterator& it)
{
    const fs::path before = it->path();
    const bool goesInto = it.recursion_pending();
    std::error_code error;
    it.increment(error);
    if (!error)
        return {};
    std::error_code ignored;
    const bool isFolder = goesInto && fs::is_directory(fs::symlink_status(before, ignored));
    return cannotReadFolder(isFolder ? before : before.parent_path(), error);
}

/// Files below `folder`; links out of it are listed as skipped. A folder that cannot be read is an error.
Status walk(const fs::path& folder, SourceFiles& found)
{
    std::error_code error;
    const fs::path root = fs::canonical(folder, error);
    if (error)
        return Error { ErrorCode::Io,
            sentence("The folder %1 cannot be opened (%2).", { utf8Text(folder), whyNot(folder, error) }) };
    fs::recursive_directory_iterator it(root, error);
    if (error)
        return cannotReadFolder(folder, error);
    for (Status stepped; it != fs::recursive_directory_iterator() || !stepped.ok(); stepped = step(it)) {
        FURROW_TRY(stepped);
        const fs::path path = it->path();
        std::error_code statError;
        if (isHidden(path)) {
            it.disable_recursion_pending();
            if (it->is_regular_file(statError) && hasDataExtension(utf8Text(path.filename()))
                && !isNoteOfMacOs(utf8Text(path.filename())))
                found.skipped.push_back(
                    sentence("%1 is hidden (its name begins with a dot) and was left out. Rename it if it is meant.",
                        { utf8Text(path) }));
            else if (holdsData(path))
                found.skipped.push_back(sentence(
                    "%1 is a hidden folder (its name begins with a dot): the data files in it were left out. Rename it if they are meant.",
                    { utf8Text(path) }));
            continue;
        }
        if (it->is_symlink(statError)) {
            const auto target = fs::canonical(path, statError);
            if (statError) {
                found.skipped.push_back(sentence("%1 is a link to nothing that is there.", { utf8Text(path) }));
                continue;
            }
            if (!isInside(target, root)) {
                found.skipped.push_back(
                    sentence("%1 is a link out of the folder; name its target as a source of its own if it is meant.",
                        { utf8Text(path) }));
                continue;
            }
        }
        const bool isFile = it->is_regular_file(statError);
        if (statError && !isNothingThere(statError))
            return Error { ErrorCode::Io,
                sentence("%1 cannot be opened (%2).", { utf8Text(path), whyNot(path, statError) }) };
        if (!isFile)
            continue;
        if (found.paths.size() >= kMaxSourceFiles)
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 has more than %2 files. Name a smaller folder, or join the files.",
                    { utf8Text(folder), Count(static_cast<std::int64_t>(kMaxSourceFiles)) }) };
        found.paths.push_back(utf8Text(path));
    }
    return {};
}

/// In a folder with data files, other files (README, LICENSE, checksums) are left out.
void keepDataFiles(SourceFiles& found)
{
    const auto isData = [](const std::string& path) { return hasDataExtension(path) || hasArchiveExtension(path); };
    if (std::none_of(found.paths.begin(), found.paths.end(), isData))
        return;
    std::erase_if(found.paths, [&](const std::string& path) {
        if (isData(path))
            return false;
        found.skipped.push_back(sentence(
            "%1 has no name of a data file (.txt .csv .tsv .jsonl .json .parquet .arrow .warc) and was left out.",
            { path }));
        return true;
    });
}

/// A link to a file that is found by its own name too would train it twice.
void leaveOutSecondNames(SourceFiles& found)
{
    std::error_code failed;
    std::set<fs::path> files;
    for (const std::string& path : found.paths)
        if (const fs::path file = pathFromUtf8(path); !fs::is_symlink(file, failed))
            files.insert(fs::weakly_canonical(file, failed));
    std::erase_if(found.paths, [&](const std::string& path) {
        const fs::path file = pathFromUtf8(path);
        const auto target = fs::is_symlink(file, failed) ? fs::weakly_canonical(file, failed) : fs::path();
        if (target.empty() || files.insert(target).second)
            return false;
        found.skipped.push_back(
            sentence("%1 is a link to %2, which is read already, and was left out.", { path, utf8Text(target) }));
        return true;
    });
}

Status expandGlob(const fs::path& base, const std::vector<std::string>& parts, std::size_t index, SourceFiles& found)
{
    if (index == parts.size()) {
        std::error_code error;
        if (fs::is_regular_file(base, error))
            found.paths.push_back(utf8Text(base));
        else if (error && !isNothingThere(error))
            return Error { ErrorCode::Io,
                sentence("%1 cannot be opened (%2).", { utf8Text(base), whyNot(base, error) }) };
        if (found.paths.size() > kMaxSourceFiles)
            return Error { ErrorCode::InvalidArgument,
                sentence(
                    "The pattern names more than %1 files.", { Count(static_cast<std::int64_t>(kMaxSourceFiles)) }) };
        return {};
    }
    const std::string& part = parts[index];
    if (part.find_first_of("*?[") == std::string::npos)
        return expandGlob(base / pathFromUtf8(part), parts, index + 1, found);
    if (part == "**")
        FURROW_TRY(expandGlob(base, parts, index + 1, found));
    std::error_code error;
    for (fs::directory_iterator it(base.empty() ? fs::path(".") : base, error), end; !error && it != end;
        it.increment(error)) {
        if (isHidden(it->path()) && !part.starts_with("."))
            continue;
        std::error_code statError;
        const bool folder = it->is_directory(statError) && !it->is_symlink(statError);
        const bool deeper = part == "**" && folder;
        if (!deeper && (part == "**" || !globMatches(part, utf8Text(it->path().filename()))))
            continue;
        FURROW_TRY(expandGlob(it->path(), parts, deeper ? index : index + 1, found));
    }
    return error && !isNothingThere(error) ? Status(cannotReadFolder(base, error)) : Status {};
}

Result<SourceFiles> findByGlob(const std::string& spec)
{
    SourceFiles found;
    std::error_code error;
    const fs::path absolute = fs::absolute(pathFromUtf8(spec), error);
    std::vector<std::string> parts;
    for (const auto& part : absolute.relative_path())
        parts.push_back(utf8Text(part));
    FURROW_TRY(expandGlob(absolute.root_path(), parts, 0, found));
    if (found.paths.empty())
        return Error { ErrorCode::NotFound, sentence("No file matches %1.", { spec }) };
    return found;
}

void sortNaturally(std::vector<std::string>& paths)
{
    std::sort(paths.begin(), paths.end(), [](const std::string& a, const std::string& b) { return naturalLess(a, b); });
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
}

} // namespace

bool isNoteOfMacOs(std::string_view name) { return name.starts_with("._"); }

bool naturalLess(std::string_view a, std::string_view b)
{
    const std::string_view wholeA = a;
    const std::string_view wholeB = b;
    while (!a.empty() && !b.empty()) {
        if (isDigit(a.front()) && isDigit(b.front())) {
            const auto x = takeNumber(a);
            const auto y = takeNumber(b);
            if (x.size() != y.size())
                return x.size() < y.size();
            if (x != y)
                return x < y;
            continue;
        }
        if (a.front() != b.front())
            return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    if (a.empty() && b.empty())
        return wholeA < wholeB; // "01" and "1"
    return a.empty();
}

bool globMatches(std::string_view pattern, std::string_view name)
{
    std::size_t p = 0, n = 0;
    std::size_t star = std::string_view::npos, mark = 0;
    while (n < name.size()) {
        std::size_t next = p + 1;
        bool matches = false;
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            mark = n;
            continue;
        }
        if (p < pattern.size() && pattern[p] == '[') {
            const auto close = pattern.find(']', p + 2);
            if (close != std::string_view::npos) {
                const bool negated = pattern[p + 1] == '!' || pattern[p + 1] == '^';
                bool inside = false;
                for (std::size_t i = p + 1 + (negated ? 1 : 0); i < close; ++i) {
                    const bool range = i + 2 < close && pattern[i + 1] == '-';
                    inside = inside
                        || (range ? pattern[i] <= name[n] && name[n] <= pattern[i + 2] : pattern[i] == name[n]);
                    i += range ? 2 : 0;
                }
                matches = inside != negated;
                next = close + 1;
            }
        } else if (p < pattern.size()) {
            matches = pattern[p] == '?' || pattern[p] == name[n];
        }
        if (matches) {
            p = next;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

Result<SourceFiles> findSourceFiles(const std::string& spec)
{
    SourceFiles found;
    std::error_code error;
    const fs::path path = pathFromUtf8(spec);
    const auto status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) {
        if (spec.find_first_of("*?[") == std::string::npos)
            return Error { ErrorCode::NotFound,
                sentence(
                    "%1 does not exist. Check the path, or write hf://owner/name for a data set of the hub, https://... for a file of a server.",
                    { missingNameShown(spec) }) };
        FURROW_TRY_ASSIGN(found, findByGlob(spec));
        leaveOutSecondNames(found);
        sortNaturally(found.paths);
        return found;
    }
    if (status.type() == fs::file_type::directory) {
        FURROW_TRY(walk(path, found));
        keepDataFiles(found);
        leaveOutSecondNames(found);
        sortNaturally(found.paths);
        if (found.paths.empty())
            return Error { ErrorCode::InvalidArgument, sentence("The folder %1 has no file with text.", { spec }) };
        return found;
    }
    if (status.type() != fs::file_type::regular)
        return Error { ErrorCode::InvalidArgument,
            error ? sentence("%1 cannot be opened (%2).", { spec, whyNot(path, error) })
                  : sentence("%1 is not a file or folder that can be read.", { spec }) };
    found.paths.push_back(utf8Text(fs::absolute(path, error).lexically_normal()));
    found.single = true;
    return found;
}

} // namespace furrow
