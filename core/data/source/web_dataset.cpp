#include "core/data/source/web_dataset.h"

#include "core/base/lower_case.h"
#include "core/chat/row_problems.h"
#include "core/data/source/json_text.h"
#include "core/data/source/row_choice.h"
#include "core/data/source/tar_reader.h"

#include <algorithm>
#include <functional>
#include <map>

namespace furrow {

namespace {

constexpr int kColumnSamples = 100;

/// The sample that a file belongs to, and its column: "a/b.en.txt" is "en.txt" of "a/b". An empty column: it belongs to
/// none.
struct Place {
    std::string sample;
    std::string column;
};
Place placeOf(const TarEntry& entry)
{
    const auto slash = entry.name.rfind('/');
    const auto begin = slash == std::string::npos ? 0 : slash + 1;
    const auto dot = entry.name.find('.', begin);
    if (entry.kind != TarEntry::Kind::File || dot == std::string::npos || dot == begin)
        return {};
    return { entry.name.substr(0, dot), lowerCase(std::string_view(entry.name).substr(dot + 1)) };
}

bool endsAs(const std::string& column, std::string_view ending)
{
    return column == ending || column.ends_with("." + std::string(ending));
}

/// One file of a sample, as far as it was wanted.
struct Part {
    std::uint64_t sizeBytes = 0;
    std::string bytes; ///< empty when it was not wanted, or is longer than a row may be
    bool twice = false;
};
struct Sample {
    std::uint64_t begin = 0;
    std::map<std::string, Part> parts; ///< by column
};

/// Walks over samples in bounded memory.
class Samples {
public:
    /// @param wanted  the columns whose bytes are read
    Samples(TarReader reader, std::function<bool(const std::string&)> wanted)
        : reader_(std::move(reader))
        , wanted_(std::move(wanted))
    {
    }
    Result<bool> next(Sample& sample)
    {
        sample = {};
        FURROW_TRY(begin());
        if (!entry_)
            return false;
        const std::string name = place_.sample;
        sample.begin = entry_->begin;
        while (entry_ && place_.sample == name) {
            FURROW_TRY(take(sample));
            FURROW_TRY(advance());
        }
        return true;
    }
    /// Where the next sample, or the end of the archive, begins.
    std::uint64_t position() const { return reader_.place(); }

private:
    Status begin()
    {
        if (begun_)
            return {};
        begun_ = true;
        return advance();
    }
    /// To the next file that belongs to a sample.
    Status advance()
    {
        do {
            FURROW_TRY_ASSIGN(entry_, reader_.next());
            place_ = entry_ ? placeOf(*entry_) : Place {};
        } while (entry_ && place_.column.empty());
        return {};
    }
    Status take(Sample& sample)
    {
        const bool again = sample.parts.contains(place_.column);
        Part& part = sample.parts[place_.column];
        part.sizeBytes = entry_->sizeBytes;
        part.twice = again;
        if (!wanted_(place_.column) || part.sizeBytes > kMaxRowBytes)
            return {};
        part.bytes.resize(static_cast<std::size_t>(part.sizeBytes));
        for (std::size_t filled = 0; filled < part.bytes.size();) {
            FURROW_TRY_ASSIGN(auto n, reader_.read(std::span<char>(part.bytes).subspan(filled)));
            filled += n;
        }
        return {};
    }

    TarReader reader_;
    std::function<bool(const std::string&)> wanted_;
    std::optional<TarEntry> entry_; ///< the first one of the next sample
    Place place_;
    bool begun_ = false;
};

Result<Samples> openSamples(
    FileAccess& access, const DataFile& file, std::uint64_t position, std::function<bool(const std::string&)> wanted)
{
    FURROW_TRY_ASSIGN(auto stream, access.plainFrom(file, position));
    return Samples(TarReader(std::move(stream), file.path, position), std::move(wanted));
}

/// Of a path such as "json.caption": the file, and what leads to the text inside it.
struct Column {
    explicit Column(const std::string& path)
    {
        auto moves = ColumnPath::parse(path).moves();
        if (!moves.empty()) {
            file = moves.front().name;
            moves.erase(moves.begin());
        }
        inside = ColumnPath(std::move(moves));
    }
    std::string file;
    ColumnPath inside;
};

class WebScanner : public RowScanner {
public:
    WebScanner(Samples samples, const DataFile& file, std::string column)
        : samples_(std::move(samples))
        , column_(std::move(column))
        , unitBytes_(unitBytes(file))
    {
    }
    Result<bool> next(std::uint64_t& sizeBytes) override
    {
        auto more = samples_.next(sample_);
        const auto part = sample_.parts.find(column_);
        sizeBytes = part == sample_.parts.end() ? 0 : part->second.sizeBytes;
        return more;
    }
    std::uint64_t position() const override { return samples_.position(); }
    std::uint64_t unit() const override { return sample_.begin / unitBytes_; }

private:
    Samples samples_;
    Sample sample_;
    std::string column_;
    std::uint64_t unitBytes_;
};

class WebRows : public RowReader {
public:
    WebRows(Samples samples, const DataFile& file, Column column)
        : samples_(std::move(samples))
        , column_(std::move(column))
        , json_(column_.inside)
        , unitBytes_(unitBytes(file))
    {
    }
    Result<bool> next(Row& row) override
    {
        row = {};
        auto more = samples_.next(sample_);
        if (!more.ok() || !more.value())
            return more;
        const auto found = sample_.parts.find(column_.file);
        if (found == sample_.parts.end()) {
            row.problem = literal(kRowNoFile);
            return true;
        }
        const Part& part = found->second;
        row.sizeBytes = part.sizeBytes;
        row.problem = part.twice            ? literal(kRowTwoFiles)
            : part.sizeBytes > kMaxRowBytes ? literal(kRowTooLong)
                                            : nullptr;
        if (row.problem != nullptr)
            return true;
        row.text = part.bytes;
        if (!column_.inside.moves().empty()) {
            row.problem = json_.parse(part.bytes);
            row.text = json_.text();
            row.repaired = json_.repaired();
        }
        return true;
    }
    std::uint64_t unit() const override { return sample_.begin / unitBytes_; }

private:
    Samples samples_;
    Sample sample_;
    Column column_;
    JsonText json_;
    std::uint64_t unitBytes_;
};

} // namespace

Result<bool> isWebDataset(std::unique_ptr<ByteStream> tar, const std::string& name)
{
    TarReader reader(std::move(tar), name);
    Place first;
    for (;;) {
        FURROW_TRY_ASSIGN(auto next, reader.next());
        if (!next)
            return false;
        if (next->kind != TarEntry::Kind::File)
            continue;
        const auto place = placeOf(*next);
        if (place.column.empty() || !first.column.empty())
            return !place.column.empty() && place.sample == first.sample && place.column != first.column;
        first = place;
    }
}

Result<FileColumns> readWebColumns(FileAccess& access, const DataFile& file)
{
    FURROW_TRY_ASSIGN(
        auto samples, openSamples(access, file, 0, [](const std::string& column) { return endsAs(column, "json"); }));
    FileColumns columns;
    const auto addOnce = [](std::vector<std::string>& names, const std::string& name) {
        if (std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    };
    Sample sample;
    for (int i = 0; i < kColumnSamples; ++i) {
        FURROW_TRY_ASSIGN(auto more, samples.next(sample));
        if (!more)
            break;
        for (const auto& [column, part] : sample.parts) {
            const auto name = ColumnPath::ofName(column).text();
            addOnce(columns.all, name);
            if (endsAs(column, "txt") || endsAs(column, "text"))
                addOnce(columns.text, name);
            std::vector<std::string> all, texts;
            if (endsAs(column, "json"))
                jsonMembers(part.bytes, all, texts);
            for (const auto& text : texts)
                addOnce(columns.text, name + "." + text);
        }
    }
    return columns;
}

Result<std::unique_ptr<RowScanner>> openWebScanner(
    FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position)
{
    FURROW_TRY_ASSIGN(auto samples, openSamples(access, file, position, [](const std::string&) { return false; }));
    return std::unique_ptr<RowScanner>(
        std::make_unique<WebScanner>(std::move(samples), file, Column(options.textColumn).file));
}

Result<std::unique_ptr<RowReader>> openWebReader(
    FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position)
{
    Column column(options.textColumn);
    FURROW_TRY_ASSIGN(auto samples,
        openSamples(access, file, position, [name = column.file](const std::string& other) { return other == name; }));
    return std::unique_ptr<RowReader>(std::make_unique<WebRows>(std::move(samples), file, std::move(column)));
}

} // namespace furrow
