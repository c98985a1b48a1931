#pragma once

#include "core/chat/conversation_text.h"

#include <iosfwd>

namespace furrow::ctl {

/// How printLearnt() tells on this stream what is learnt: the end of a sentence.
const char* learntMarks(const std::ostream& stream);

enum class Layout { AsItIs, Quoted };
/// A text of which stretches are learnt. Where the stream can be dim the rest of it is, else the stretches stand
/// between « and ». @param layout  Quoted: on one line, as JSON writes texts
void printLearnt(std::ostream& stream, std::string_view text, const std::vector<ChatStretch>& learnt, Layout layout);

} // namespace furrow::ctl
