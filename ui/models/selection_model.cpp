#include "ui/models/selection_model.h"

namespace furrow {

SelectionModel::SelectionModel(QObject* parent)
    : QObject(parent)
{
}

template <typename T> void SelectionModel::set(T Selection::* field, T value)
{
    if (selection_.*field == value)
        return;
    selection_.*field = std::move(value);
    Q_EMIT changed();
}

void SelectionModel::setRun(const QString& folder)
{
    if (selection_.run == folder)
        return;
    selection_ = {};
    selection_.run = folder;
    Q_EMIT runChanged(folder);
    Q_EMIT changed();
}

void SelectionModel::setAttempt(std::optional<std::int64_t> attempt) { set(&Selection::attempt, attempt); }

void SelectionModel::setWorker(std::optional<int> worker) { set(&Selection::worker, worker); }

void SelectionModel::setChunks(std::vector<SelectedChunk> chunks) { set(&Selection::chunks, std::move(chunks)); }

void SelectionModel::setTime(std::optional<SelectedRange> time) { set(&Selection::time, time); }

void SelectionModel::setSteps(std::optional<SelectedRange> steps) { set(&Selection::steps, steps); }

void SelectionModel::clear()
{
    const Selection empty { selection_.run, {}, {}, {}, {}, {} };
    if (selection_ == empty)
        return;
    selection_ = empty;
    Q_EMIT changed();
}

} // namespace furrow
