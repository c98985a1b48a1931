#pragma once

#include "core/base/message.h"
#include "core/base/result.h"
#include "core/config/run_config.h"

#include <vector>

namespace furrow {

/// What was passed over on this thread, because it is damaged, while one of these lives: what is read of a data set
/// before a run is made leaves out what training will leave out (bad_files). Each sentence once.
class PassedOver {
public:
    PassedOver();
    ~PassedOver();
    PassedOver(const PassedOver&) = delete;
    PassedOver& operator=(const PassedOver&) = delete;

    /// Whether an error of reading a file is passed over; the newest of these on the thread notes it. What came of a
    /// file that is elsewhere is asked for anew before (DirectAccess::asksAnew).
    static bool takes(const RunConfig& config, const Error& error);
    /// What `said` does not hold yet goes behind it.
    void addTo(std::vector<Message>& said) const;

private:
    PassedOver* before_;
    std::vector<Message> noted_;
};

} // namespace furrow
