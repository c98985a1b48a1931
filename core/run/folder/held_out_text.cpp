#include "core/run/folder/held_out_text.h"

namespace furrow {

Result<RowsLeft> writeHeldOut(const RunFile& file, const Tokenizer& tokenizer, const std::filesystem::path& path)
{
    return freezeHeldOut(file.config, file.dataManifest, tokenizer, path,
        file.config.evalData.empty() ? heldOutLimits(file.config) : HeldOutLimits {});
}

} // namespace furrow
