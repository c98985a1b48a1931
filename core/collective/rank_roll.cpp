#include "core/collective/rank_roll_torch.h"

#include "core/base/sentence.h"

#include <algorithm>
#include <sstream>
#include <thread>

// Keys: "here/<rank>" = "pid start-time place" when it joins; "end/<rank>" = "left <why>" when it ends for a reason
// of its own, or "lost <exchange> <sums>" when a call failed for it. A rank that says nothing is the one that the
// others miss.

namespace furrow {

namespace {

constexpr auto kLook = std::chrono::milliseconds(20);

/// "a, b and c".
Message join(const std::vector<Message>& names)
{
    Message text = names.front();
    for (std::size_t i = 1; i < names.size(); ++i)
        text = i + 1 == names.size() ? sentence("%1 and %2", { text, names[i] }) : text + ", " + names[i];
    return text;
}

ProcessIdentity parsed(const std::string& text)
{
    ProcessIdentity process;
    std::istringstream(text) >> process.pid >> process.startTime >> process.place;
    return process;
}

} // namespace

/// Of a rank that ends.
struct RankRoll::Word {
    bool left = false; ///< for a reason of its own
    RankPlace place; ///< else: where a call failed for it
    std::string why;
};

Status RankRoll::call(std::chrono::milliseconds timeout, const std::function<bool()>& stopRequested)
{
    const auto self = thisProcess();
    store_->set("here/" + std::to_string(rank_),
        std::to_string(self.pid) + " " + std::to_string(self.startTime) + " " + self.place);
    const auto until = std::chrono::steady_clock::now() + timeout;
    for (auto missing = silent("here/"); !missing.empty(); missing = silent("here/")) {
        if (std::chrono::steady_clock::now() >= until) {
            std::vector<Message> names;
            for (const int rank : missing)
                names.push_back(sentence("rank %1 (worker %2)", { std::to_string(rank), std::to_string(rank) }));
            return Error { ErrorCode::Cancelled,
                sentence(
                    "%1 of %2 did not come to the meeting within %3 s. All ranks end and start again together from the last checkpoint.",
                    { join(names), std::to_string(ranks_), std::to_string(timeout.count() / 1000) }) };
        }
        if (stopRequested && stopRequested()) {
            leave("asked to stop");
            return Error { ErrorCode::Cancelled, sentence("asked to stop before all ranks had come") };
        }
        std::this_thread::sleep_for(kLook);
    }
    for (int rank = 0; rank < ranks_; ++rank)
        processes_.push_back(parsed(store_->get_to_str("here/" + std::to_string(rank))));
    std::this_thread::sleep_for(3 * kLook); // for the word of one that is about to leave
    const bool haveAllStayed = silent("end/").size() == static_cast<std::size_t>(ranks_);
    if (haveAllStayed && std::ranges::all_of(processes_, [](const auto& process) { return isAlive(process); }))
        return {};
    return Error { ErrorCode::Cancelled,
        sentence("a rank came to the meeting and has left it. All ranks end and start again together.") };
}

std::vector<int> RankRoll::silent(const char* what) const
{
    std::vector<int> ranks;
    for (int rank = 0; rank < ranks_; ++rank)
        if (!store_->check({ what + std::to_string(rank) }))
            ranks.push_back(rank);
    return ranks;
}

Message RankRoll::name(int rank) const
{
    return sentence("rank %1 (worker %2, process %3)",
        { std::to_string(rank), std::to_string(rank), std::to_string(processes_[static_cast<std::size_t>(rank)].pid) });
}

void RankRoll::say(const std::string& word)
{
    if (std::exchange(said_, true))
        return;
    store_->set("end/" + std::to_string(rank_), word);
}

void RankRoll::leave(const std::string& why) { say("left " + why); }

RankRoll::Word RankRoll::wordOf(int rank) const
{
    const std::string text = store_->get_to_str("end/" + std::to_string(rank));
    Word word;
    word.left = text.rfind("left ", 0) == 0;
    word.why = text.substr(std::min<std::size_t>(5, text.size()));
    if (!word.left)
        std::istringstream(word.why) >> word.place.exchange >> word.place.sums;
    return word;
}

/// Waits for the words of the others. Where one of them died without a word that is the reason, and nothing is waited
/// for: those that have no connection to the dead one notice when this one ends, and so on along the group.
std::vector<int> RankRoll::hear(std::chrono::milliseconds patience) const
{
    const auto until = std::chrono::steady_clock::now() + patience;
    for (;;) {
        auto missing = silent("end/");
        const bool isAnyDead = std::any_of(missing.begin(), missing.end(),
            [this](int rank) { return !isAlive(processes_[static_cast<std::size_t>(rank)]); });
        if (missing.empty() || isAnyDead || std::chrono::steady_clock::now() >= until)
            return missing;
        std::this_thread::sleep_for(kLook);
    }
}

Error RankRoll::blame(const RankPlace& place, const std::string& said, std::chrono::milliseconds patience)
{
    say("lost " + std::to_string(place.exchange) + " " + std::to_string(place.sums));
    const auto missing = hear(patience);
    std::vector<Message> gone;
    std::vector<Message> still;
    for (const int rank : missing)
        (isAlive(processes_[static_cast<std::size_t>(rank)]) ? still : gone).push_back(name(rank));
    std::vector<Message> left;
    std::vector<std::optional<RankPlace>> places(static_cast<std::size_t>(ranks_));
    for (int rank = 0; rank < ranks_; ++rank) {
        if (std::find(missing.begin(), missing.end(), rank) != missing.end())
            continue;
        const Word word = wordOf(rank);
        if (word.left)
            left.push_back(sentence("%1 ended: %2", { name(rank), word.why }));
        else
            places[static_cast<std::size_t>(rank)] = word.place;
    }
    if (!left.empty())
        return error(join(left));
    if (!gone.empty())
        return error(
            gone.size() == 1 ? sentence("%1 is gone.", { join(gone) }) : sentence("%1 are gone.", { join(gone) }));
    if (!still.empty())
        return error(still.size() == 1
                ? sentence("%1 does not take part any more: it stands still or hangs.", { join(still) })
                : sentence("%1 do not take part any more: they stand still or hang.", { join(still) }));
    const auto skipped = whoSkipped(places);
    return error(skipped.empty()
            ? sentence("the ranks lost one another, and each of them is alive: %1.", { said.substr(0, 300) })
            : skipped);
}

Error RankRoll::blame(const std::vector<RankPlace>& places)
{
    const auto text = whoSkipped({ places.begin(), places.end() });
    leave(text);
    return error(text);
}

/// "" when all are at one place.
Message RankRoll::whoSkipped(const std::vector<std::optional<RankPlace>>& places) const
{
    const auto isFurther = [](const RankPlace& a, const RankPlace& b) {
        return a.exchange != b.exchange ? a.exchange > b.exchange : a.sums < b.sums;
    };
    std::optional<RankPlace> first;
    std::optional<RankPlace> last;
    for (const auto& place : places) {
        if (place && (!first || isFurther(*place, *first)))
            first = place;
        if (place && (!last || isFurther(*last, *place)))
            last = place;
    }
    if (!first || *first == *last)
        return {};
    std::vector<Message> names;
    for (int rank = 0; rank < ranks_; ++rank)
        if (places[static_cast<std::size_t>(rank)] == first)
            names.push_back(name(rank));
    return sentence(
        "%1 left a collective call out: it is at exchange %2 after %3 sums, another rank at exchange %4 after %5.",
        { join(names), std::to_string(first->exchange), std::to_string(first->sums), std::to_string(last->exchange),
            std::to_string(last->sums) });
}

Error RankRoll::error(const Message& what) const
{
    return { ErrorCode::Internal,
        sentence(
            "data-parallel training, rank %1 of %2: %3 All ranks end and start again together from the last checkpoint.",
            { std::to_string(rank_), std::to_string(ranks_), what }) };
}

} // namespace furrow
