#pragma once

#include "core/run/start/life_cycle.h"

#include <QObject>
#include <QThreadPool>
#include <functional>
#include <memory>

namespace furrow {

enum class RunVerb {
    Create,
    Make,
    Pin,
    Start,
    Pause,
    Continue,
    Stop,
    StopAfterBlock,
    StopAfterEpoch,
    Kill,
    Save,
    Evaluate,
    Plan,
    TakeForward,
    MarkFinished,
    RetryChunks,
    AcceptChunks,
    ExcludeChunks
};

using PlanPtr = std::shared_ptr<const ResumePlan>;

/// The verbs of a run's life, called away from the GUI thread one after the other. Each ends in exactly one
/// done() or failed(). Lives on the GUI thread.
class RunCommands : public QObject {
    Q_OBJECT
public:
    explicit RunCommands(QObject* parent = nullptr);
    ~RunCommands() override;

    /// Makes a run folder and starts training there.
    void launch(const NewRun& request);
    /// Makes a run folder only, for the queue; ends in done(Make).
    void make(const NewRun& request);
    /// Looks whether anything can be trained on this machine; ends in workerLookedFor().
    void lookForWorker();
    /// Keeps a checkpoint from being removed by the keep policy, or lets it go.
    void pin(const QString& folder, CheckpointId checkpoint, bool pinned);
    /// Starts or resumes with the configuration wanted from now on.
    void start(const QString& folder, const RunConfig& wanted, const ResumeChoice& choice = {});
    /// Resumes with the configuration in force, from the newest checkpoints.
    void resume(const QString& folder);
    /// Takes a tracker that is older than the weights forward from the manifests of the checkpoints.
    void takeForward(const QString& folder);
    /// Accepts a run that nobody trains as ended as it is.
    void markFinished(const QString& folder);
    /// Poisoned chunks are tried again, or accepted as not trained; without chunks every poisoned one of the run.
    void retryChunks(const QString& folder, const std::vector<ChunkId>& chunks);
    void acceptChunks(const QString& folder, const std::vector<ChunkId>& chunks);
    void excludeChunks(const QString& folder, const std::vector<ChunkId>& chunks);
    void pause(const QString& folder);
    void continueRun(const QString& folder);
    void stop(const QString& folder);
    void kill(const QString& folder);
    void save(const QString& folder);
    void evaluate(const QString& folder);
    void stopAfter(const QString& folder, EndOf what);
    /// Works out what a resume would do; ends in planned() or failed().
    void plan(const QString& folder);

Q_SIGNALS:
    void begun(furrow::RunVerb verb, const QString& folder);
    void progressed(const QString& sentence);
    void done(furrow::RunVerb verb, const QString& folder);
    void failed(furrow::RunVerb verb, const QString& folder, const furrow::Error& error);
    void workerLookedFor(const furrow::Message& problem); ///< a sentence with what to do; "": all is well
    void planned(const QString& folder, const furrow::PlanPtr& plan, const furrow::RunConfig& config);

private:
    std::function<void(const std::string&)> teller(); ///< progressed() from the pool's thread
    void run(RunVerb verb, const QString& folder, std::function<Status(const RunPaths&)> job);
    void report(RunVerb verb, const QString& folder, const Status& status);

    QThreadPool pool_; // one thread: the verbs keep their order
};

} // namespace furrow

Q_DECLARE_METATYPE(furrow::PlanPtr)
Q_DECLARE_METATYPE(furrow::RunVerb)
Q_DECLARE_METATYPE(furrow::RunConfig)
Q_DECLARE_METATYPE(furrow::Error)
