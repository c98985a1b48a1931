#include "core/base/lock_holder.h"

#include "core/base/sentence.h"

namespace furrow {

namespace {

Message ofUser(const LockHolder& holder, const std::string& pid)
{
    if (holder.program.empty())
        return holder.stopped ? sentence("process %1 (stopped) of %2", { pid, holder.user })
                              : sentence("process %1 of %2", { pid, holder.user });
    return holder.stopped ? sentence("process %1 (%2, stopped) of %3", { pid, holder.program, holder.user })
                          : sentence("process %1 (%2) of %3", { pid, holder.program, holder.user });
}

} // namespace

Message inWords(const LockHolder& holder)
{
    if (holder.pid <= 0)
        return sentence("a process that cannot be seen from here");
    const std::string pid = std::to_string(holder.pid);
    if (!holder.user.empty())
        return ofUser(holder, pid);
    if (holder.program.empty())
        return holder.stopped ? sentence("process %1 (stopped)", { pid }) : sentence("process %1", { pid });
    return holder.stopped ? sentence("process %1 (%2, stopped)", { pid, holder.program })
                          : sentence("process %1 (%2)", { pid, holder.program });
}

} // namespace furrow
