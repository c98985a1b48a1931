#include "core/data/block_manager_state.h"

#include "core/base/sentence.h"

namespace furrow {

Status BlockManager::State::checkFiles()
{
    std::map<std::string, Message> changed;
    Status same = identity->checkAll(manifest, &changed);
    if (config.badFiles != BadFiles::LeaveOut || changed.empty())
        return same;
    for (const auto& [path, how] : changed)
        leftOut.try_emplace(path, how);
    tellPlanner();
    search.reset(); // what it read of them must not decide about other files
    return {}; // one that is away is met when it is read
}

std::set<std::string> BlockManager::State::leftOutPaths() const
{
    std::set<std::string> paths;
    for (const auto* files : { &leftOut, &cutOff })
        for (const auto& [path, why] : *files)
            paths.insert(path);
    return paths;
}

void BlockManager::State::tellPlanner() { planner->leaveOut(leftOutPaths()); }

void BlockManager::planOn(const Error& error)
{
    const bool isOnTheWay = state_->cameWrong({ state_->planner->failedFile() }) != nullptr;
    if (state_->config.badFiles != BadFiles::LeaveOut || isOnTheWay) {
        state_->planner->giveFileUp(error.message);
        return;
    }
    state_->cutOff[state_->planner->failedFile()] = error.message;
    state_->tellPlanner();
}

std::vector<Message> BlockManager::leftOut() const
{
    std::vector<Message> all;
    for (const auto* files : { &state_->leftOut, &state_->cutOff })
        for (const auto& [path, why] : *files)
            all.push_back(why);
    for (const auto& [path, row] : state_->planner->passedBy())
        all.push_back(
            sentence("%1: what it had from row %2 on came into no block, so nobody knows how many rows that were.",
                { path, Count(row) }));
    return all;
}

Result<bool> BlockManager::leaveOutChanged()
{
    if (state_->config.badFiles != BadFiles::LeaveOut)
        return false;
    auto status = state_->checkFiles();
    return status.ok() ? Result<bool>(true) : status.error();
}

Result<PlannedBlock> BlockManager::withoutLeftOut(const PlannedBlock& block) const
{
    std::set<std::int32_t> files;
    for (const auto& segment : block.segments)
        if (const DataFile* file = state_->fileOf(block, segment);
            file != nullptr && state_->leftOut.contains(file->path))
            files.insert(segment.file);
    return planWithout(block.plan, files);
}

std::string BlockManager::whyLeftOut(const PlannedBlock& block) const
{
    for (const auto& segment : block.segments)
        if (const DataFile* file = state_->fileOf(block, segment); file != nullptr && !segment.isLeftOut)
            if (const auto found = state_->leftOut.find(file->path); found != state_->leftOut.end())
                return found->second;
    return {};
}

} // namespace furrow
