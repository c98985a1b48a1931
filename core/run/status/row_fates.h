#pragma once

#include "core/data/plan/duplicate_index.h"
#include "core/data/source/data_manifest.h"
#include "core/tracker/ledger_reader.h"

#include <filesystem>
#include <functional>
#include <vector>

namespace furrow {

/// What became of the rows of a data set in a run, by the chunks that they lie in: as the ledger had it when this was
/// made. Const methods are thread-safe.
class RowFates {
public:
    enum class Fate {
        Open, ///< may still be trained, as far as the ledger knows
        Trained, ///< its chunk, or a part of one that was left out since, is in a surviving checkpoint, or the start
                 ///< weights have seen it
        /// Its chunk or its file is left out, a person accepted that it is not trained, or no step of its chunk was
        /// finite. In which of the windows of a chunk a row lies is not known here: one window trained counts as all.
        LeftOut,
    };

    /// Reads all plans, all chunks and, where something was left out by name, all parts.
    static Result<RowFates> read(LedgerReader& ledger, const DataManifest& manifest);

    Fate of(RowPlace place) const;

private:
    struct Stretch {
        RowPlace first;
        std::int64_t rows = 0;
        Fate fate = Fate::Open;
    };
    void add(const Stretch& stretch);

    std::vector<Stretch> stretches_; ///< by place
    Fate ofOthers_ = Fate::Open; ///< rows that are in no block
};

/// Which rows of the data of a run are in its surviving weights: not those that repeat another row where such are left
/// out.
/// @param dataManifest  of run.json
Result<std::function<bool(RowPlace)>> trainedRows(
    LedgerReader& ledger, const std::string& dataManifest, const std::filesystem::path& duplicatesFile);

/// Texts that stand in rows that are left out and in rows that count as repeats of those: no row with them is trained.
Result<std::int64_t> textsWithoutARow(const DuplicateIndex& duplicates, const RowFates& fates, double heldOutPercent);
/// The same as a sentence; "" for none.
Message textsWithoutARowInWords(std::int64_t texts);

} // namespace furrow
