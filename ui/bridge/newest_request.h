#pragma once

#include <QObject>
#include <QThreadPool>
#include <atomic>
#include <functional>

namespace furrow {

/// Work of one kind on a thread of its own, of which only the newest request is answered: a new one drops those that
/// wait and the answer of the one at work. Member of the object whose thread gets the answers; waits for its thread at
/// its end.
class NewestRequest {
public:
    explicit NewestRequest(QObject& owner)
        : owner_(owner)
    {
        pool_.setMaxThreadCount(1);
    }
    ~NewestRequest()
    {
        cancel();
        pool_.waitForDone();
    }
    NewestRequest(const NewestRequest&) = delete;
    NewestRequest& operator=(const NewestRequest&) = delete;

    /// No answer comes any more.
    void cancel()
    {
        ++newest_;
        pool_.clear();
    }

    /// Says, on any thread, whether a request is still the newest one.
    using IsWanted = std::function<bool()>;

    /// @param work    called on the thread with an IsWanted; its result must be cheap to copy
    /// @param answer  called with the result on the owner's thread, from its event loop
    template <typename Work, typename Answer> void start(Work work, Answer answer)
    {
        cancel();
        const IsWanted isWanted = [this, mine = newest_.load()] { return mine == newest_; };
        pool_.start([this, work, answer, isWanted] {
            if (!isWanted())
                return;
            const auto result = work(isWanted);
            QMetaObject::invokeMethod(
                &owner_,
                [answer, isWanted, result] {
                    if (isWanted())
                        answer(result);
                },
                Qt::QueuedConnection);
        });
    }

private:
    QObject& owner_;
    std::atomic<quint64> newest_ = 0;
    QThreadPool pool_; // one thread
};

} // namespace furrow
