// Names of tensors and of metadata: gguf-py/gguf/constants.py of llama.cpp; what its converters do to the numbers
// (convert_hf_to_gguf.py) is in the flags of TensorNames.

#include "core/model/gguf/gguf_architecture.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr TensorNames kDecoder {
    .embedding = "token_embd",
    .layer = "blk.%.",
    .before1 = "attn_norm",
    .before2 = "ffn_norm",
    .query = "attn_q",
    .key = "attn_k",
    .value = "attn_v",
    .queryNorm = "attn_q_norm",
    .keyNorm = "attn_k_norm",
    .out = "attn_output",
    .gate = "ffn_gate",
    .up = "ffn_up",
    .down = "ffn_down",
    .router = "ffn_gate_inp",
    .expertGate = "ffn_gate.%", // as older files have them; newer ones stack them in ffn_gate_exps (StackedExperts)
    .expertUp = "ffn_up.%",
    .expertDown = "ffn_down.%",
    .sharedGate = "ffn_gate_shexp",
    .sharedUp = "ffn_up_shexp",
    .sharedDown = "ffn_down_shexp",
    .sharedRouter = "ffn_gate_inp_shexp",
    .lastNorm = "output_norm",
    .head = "output",
    .wholeGains = true,
};

constexpr TensorNames llama()
{
    TensorNames names = kDecoder;
    names.turnsPairs = true;
    return names;
}

constexpr TensorNames gemma()
{
    TensorNames names = kDecoder;
    names.after1 = "post_attention_norm";
    names.after2 = "post_ffw_norm";
    return names;
}

constexpr TensorNames olmo2()
{
    TensorNames names = gemma();
    names.before1 = names.before2 = "";
    return names;
}

constexpr TensorNames joined()
{
    TensorNames names = kDecoder;
    names.query = names.key = names.value = names.gate = "";
    names.queryKeyValue = "attn_qkv";
    return names;
}

constexpr TensorNames phi3()
{
    TensorNames names = joined();
    names.up = "";
    names.gateUp = "ffn_up";
    return names;
}

constexpr TensorNames gpt2()
{
    TensorNames names = joined();
    names.positions = "position_embd";
    return names;
}

constexpr GgufKey kUsual[] = { { "context_length", "max_position_embeddings", false, true },
    { "embedding_length", "hidden_size", false, true }, { "block_count", "num_hidden_layers", false, true },
    { "feed_forward_length", "intermediate_size", false, true },
    { "attention.head_count", "num_attention_heads", false, true } };
constexpr GgufKey kRms[] = { { "attention.layer_norm_rms_epsilon", "rms_norm_eps", true, true } };
constexpr GgufKey kGpt2[] = { { "context_length", "n_positions", false, true },
    { "embedding_length", "n_embd", false, true }, { "block_count", "n_layer", false, true },
    { "feed_forward_length", "n_inner", false, true }, { "attention.head_count", "n_head", false, true },
    { "attention.layer_norm_epsilon", "layer_norm_epsilon", true, true } };
constexpr GgufKey kNeoX[] = { { "attention.layer_norm_epsilon", "layer_norm_eps", true, true } };
constexpr GgufKey kWindow[] = { { "attention.sliding_window", "sliding_window" } };
constexpr GgufKey kCaps[] = { { "attn_logit_softcapping", "attn_logit_softcapping", true },
    { "final_logit_softcapping", "final_logit_softcapping", true } };
constexpr GgufKey kMixtral[]
    = { { "expert_count", "num_local_experts" }, { "expert_used_count", "num_experts_per_tok", false, true } };
constexpr GgufKey kQwenExperts[]
    = { { "expert_count", "num_experts" }, { "expert_used_count", "num_experts_per_tok", false, true },
          { "expert_feed_forward_length", "moe_intermediate_size", false, true } };
constexpr GgufKey kSharedExpert[]
    = { { "expert_shared_feed_forward_length", "shared_expert_intermediate_size", false, true } };

const std::vector<GgufArchitecture>& architectures()
{
    static const std::vector<GgufArchitecture> all {
        { LlamaCpp::Gpt2, { "gpt2", "GPT2LMHeadModel", gpt2() }, { kGpt2 } },
        { LlamaCpp::Llama, { "llama", "LlamaForCausalLM", llama() }, { kUsual, kRms } },
        { LlamaCpp::Llama, { "mixtral", "MixtralForCausalLM", llama() }, { kUsual, kRms, kMixtral }, true },
        { LlamaCpp::Qwen2, { "qwen2", "Qwen2ForCausalLM", kDecoder }, { kUsual, kRms } },
        { LlamaCpp::Qwen2Moe, { "qwen2_moe", "Qwen2MoeForCausalLM", kDecoder },
            { kUsual, kRms, kQwenExperts, kSharedExpert }, true },
        { LlamaCpp::Qwen3, { "qwen3", "Qwen3ForCausalLM", kDecoder }, { kUsual, kRms } },
        { LlamaCpp::Qwen3Moe, { "qwen3_moe", "Qwen3MoeForCausalLM", kDecoder }, { kUsual, kRms, kQwenExperts }, true },
        { LlamaCpp::Gemma2, { "gemma2", "Gemma2ForCausalLM", gemma() }, { kUsual, kRms, kWindow, kCaps } },
        { LlamaCpp::Gemma3, { "gemma3_text", "Gemma3ForCausalLM", gemma() }, { kUsual, kRms, kWindow, kCaps } },
        { LlamaCpp::Phi3, { "phi3", "Phi3ForCausalLM", phi3() }, { kUsual, kRms, kWindow } },
        { LlamaCpp::Olmo2, { "olmo2", "Olmo2ForCausalLM", olmo2() }, { kUsual, kRms } },
        { LlamaCpp::GptNeoX, { "gpt_neox", "GPTNeoXForCausalLM", joined() }, { kUsual, kNeoX } },
    };
    return all;
}

} // namespace

const GgufArchitecture* findGgufArchitecture(std::string_view name, bool hasExperts)
{
    const auto& all = architectures();
    const auto known = closedValue<LlamaCpp>(name);
    const auto found = std::find_if(all.begin(), all.end(),
        [&](const GgufArchitecture& one) { return one.name == known && one.hasExperts == hasExperts; });
    return found == all.end() ? nullptr : &*found;
}

const GgufArchitecture* ggufArchitectureOf(std::string_view family)
{
    const auto& all = architectures();
    const std::string_view wanted = family == "mistral" ? "llama" : family; // the same without windows
    const auto found = std::find_if(
        all.begin(), all.end(), [wanted](const GgufArchitecture& one) { return one.family.type == wanted; });
    return found == all.end() ? nullptr : &*found;
}

std::string ggufArchitectureList()
{
    std::string text;
    for (const auto& one : kClosedNames<LlamaCpp>)
        text += (text.empty() ? "" : ", ") + std::string(one.name);
    return text;
}

} // namespace furrow
