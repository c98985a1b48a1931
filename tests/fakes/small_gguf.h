#pragma once

#include "core/model/gguf/gguf_file.h"

#include <string>
#include <vector>

namespace furrow {

/// A Llama of two layers with the byte-pair vocabulary of ten tokens; `kind` of its matrices. Its numbers are zeros.
struct SmallGguf {
    nlohmann::json metadata;
    std::vector<GgufTensor> tensors;

    explicit SmallGguf(GgufType kind = GgufType::F32)
    {
        metadata = { { "general.architecture", "llama" }, { "llama.block_count", 2 }, { "llama.context_length", 64 },
            { "llama.embedding_length", 32 }, { "llama.feed_forward_length", 64 }, { "llama.attention.head_count", 4 },
            { "llama.attention.head_count_kv", 2 }, { "llama.attention.layer_norm_rms_epsilon", 1e-5 },
            { "llama.rope.freq_base", 5e4 }, { "tokenizer.ggml.model", "gpt2" }, { "tokenizer.ggml.pre", "smollm" },
            { "tokenizer.ggml.tokens",
                { "<|endoftext|>", "<|user|>", "a", "b", "c", "1", "\xC4\xA0", "ab",
                    "\xC4\xA0"
                    "ab",
                    "[PAD9]" } },
            { "tokenizer.ggml.token_type", { 3, 4, 1, 1, 1, 1, 1, 1, 1, 5 } },
            { "tokenizer.ggml.merges", { "a b", "\xC4\xA0 ab" } }, { "tokenizer.ggml.bos_token_id", 0 },
            { "tokenizer.ggml.eos_token_id", 0 }, { "tokenizer.ggml.add_bos_token", true },
            { "tokenizer.chat_template", "{{ messages }}" } };
        tensors = { { "token_embd.weight", { 10, 32 }, kind }, { "output_norm.weight", { 32 } } };
        for (const std::string layer : { "blk.0.", "blk.1." })
            for (const GgufTensor& one : std::vector<GgufTensor> { { "attn_norm.weight", { 32 } },
                     { "ffn_norm.weight", { 32 } }, { "attn_q.weight", { 32, 32 }, kind },
                     { "attn_k.weight", { 16, 32 }, kind }, { "attn_v.weight", { 16, 32 }, kind },
                     { "attn_output.weight", { 32, 32 }, kind }, { "ffn_gate.weight", { 64, 32 }, kind },
                     { "ffn_up.weight", { 64, 32 }, kind }, { "ffn_down.weight", { 32, 64 }, kind } }) {
                tensors.push_back(one);
                tensors.back().name = layer + one.name;
            }
    }

    std::string bytes()
    {
        auto header = ggufHeader(metadata, tensors);
        std::string all = header.ok() ? header.value() : "";
        if (!tensors.empty())
            all.resize(tensors.back().offset + tensors.back().sizeBytes, '\0');
        return all;
    }
};

/// Reads bytes as a file of that content.
inline Result<GgufFile> parseGgufBytes(std::string_view bytes)
{
    return parseGguf(
        [bytes](std::uint64_t offset, std::span<std::byte> into) -> Status {
            if (offset > bytes.size() || into.size() > bytes.size() - offset)
                return Error { ErrorCode::Corrupt, "read behind the end" };
            std::copy_n(std::as_bytes(std::span(bytes)).begin() + static_cast<std::ptrdiff_t>(offset), into.size(),
                into.begin());
            return {};
        },
        bytes.size());
}

} // namespace furrow
