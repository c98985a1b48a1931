#include "core/tracker/audit/audit_lineage.h"

#include "core/base/sentence.h"
#include "core/tracker/lineage.h"

namespace furrow {

namespace {

void checkHeads(const Lineage& lineage, const AuditFault& wrong)
{
    const auto bad = lineage.bad();
    for (const auto& [replica, head] : lineage.heads) {
        if (!head)
            continue;
        const auto node = lineage.nodes.find(*head);
        const std::string line = std::to_string(replica);
        const std::string checkpoint = std::to_string(*head);
        if (node == lineage.nodes.end())
            wrong(FindingKind::Lineage, {},
                sentence("replica %1 stands on checkpoint %2, which the tracker does not have", { line, checkpoint }));
        else if (node->second.removed)
            wrong(FindingKind::Lineage, {},
                sentence(
                    "checkpoint %1 is the newest of replica %2 and is marked as removed, which the keep policy never does",
                    { checkpoint, line }));
        if (bad.contains(*head))
            wrong(FindingKind::Lineage, {},
                sentence("replica %1 stands on a damaged checkpoint %2", { line, checkpoint }));
    }
    for (const auto& [replica, newest] : lineage.forsaken())
        wrong(FindingKind::Lineage, {},
            sentence(
                "replica %1 should stand on checkpoint %2 or a newer one, and stands on an older one: its row was changed from outside",
                { std::to_string(replica), std::to_string(newest) }));
}

void checkNode(const Lineage& lineage, std::int64_t id, bool survives, const AuditFault& wrong)
{
    const auto& node = lineage.nodes.at(id);
    if (node.surviving != survives)
        wrong(FindingKind::Lineage, {},
            survives ? sentence("checkpoint %1 is marked as given up, but surviving weights were made from it",
                           { std::to_string(id) })
                     : sentence("checkpoint %1 is marked as surviving, but no newest weights were made from it",
                           { std::to_string(id) }));
    for (const std::int64_t parent : node.parents)
        if (parent >= id || !lineage.nodes.contains(parent))
            wrong(FindingKind::Lineage, {},
                sentence("checkpoint %1 names checkpoint %2 as its parent, which is not older",
                    { std::to_string(id), std::to_string(parent) }));
}

} // namespace

std::set<std::int64_t> checkLineage(Database& db, const AuditFault& wrong)
{
    const Lineage lineage = loadLineage(db);
    checkHeads(lineage, wrong);
    auto surviving = lineage.behindHeads();
    for (const auto& [id, node] : lineage.nodes)
        checkNode(lineage, id, surviving.contains(id), wrong);
    return surviving;
}

} // namespace furrow
