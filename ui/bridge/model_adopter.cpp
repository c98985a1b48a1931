#include "ui/bridge/model_adopter.h"

#include "core/run/folder/adopted_model.h"

namespace furrow {

namespace {

ModelAdoptionPtr take(const RunConfig& typed, const RunConfig& usual)
{
    auto found = std::make_shared<ModelAdoption>();
    RunConfig config = typed;
    const auto said = adoptModel(config, usual);
    if (!said.ok()) {
        found->problem = said.error().message;
        return found;
    }
    if (said.value().empty()) // it says nothing of its shape
        return found;
    for (const Setting& setting : settings())
        if (isAdopted(setting) || settingText(config, setting) != settingText(typed, setting))
            found->values[setting.key] = settingText(config, setting);
    return found;
}

} // namespace

ModelAdopter::ModelAdopter(QObject* parent)
    : QObject(parent)
{
    qRegisterMetaType<ModelAdoptionPtr>();
}

void ModelAdopter::adopt(const RunConfig& typed, const RunConfig& usual)
{
    request_.start([typed, usual](const auto&) { return take(typed, usual); },
        [this](const ModelAdoptionPtr& found) { Q_EMIT adopted(found); });
}

} // namespace furrow
