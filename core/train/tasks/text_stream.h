#pragma once

#include "core/data/tokenizer/tokenizer.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// Tokens to text as they come; a code point may need several, so text grows by whole ones. Where a text ends the
/// answer, what may be its beginning is held back.
class TextStream {
public:
    using Show = std::function<void(const std::string&)>;

    /// @param tokenizer  must live as long as this
    /// @param show  gets each piece of text that can be shown
    /// @param endText  ends the text and does not belong to it; "": nothing does
    TextStream(const Tokenizer& tokenizer, Show show, std::string endText = {})
        : tokenizer_(tokenizer)
        , show_(std::move(show))
        , endText_(std::move(endText))
    {
    }
    /// false: the text is over.
    bool add(std::int64_t token)
    {
        tokens_.push_back(static_cast<TokenId>(token));
        text_ = tokenizer_.decode(tokens_);
        const auto end = endText_.empty() ? std::string::npos : text_.find(endText_);
        if (end != std::string::npos)
            text_.resize(end);
        show(end != std::string::npos ? 0 : heldBack());
        return end == std::string::npos;
    }
    /// What was held back is text after all.
    void finish() { show(0); }
    const std::string& text() const { return text_; }
    std::size_t tokens() const { return tokens_.size(); }

private:
    /// Bytes at the end of the text with which the end text begins.
    std::size_t heldBack() const
    {
        std::size_t bytes = std::min(endText_.size(), text_.size());
        while (bytes > 0 && !endText_.starts_with(std::string_view(text_).substr(text_.size() - bytes)))
            --bytes;
        return bytes;
    }
    void show(std::size_t held)
    {
        const auto now = std::string_view(text_).substr(0, text_.size() - held);
        if (now.size() <= shown_.size() || now.substr(0, shown_.size()) != shown_)
            return;
        show_(std::string(now.substr(shown_.size())));
        shown_ = now;
    }

    const Tokenizer& tokenizer_;
    Show show_;
    std::string endText_;
    std::vector<TokenId> tokens_;
    std::string text_;
    std::string shown_;
};

} // namespace furrow
