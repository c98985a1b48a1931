#pragma once

#include "core/config/schema.h"
#include "ui/bridge/newest_request.h"

#include <QMetaType>
#include <QObject>

#include <map>
#include <memory>
#include <string>

namespace furrow {

/// What a run takes over from the model that it starts from.
struct ModelAdoption {
    Message problem; ///< why it cannot; "": it can
    std::map<std::string, std::string> values; ///< by key, as settingText() has them
};
using ModelAdoptionPtr = std::shared_ptr<const ModelAdoption>;

/// Reads the model that init_from names, away from the GUI thread: its files may lie on a slow disk. Only the newest
/// request is answered. Lives on the GUI thread.
class ModelAdopter : public QObject {
    Q_OBJECT
public:
    explicit ModelAdopter(QObject* parent = nullptr);
    /// @param usual  what stands in the settings when nobody chose: the preset
    void adopt(const RunConfig& typed, const RunConfig& usual);
    void cancel() { request_.cancel(); }

Q_SIGNALS:
    void adopted(const furrow::ModelAdoptionPtr& found);

private:
    NewestRequest request_ { *this };
};

} // namespace furrow

Q_DECLARE_METATYPE(furrow::ModelAdoptionPtr)
