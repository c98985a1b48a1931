#include "ui/bridge/checkpoint_verifier.h"

#include "core/base/path.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/run_file.h"

namespace furrow {

namespace {

Status readAgain(const QString& folder, const CheckpointRecord& record, const std::stop_token& stop)
{
    const RunPaths paths(pathFromUtf8(folder.toStdString()));
    FURROW_TRY_ASSIGN(const auto file, readRunFile(paths));
    return verifyCheckpoint(paths.checkpointFolder(record.folder), record.manifestSha256, file.runId, stop);
}

} // namespace

CheckpointVerifier::CheckpointVerifier(QObject* parent)
    : QObject(parent)
{
}

CheckpointVerifier::~CheckpointVerifier() { stopping_.request_stop(); }

void CheckpointVerifier::cancel()
{
    request_.cancel();
    stopping_.request_stop(); // also inside a file of many gigabytes
    stopping_ = {};
    waiting_.clear();
}

void CheckpointVerifier::start(const QString& folder, const std::vector<SupervisorLedger::CheckpointRow>& rows)
{
    cancel();
    folder_ = folder;
    waiting_.assign(rows.begin(), rows.end());
    done_ = 0;
    checkNext();
}

void CheckpointVerifier::stop()
{
    cancel();
    Q_EMIT changed();
}

void CheckpointVerifier::forget()
{
    verdicts_.clear();
    done_ = 0;
    stop();
}

bool CheckpointVerifier::isChecking(CheckpointId checkpoint) const
{
    return isBusy() && waiting_.front().id == checkpoint;
}

const CheckpointVerdict* CheckpointVerifier::verdictOf(CheckpointId checkpoint) const
{
    const auto found = verdicts_.find(checkpoint);
    return found == verdicts_.end() ? nullptr : &found->second;
}

void CheckpointVerifier::checkNext()
{
    if (isBusy()) {
        request_.start([folder = folder_, record = waiting_.front().record, stop = stopping_.get_token()](
                           const auto&) { return readAgain(folder, record, stop); },
            [this](const Status& verdict) {
                const bool isDamaged = !verdict.ok() && verdict.error().code == ErrorCode::Corrupt;
                verdicts_[waiting_.front().id]
                    = { verdict.ok() ? Message() : verdict.error().message, isDamaged, QDateTime::currentDateTime() };
                waiting_.pop_front();
                ++done_;
                checkNext();
            });
    }
    Q_EMIT changed();
}

} // namespace furrow
