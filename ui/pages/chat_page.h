#pragma once

#include "ui/bridge/chat_session.h"
#include "ui/parts/sampling_fields.h"

#include <QWidget>

class QComboBox;
class QPlainTextEdit;
class QPushButton;

namespace furrow {

class ChatColumn;
class WeightsChoice;
class Workbench;

/// Talk with the model of a run while it trains, or with two of them side by side.
class ChatPage : public QWidget {
    Q_OBJECT
public:
    explicit ChatPage(Workbench& bench, QWidget* parent = nullptr);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* buildSettings();
    QWidget* buildTalks();
    QWidget* buildComposer();
    void fillDevices();
    ChatPlace placeOf(const WeightsChoice& choice) const;
    bool isBusy() const;
    void say();
    void refresh();

    Workbench& bench_;
    WeightsChoice* weights_ = nullptr;
    WeightsChoice* others_ = nullptr;
    QComboBox* device_ = nullptr;
    SamplingFields fields_;
    ChatColumn* talk_ = nullptr;
    ChatColumn* otherTalk_ = nullptr;
    QPlainTextEdit* said_ = nullptr;
    QPushButton* go_ = nullptr;
    QPushButton* forget_ = nullptr;
};

} // namespace furrow
