#pragma once

#include "ui/parts/form_field.h"

#include <QFrame>
#include <map>
#include <memory>

class QGridLayout;
class QLabel;
class QToolButton;

namespace furrow {

/// A group of the form: title at the left, fields in two columns. A folded one shows a line with a summary instead.
class FormGroup : public QFrame {
    Q_OBJECT
public:
    /// @param folded  begins as a summary line that opens
    FormGroup(const QString& title, bool folded, RunForm& form, QWidget* parent = nullptr);

    void add(const Setting& setting);
    /// A row under the fields that spans them: preview, device table.
    void addExtra(QWidget* widget);
    /// A button behind a wide field.
    void addBeside(const std::string& key, QWidget* widget);
    /// A row below that of a field, as wide as the group; shown with the field.
    void addBelow(const std::string& key, QWidget* widget);
    const std::vector<FormField*>& fields() const { return fields_; }
    /// Shows what matches, and what must be corrected; "" and false show everything the group has. Returns how many
    /// fields are shown.
    int filter(const QString& words, bool changedOnly);
    void refresh(const std::vector<ConfigProblem>& problems);
    /// Opens the fold when the field is inside; null: not in this group.
    FormField* reveal(const std::string& key);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void buildFoldLine(const QString& title);
    void layOut();
    void addWide(QWidget& widget, int row);
    void setOpen(bool open);
    QString summary() const;

    RunForm& form_;
    QString title_;
    bool folds_;
    bool open_;
    bool filtered_ = false;
    bool narrow_ = false;
    QGridLayout* grid_ = nullptr;
    QWidget* body_ = nullptr;
    QLabel* titleLabel_ = nullptr;
    QToolButton* foldButton_ = nullptr;
    QLabel* summaryLabel_ = nullptr;
    QLabel* countLabel_ = nullptr;
    QWidget* foldLine_ = nullptr;
    std::vector<FormField*> fields_;
    std::vector<FormField*> shown_;
    std::vector<QWidget*> extras_;
    std::map<std::string, QWidget*> beside_;
    std::map<std::string, QWidget*> below_;
};

} // namespace furrow
