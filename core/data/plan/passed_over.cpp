#include "core/data/plan/passed_over.h"

#include "core/base/sentence.h"
#include "core/config/option_term.h"

#include <algorithm>

namespace furrow {

namespace {

thread_local PassedOver* newest = nullptr;

} // namespace

PassedOver::PassedOver()
    : before_(newest)
{
    newest = this;
}

PassedOver::~PassedOver() { newest = before_; }

bool PassedOver::takes(const RunConfig& config, const Error& error)
{
    if (config.badFiles != BadFiles::LeaveOut || error.code != ErrorCode::Corrupt)
        return false;
    if (newest != nullptr)
        newest->noted_.push_back(sentence("%1 What cannot be read is left out (%2).",
            { withFullStop(error.message), optionTerm("bad_files", "leave_out") }));
    return true;
}

void PassedOver::addTo(std::vector<Message>& said) const
{
    for (const Message& one : noted_)
        if (std::find(said.begin(), said.end(), one) == said.end())
            said.push_back(one);
}

} // namespace furrow
