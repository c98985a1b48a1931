#include "core/base/lock_holder.h"

#include "core/base/sentence.h"

namespace furrow {

Message inWords(const LockHolder& holder)
{
    if (holder.pid <= 0)
        return sentence("a process that cannot be seen from here");
    const std::string pid = std::to_string(holder.pid);
    const Message who = holder.program.empty() ? sentence("process %1", { pid })
                                               : sentence("process %1 (%2)", { pid, holder.program });
    return holder.stopped ? sentence("%1, which is stopped", { who }) : who;
}

} // namespace furrow
