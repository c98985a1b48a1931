#include "core/base/disk_room.h"

#include "core/base/process_limit.h"
#include "core/base/sentence.h"

namespace furrow {

bool isOutOfFiles(const std::filesystem::path&) { return false; }

Message noRoomInWords(const std::filesystem::path&)
{
    return sentence("the disk is full; free some space and try again");
}

void makeFileSizeLimitAnError() { }

Message tooLargeInWords() { return sentence(kLargerThanDisk); }

} // namespace furrow
