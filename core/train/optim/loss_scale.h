#pragma once

namespace furrow {

/// Dynamic loss scale for fp16, whose gradients would vanish below 6e-8: gradients are multiplied by value() in
/// backward and divided by it in the optimizer. Source: Micikevicius et al. 2018 (arXiv:1710.03740), section 3.2. A
/// plain value.
class LossScale {
public:
    /// A power of two, so that scaling rounds nothing.
    double value() const { return value_; }
    /// A step fitted; the scale is doubled after many of them in a row.
    void fitted()
    {
        if (++inARow_ == kGrowAfter) {
            inARow_ = 0;
            value_ = value_ < kMost ? value_ * 2 : value_;
        }
    }
    /// Gradients overflowed: try again with half. @return false: the scale is at its least, the numbers themselves are
    /// bad
    bool overflowed()
    {
        inARow_ = 0;
        if (value_ <= 1)
            return false;
        value_ /= 2;
        return true;
    }
    void set(double value) { value_ = value; }

private:
    static constexpr int kGrowAfter = 2000;
    static constexpr double kMost = 16777216;
    double value_ = 65536;
    int inARow_ = 0;
};

} // namespace furrow
