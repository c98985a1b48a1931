#include "core/data/plan/row_walk.h"

#include "core/base/sentence.h"
#include "core/chat/row_problems.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/plan/passed_over.h"
#include "core/data/source/distant_source.h"
#include "core/data/source/file_access.h"
#include "core/data/source/row_choice.h"
#include "core/data/source/row_reader.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace furrow {

namespace {

using Visit = std::function<Result<Walk>(const Row&, const WalkedRow&)>;

/// The walk over one source.
class SourceWalk {
public:
    SourceWalk(const RunConfig& config, DirectAccess& access, const RowChoice& choice, const RowOptions& options,
        const DataSource& source, std::size_t number, std::int64_t firstFile, const Visit& visit, bool isOneFile)
        : config_(config)
        , access_(access)
        , choice_(choice)
        , options_(options)
        , source_(source)
        , number_(number)
        , firstFile_(firstFile)
        , visit_(visit)
        , isOneFile_(isOneFile)
    {
    }
    /// On: to its end.
    Result<Walk> go()
    {
        for (std::size_t f = 0; f < source_.files.size() && !choice_.isBehindEnd(passed_); ++f) {
            if (!choice_.keepsFile(number_, f))
                continue;
            FURROW_TRY_ASSIGN(const Walk then, file(f));
            if (then != Walk::On)
                return then;
            if (isOneFile_ && visited_ > 0)
                break;
        }
        return Walk::On;
    }

private:
    /// Rows of a file, one behind the other.
    struct Stretch {
        std::int64_t begin = 0;
        std::int64_t past = std::numeric_limits<std::int64_t>::max();
    };

    Result<Walk> file(std::size_t f)
    {
        const DataFile& file = source_.files[f];
        FURROW_TRY_ASSIGN(const auto stretches, stretchesOf(f));
        for (const Stretch& stretch : stretches) {
            FURROW_TRY_ASSIGN(const Walk then, walk(f, stretch));
            if (then != Walk::On)
                return then;
        }
        const bool isLastOfItsArchive
            = f + 1 == source_.files.size() || source_.files[f + 1].pathOnDisk() != file.pathOnDisk();
        if (isLastOfItsArchive && !choice_.isBehindEnd(passed_))
            FURROW_TRY(access_.finishArchive());
        return Walk::On;
    }

    /// What a fraction leaves out of Parquet lies between them: row groups that are neither read nor fetched.
    Result<std::vector<Stretch>> stretchesOf(std::size_t f)
    {
        const DataFile& file = source_.files[f];
        if (!choice_.hasFraction() || choice_.choosesFiles(number_) || file.format.format != TextFormat::Parquet)
            return std::vector<Stretch> { Stretch {} };
        std::vector<Stretch> stretches;
        FURROW_TRY_ASSIGN(auto scanner, openRowScanner(access_, file, options_, 0));
        for (std::int64_t row = 0;; ++row) {
            std::uint64_t sizeBytes = 0;
            FURROW_TRY_ASSIGN(const bool more, scanner->next(sizeBytes));
            if (!more)
                return stretches;
            if (!choice_.keeps(number_, f, scanner->unit()))
                continue;
            if (!stretches.empty() && stretches.back().past == row)
                ++stretches.back().past;
            else
                stretches.push_back({ row, row + 1 });
        }
    }

    Result<Walk> walk(std::size_t f, const Stretch& stretch)
    {
        if (choice_.isBehindEnd(passed_))
            return Walk::On;
        const DataFile& file = source_.files[f];
        std::int64_t inFile = stretch.begin;
        while (inFile < stretch.past && !choice_.isBehindEnd(passed_)) {
            auto reader = readerAt(file, inFile);
            Status read = reader.ok() ? Status {} : Status(reader.error());
            auto then = read.ok() ? walk(f, *reader.value(), stretch, inFile, read) : Result<Walk>(Walk::On);
            if (!read.ok() && access_.asksAnew(file, inFile, read.error()))
                continue;
            if (!read.ok() && !PassedOver::takes(config_, read.error()))
                return read.error();
            if (!read.ok())
                then = passOver(f, reader.ok() ? reader.value()->rowsLost() : std::nullopt, stretch, inFile);
            if (!then.ok() || then.value() != Walk::On)
                return then;
        }
        return Walk::On;
    }

    /// Only rows of Parquet are entered in the middle.
    Result<std::unique_ptr<RowReader>> readerAt(const DataFile& file, std::int64_t row)
    {
        const std::int64_t entered = file.format.format == TextFormat::Parquet ? row : 0;
        FURROW_TRY_ASSIGN(auto reader, openRowReader(access_, file, options_, static_cast<std::uint64_t>(entered)));
        Row before;
        for (std::int64_t at = entered; at < row; ++at)
            FURROW_TRY(reader->next(before));
        return reader;
    }

    /// @param inFile  the row before which the reader stands; moved along, behind the rows of the stretch at its end
    /// @param read  why the reader gave up, when it did; what the visitor gives is the answer
    Result<Walk> walk(std::size_t f, RowReader& reader, const Stretch& stretch, std::int64_t& inFile, Status& read)
    {
        Row row;
        for (; inFile < stretch.past && !choice_.isBehindEnd(passed_); ++inFile) {
            const auto more = reader.next(row);
            if (!more.ok())
                read = more.error();
            else if (!more.value())
                inFile = stretch.past;
            if (!more.ok() || !more.value())
                break;
            if (!choice_.keeps(number_, f, reader.unit()) || choice_.isBeforeStart(passed_++))
                continue;
            const auto then = visit(row, f, inFile);
            if (!then.ok() || then.value() != Walk::On)
                return then;
        }
        return Walk::On;
    }

    /// Rows that are damaged, which are all of the stretch's: of Parquet a fraction chooses stretches.
    /// @param lost  how many rows are; nullopt: what there is from here on, which the visitor sees as one row
    /// @param inFile  the first of them; moved behind them
    Result<Walk> passOver(std::size_t f, std::optional<std::int64_t> lost, const Stretch& stretch, std::int64_t& inFile)
    {
        const std::int64_t end = lost ? std::min(stretch.past, inFile + *lost) : stretch.past;
        for (std::int64_t at = std::exchange(inFile, end); at < end && !choice_.isBehindEnd(passed_); ++at) {
            if (!choice_.isBeforeStart(passed_++)) {
                Row row;
                row.problem = literal(kRowDamaged);
                row.isDamaged = true;
                const auto then = visit(row, f, at);
                if (!then.ok() || then.value() != Walk::On)
                    return then;
            }
            if (!lost)
                break;
        }
        return Walk::On;
    }

    Result<Walk> visit(const Row& row, std::size_t f, std::int64_t inFile)
    {
        const DataFile& file = source_.files[f];
        ++visited_;
        auto then = visit_(row, { { firstFile_ + static_cast<std::int64_t>(f), inFile }, file, number_ });
        if (!then.ok())
            return then.error().in(sentence("row %1 (counted from 0) of %2", { std::to_string(inFile), file.path }));
        return then;
    }

    const RunConfig& config_;
    DirectAccess& access_;
    const RowChoice& choice_;
    const RowOptions& options_;
    const DataSource& source_;
    std::size_t number_;
    std::int64_t firstFile_;
    const Visit& visit_;
    bool isOneFile_;
    std::int64_t passed_ = 0; ///< rows of the fraction
    std::int64_t visited_ = 0;
};

} // namespace

Status walkRows(const RunConfig& config, const DataManifest& manifest, const Visit& visit, DistantFiles distant)
{
    DirectAccess access;
    const FetchAnewOnce once(KeepHubPieces::current());
    const RowChoice choice(config, manifest);
    const auto firstFiles = firstFilesOf(manifest);
    for (std::size_t s = 0; s < manifest.sources.size(); ++s) {
        const DataSource& source = manifest.sources[s];
        const RowOptions options = rowOptions(config, source);
        const bool isOneFile = distant == DistantFiles::FirstWithRows && isDistantPath(source.spec);
        SourceWalk walk(config, access, choice, options, source, s, firstFiles[s], visit, isOneFile);
        FURROW_TRY_ASSIGN(const Walk then, walk.go());
        if (then == Walk::End)
            break;
    }
    return {};
}

} // namespace furrow
