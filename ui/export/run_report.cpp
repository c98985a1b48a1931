#include "ui/export/run_report.h"

#include "core/run/folder/automatic_packing.h"
#include "core/run/status/data_words.h"
#include "core/run/folder/attempt_config.h"
#include "core/run/status/samples_left_out.h"
#include "ui/models/core_words.h"
#include "ui/models/setting_words.h"
#include "ui/models/run_tables.h"
#include "ui/models/words.h"
#include "ui/export/audit_report.h"
#include "ui/parts/form_field.h"

#include <QBuffer>
#include <QCoreApplication>
#include <cmath>

namespace furrow {

namespace {

QString said(const char* text) { return QCoreApplication::translate("RunReport", text); }

QString row(const QString& name, const QString& value)
{
    return QStringLiteral("<tr><td>%1</td><td>%2</td></tr>\n").arg(name, value);
}

QString figures(const RunStatus& status)
{
    const QString none = QStringLiteral("–");
    QString html = QStringLiteral("<table border=\"1\" cellspacing=\"0\" cellpadding=\"4\">\n");
    html += row(said(QT_TRANSLATE_NOOP("RunReport", "State")), stateWord(status).toHtmlEscaped());
    html += row(said(QT_TRANSLATE_NOOP("RunReport", "Attempts")), countText(status.attempt));
    html += row(said(QT_TRANSLATE_NOOP("RunReport", "Optimiser steps")), countText(status.steps));
    html += row(said(QT_TRANSLATE_NOOP("RunReport", "Tokens")), countText(status.tokens));
    html += row(said(QT_TRANSLATE_NOOP("RunReport", "Active time")), durationText(status.activeSeconds));
    html += row(said(QT_TRANSLATE_NOOP("RunReport", "Training loss")),
        std::isfinite(status.loss) ? lossText(status.loss, status.lossIsGone, 4) : none);
    html += row(said(QT_TRANSLATE_NOOP("RunReport", "Loss on held-out text")),
        status.evaluation ? QStringLiteral("%1 (%2)").arg(fixedText(status.evaluation->loss, 4),
                                coreWords(ofWhat(*status.evaluation)).toHtmlEscaped())
                          : none);
    if (status.answers)
        html += row(
            said(QT_TRANSLATE_NOOP("RunReport", "Right answers")), coreWords(inWords(*status.answers)).toHtmlEscaped());
    html += row(said(QT_TRANSLATE_NOOP("RunReport", "Checkpoints")), countText(status.checkpoints));
    const auto shown = shownEpochs(status);
    const RowCounts rows = shown ? shown->together.rowsKnown : RowCounts {};
    const std::int64_t leftOut = shown ? samplesLeftOut(shown->together.rowsCommitted) : 0;
    for (const auto& [count, name] :
        { std::pair(rows.failed, said(QT_TRANSLATE_NOOP("RunReport", "Rows that cannot be read"))),
            std::pair(rows.filtered, said(QT_TRANSLATE_NOOP("RunReport", "Rows filtered"))),
            std::pair(rows.duplicates, said(QT_TRANSLATE_NOOP("RunReport", "Samples left out as repeats"))),
            std::pair(leftOut, said(QT_TRANSLATE_NOOP("RunReport", "Samples left out, their steps were not finite"))) })
        if (count > 0)
            html += row(name, countText(count));
    if (const auto data = coreWords(dataInWords(status)); !data.isEmpty())
        html += row(said(QT_TRANSLATE_NOOP("RunReport", "Data")), data.join(QLatin1Char(' ')).toHtmlEscaped());
    if (!status.poisonedCause.empty())
        html += row(said(QT_TRANSLATE_NOOP("RunReport", "Chunks that cannot be read")),
            coreWords(status.poisonedCause).toHtmlEscaped());
    return html + QStringLiteral("</table>\n");
}

QString picture(const QImage& image)
{
    if (image.isNull())
        return {};
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    image.save(&buffer, "PNG");
    return QStringLiteral(
        "<h2>%1</h2>\n<p><img style=\"max-width:100%\" alt=\"%1\" src=\"data:image/png;base64,%2\"></p>\n")
        .arg(said(QT_TRANSLATE_NOOP("RunReport", "Curves")), QString::fromLatin1(bytes.toBase64()));
}

/// What resumes changed of a setting: "Attempt 2: 4 → 1", one line each.
QString changedBy(const Setting& setting, const std::vector<AttemptRow>& attempts,
    const std::vector<std::vector<ConfigChange>>& changed)
{
    QStringList lines;
    for (std::size_t i = 0; i < changed.size(); ++i)
        for (const ConfigChange& change : changed[i])
            if (change.setting == &setting)
                lines.append(said(QT_TRANSLATE_NOOP("RunReport", "Attempt %1: %2 → %3"))
                        .arg(QString::number(attempts[i].id.value),
                            QString::fromStdString(change.before).toHtmlEscaped(),
                            QString::fromStdString(change.after).toHtmlEscaped()));
    return lines.join(QStringLiteral("<br>"));
}

QString settingsThatDiffer(const RunFile& file, const std::vector<AttemptRow>& attempts)
{
    const auto preset = findPreset(file.preset);
    const auto latest = latestConfig(attempts, file.config);
    const auto changed = changesByAttempt(attempts, file.config);
    const QString title = preset.ok()
        ? said(QT_TRANSLATE_NOOP("RunReport", "Settings in force that differ from the preset %1"))
              .arg(QString::fromStdString(preset.value().title).toHtmlEscaped())
        : said(QT_TRANSLATE_NOOP("RunReport", "Settings in force"));
    QString html = QStringLiteral("<h2>%1</h2>\n<table border=\"1\" cellspacing=\"0\" cellpadding=\"4\">\n").arg(title);
    html += QStringLiteral("<tr><th>%1</th><th>%2</th><th>%3</th><th>%4</th></tr>\n")
                .arg(said(QT_TRANSLATE_NOOP("RunReport", "Setting")), said(QT_TRANSLATE_NOOP("RunReport", "Preset")),
                    said(QT_TRANSLATE_NOOP("RunReport", "In force")),
                    said(QT_TRANSLATE_NOOP("RunReport", "Changed by a resume")));
    for (const ConfigLine& line : configLines(latest.ok() ? latest.value() : file.config, file.config,
             presetInRun(preset.ok() ? preset.value().config : RunConfig {}, file))) {
        const QString resumes = changedBy(*line.setting, attempts, changed);
        if (line.value != line.presetValue || !resumes.isEmpty())
            html += QStringLiteral("<tr><td>%1</td><td>%2</td><td>%3</td><td>%4</td></tr>\n")
                        .arg(settingLabel(*line.setting).toHtmlEscaped(), line.presetValue.toHtmlEscaped(),
                            line.value.toHtmlEscaped(), resumes);
    }
    return html + QStringLiteral("</table>\n");
}

} // namespace

QString runReportHtml(
    const RunStatus& status, const std::vector<AttemptRow>& attempts, const AuditReport& audit, const QImage& curves)
{
    const QString name = QString::fromStdString(status.file.config.name).toHtmlEscaped();
    QString html = QStringLiteral(
        "<!doctype html><meta charset=\"utf-8\"><title>%1</title><body style=\"font-family:sans-serif;max-width:60em;margin:2em auto\">\n<h1>%1</h1>\n")
                       .arg(name);
    html += QStringLiteral("<p>%1</p>\n").arg(evidenceText(status, QStringLiteral(" ")).toHtmlEscaped());
    html += figures(status) + picture(curves) + settingsThatDiffer(status.file, attempts)
        + auditHtml(audit, QString::fromStdString(status.file.config.name));
    return html + QStringLiteral("</body>\n");
}

} // namespace furrow
