#pragma once

#include "core/base/message.h"

#include <cstdint>
#include <span>
#include <vector>

namespace furrow {

struct ClaimRow;

/// Why the weights of trainings are gone. The one rule and the one wording of it for status, inspector and audit.
struct LostCauses {
    std::int64_t died = 0; ///< with the processes that had trained or begun them
    std::int64_t wentBack = 0; ///< the run went back to an older checkpoint
    std::int64_t damaged = 0; ///< a checkpoint that had them was damaged, gone or left out of a merge
    std::int64_t sum() const { return died + wentBack + damaged; }
    /// One more training. @param isLeftBehind, wentBack  as ClaimRow has them
    void add(bool isLeftBehind, bool wentBack);
    LostCauses& operator+=(const LostCauses& more);
};
/// Of trainings that are lost, whether they were done again since or not.
LostCauses lostCauses(std::span<const ClaimRow> trainings);

/// Those that there are, each with its number of chunks; nothing where no work is lost.
std::vector<Message> inWords(const LostCauses& causes);

} // namespace furrow
