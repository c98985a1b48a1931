#pragma once

#include <QString>
#include <QWidget>
#include <optional>
#include <vector>

namespace furrow {

enum class MeterFill { Visited, Committed, TrainedStripes, Leased, Steps, Excluded, Free };

struct MeterPart {
    double value = 0;
    MeterFill fill = MeterFill::Committed;
};

/// One row: label, bar of 8 px with parts in order, and numbers that always stand beside it. An unknown total has no
/// bar: the count and, while it may become known, "total not known yet". Rows below each other align by setLabelWidth.
class Meter : public QWidget {
    Q_OBJECT
public:
    explicit Meter(const QString& label, QWidget* parent = nullptr);
    void setParts(std::vector<MeterPart> parts, std::optional<double> total);
    /// Whether an unknown total may still become known; if not, the count stands alone. It may, unless told otherwise.
    void setTotalToCome(bool toCome);
    /// @param value  "1,412"  @param total  "2,419" or "about 75,300"; ignored when unknown  @param share  "58.4 %"
    void setNumbers(const QString& value, const QString& total, const QString& share);
    int wordsWidth() const; ///< of the label
    void setLabelWidth(int width);
    QSize sizeHint() const override;

    /// Where the share stands, and value and total before it; what is long gets its room from the bar.
    QRectF shareArea() const;
    QRectF numbersArea() const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void updateAccessible();
    QString restText() const;

    QString label_;
    QString value_, totalText_, share_;
    std::vector<MeterPart> parts_;
    std::optional<double> total_;
    bool toCome_ = true;
    int labelWidth_ = 110;
};

/// The fills of a meter in one line, a swatch before the words of each. What has no room is cut off; the tool tip has
/// all.
class MeterLegend : public QWidget {
    Q_OBJECT
public:
    struct Entry {
        QString text;
        std::optional<MeterFill> fill; ///< nothing: words alone
    };
    explicit MeterLegend(QWidget* parent = nullptr);
    void setEntries(std::vector<Entry> entries);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return { 0, height() }; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Place {
        double x = 0;
        int line = 0;
    };
    std::vector<Place> places(double width) const; ///< of each entry: what does not fit goes into the next line
    void fitHeight();

    std::vector<Entry> entries_;
};

/// A curve of at most some dozens of values without axes, for lists.
class Sparkline : public QWidget {
    Q_OBJECT
public:
    explicit Sparkline(QWidget* parent = nullptr);
    void setValues(std::vector<double> values);
    QSize sizeHint() const override { return { 52, 16 }; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<double> values_;
};
/// The same for item delegates. Gaps where a value is not finite.
void drawSparkline(QPainter& painter, const QRectF& area, const std::vector<double>& values);

/// One part of an estimate, e.g. activations 11.2 of 24 GiB.
struct EstimatePart {
    double value = 0;
    int shade = 0; ///< 0: accent; 1, 2, 3: greys
    bool uncertain = false; ///< hatched
    QString label; ///< stands below the bar where it fits
};

/// A bar with a scale: parts from the left, or a band with a likely value, and a limit.
class EstimateBar : public QWidget {
    Q_OBJECT
public:
    explicit EstimateBar(QWidget* parent = nullptr);
    struct Scale {
        double begin = 0;
        double end = 1;
        std::vector<std::pair<double, QString>> ticks;
    };
    void setScale(Scale scale);
    void setParts(std::vector<EstimatePart> parts);
    void setBand(double low, double likely, double high);
    /// A line in the colour of errors, e.g. what is free on the device. nullopt: none.
    void setLimit(std::optional<double> at, const QString& label = {});
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    double xOf(double value) const;

    Scale scale_;
    std::vector<EstimatePart> parts_;
    std::optional<double> low_, likely_, high_, limit_;
    QString limitLabel_;
};

/// Text cut into tokens: each second one on the ground of selections, blanks and line ends visible.
class TokenView : public QWidget {
    Q_OBJECT
public:
    explicit TokenView(QWidget* parent = nullptr);
    void setTokens(std::vector<QString> tokens);
    QSize sizeHint() const override;
    bool hasHeightForWidth() const override { return wrap_; }
    int heightForWidth(int width) const override;
    /// One line that is cut off at the right (default), or as many as needed.
    void setWrapped(bool wrap);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    template <typename Place> int layOut(int width, Place place) const;

    std::vector<QString> tokens_;
    bool wrap_ = false;
};

} // namespace furrow
