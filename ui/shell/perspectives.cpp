#include "ui/shell/perspectives.h"

#include <QSettings>
#include <algorithm>

namespace furrow {

namespace {

QString listKey() { return QStringLiteral("perspectives"); }

} // namespace

OwnPerspectives::OwnPerspectives(bool remember)
    : remember_(remember)
{
    if (!remember_)
        return;
    QSettings settings;
    const int count = settings.beginReadArray(listKey());
    for (int i = 0; i < count; ++i) {
        settings.setArrayIndex(i);
        all_.push_back({ settings.value(QStringLiteral("name")).toString(),
            settings.value(QStringLiteral("docks")).toByteArray(), settings.value(QStringLiteral("page")).toInt() });
    }
}

void OwnPerspectives::save(const OwnPerspective& perspective)
{
    const auto known
        = std::find_if(all_.begin(), all_.end(), [&](const OwnPerspective& p) { return p.name == perspective.name; });
    if (known == all_.end())
        all_.push_back(perspective);
    else
        *known = perspective;
    write();
}

void OwnPerspectives::remove(const QString& name)
{
    std::erase_if(all_, [&](const OwnPerspective& p) { return p.name == name; });
    write();
}

void OwnPerspectives::write() const
{
    if (!remember_)
        return;
    QSettings settings;
    settings.remove(listKey());
    settings.beginWriteArray(listKey(), static_cast<int>(all_.size()));
    for (int i = 0; i < static_cast<int>(all_.size()); ++i) {
        settings.setArrayIndex(i);
        settings.setValue(QStringLiteral("name"), all_[static_cast<std::size_t>(i)].name);
        settings.setValue(QStringLiteral("docks"), all_[static_cast<std::size_t>(i)].docks);
        settings.setValue(QStringLiteral("page"), all_[static_cast<std::size_t>(i)].page);
    }
}

} // namespace furrow
