#pragma once

#include "core/chat/chat_format.h"
#include "core/chat/conversation.h"
#include "core/config/run_config.h"
#include "core/data/source/archive_member.h"
#include "core/data/source/data_format.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// One file of a source as it was when the run was made.
struct DataFile {
    std::string
        path; ///< UTF-8: absolute, or an address (isDistantPath) without secrets; inside an archive "archive.zip/name"
    std::uint64_t sizeBytes = 0; ///< as stored: inside an archive what the file takes there
    std::int64_t modifiedNs = 0; ///< 0 where a revision or a hash of the whole file says more
    std::string hash; ///< SHA-256, of the whole file or of samples of it; of a distant file without one what else names
                      ///< its content; of a file inside an archive that of the archive
    bool wholeHash = false;
    std::string version {}; ///< of a file outside of the hub: what its server called it (ETag, Last-Modified); "": it
                            ///< is known by its hash alone
    bool fetchWhole = false; ///< of the hub, though it could be read by ranges: nearly all of it is needed, and only as
                             ///< a whole it can be checked
    FileFormat format;
    std::optional<ArchiveMember> member; ///< where it lies, when it is inside an archive

    const std::string& pathOnDisk() const { return member ? member->archive : path; }
    std::uint64_t bytesOnDisk() const { return member ? member->archiveBytes : sizeBytes; }
    /// The plain text stands in the file, or in the archive when that is expanded: any offset is a seek.
    bool isStoredPlain() const { return format.isStoredPlain() && (!member || member->isStoredPlain()); }
    /// The plain text is larger than what is stored, by how much is not known.
    bool isCompressed() const
    {
        return format.compression != Compression::None || (member && member->packing != Compression::None);
    }
    bool operator==(const DataFile&) const = default;
};

/// One entry of the setting `data`.
struct DataSource {
    std::string spec; ///< as the user wrote it
    std::string textColumn; ///< "" for plain text
    ConversationForm conversation = ConversationForm::None; ///< of the rows, in the text column
    std::vector<DataFile> files; ///< in natural order
    std::uint64_t fractionDraw = 0; ///< which of the draws of the seed comes nearest to the fraction (RowChoice)
    std::vector<std::string> skipped; ///< files left out, with the reason, one sentence each
    std::string chosen; ///< of a repository of the hub: which config and split, a sentence; not part of what is frozen

    std::uint64_t sizeBytes() const;
};

/// What defines the rows of a data set, frozen in run.json.
struct DataManifest {
    std::vector<DataSource> sources;
    std::string quarantine; ///< text of the list of what is left out (quarantine.h), as it was when the run was made
    bool skipsAllDuplicates
        = false; ///< with the policy `skip`: those of the whole data set; runs of before skip inside a block
    bool trainsCopiesOfExcluded = false; ///< with skipsAllDuplicates: rows of chunks that are left out by name are not
                                         ///< what others repeat; in runs of before they are
    bool refusesNoTokens = true; ///< a text that becomes no token cannot be used, and characters without one are
                                 ///< counted; runs of before train it as a sample of nothing
    std::optional<ChatFormat> chat; ///< how conversations are written; there when a source has some
};

std::string writeManifest(const DataManifest& manifest);
/// The text comes from run.json and is checked.
Result<DataManifest> readManifest(std::string_view json);

/// Hash of all that defines rows and their order: content of the files and the settings that cut and choose rows.
/// Not the names of files: a copied data set is the same data set.
std::string dataIdentity(const DataManifest& manifest, const RunConfig& config);

/// Size, hash and (where the hash is sampled) time of a local file.
Result<DataFile> describeFile(const std::string& path);

/// Ok: the local file is as the manifest has it. InvalidArgument: it is another one, with how in words; other codes: it
/// cannot be read now.
Status checkUnchanged(const DataFile& frozen);

} // namespace furrow
