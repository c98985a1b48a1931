#pragma once

#include "core/base/message.h"
#include "core/tracker/lost_causes.h"
#include "core/tracker/types.h"

#include <vector>

namespace furrow {

/// The trainings of one chunk whose weights are gone. No fault: the work was, or will be, done again. Internal to the
/// audit.
class LostWork {
public:
    explicit LostWork(ChunkId chunk)
        : chunk_(chunk)
    {
    }
    ChunkId chunk() const { return chunk_; }
    /// @param isLeftBehind  a checkpoint that had a part of the training does not survive
    /// @param cause  as its claim has it
    void add(bool isLeftBehind, const Message& cause);
    /// @param state  of the chunk now
    Message inWords(ChunkState state) const;

private:
    /// Those that are gone for one reason.
    struct Alike {
        LostCauses count;
        std::vector<Message> causes; ///< each once
    };
    ChunkId chunk_;
    std::vector<Alike> trainings_;
};

} // namespace furrow
