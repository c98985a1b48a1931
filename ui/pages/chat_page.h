#pragma once

#include "ui/bridge/chat_session.h"

#include <QWidget>

class QComboBox;
class QDoubleSpinBox;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

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
    ChatChoices choices() const;
    bool isBusy() const;
    void say();
    void refresh();

    Workbench& bench_;
    WeightsChoice* weights_ = nullptr;
    WeightsChoice* others_ = nullptr;
    QComboBox* device_ = nullptr;
    QSpinBox* tokens_ = nullptr;
    QDoubleSpinBox* temperature_ = nullptr;
    QSpinBox* topK_ = nullptr;
    QSpinBox* seed_ = nullptr;
    ChatColumn* talk_ = nullptr;
    ChatColumn* otherTalk_ = nullptr;
    QPlainTextEdit* said_ = nullptr;
    QPushButton* go_ = nullptr;
    QPushButton* forget_ = nullptr;
};

} // namespace furrow
