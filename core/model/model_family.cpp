#include "core/model/model_family.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr TensorNames kGpt2 {
    .prefix = "transformer.",
    .embedding = "wte",
    .positions = "wpe",
    .layer = "h.%.",
    .before1 = "ln_1",
    .before2 = "ln_2",
    .queryKeyValue = "attn.c_attn",
    .out = "attn.c_proj",
    .up = "mlp.c_fc",
    .down = "mlp.c_proj",
    .lastNorm = "ln_f",
    .head = "lm_head",
    .transposed = true,
};

constexpr TensorNames kLlama {
    .prefix = "model.",
    .embedding = "embed_tokens",
    .layer = "layers.%.",
    .before1 = "input_layernorm",
    .before2 = "post_attention_layernorm",
    .query = "self_attn.q_proj",
    .key = "self_attn.k_proj",
    .value = "self_attn.v_proj",
    .queryNorm = "self_attn.q_norm",
    .keyNorm = "self_attn.k_norm",
    .out = "self_attn.o_proj",
    .gate = "mlp.gate_proj",
    .up = "mlp.up_proj",
    .down = "mlp.down_proj",
    .lastNorm = "norm",
    .head = "lm_head",
};

constexpr TensorNames mixtral()
{
    TensorNames names = kLlama;
    names.router = "block_sparse_moe.gate";
    names.expertGate = "block_sparse_moe.experts.%.w1";
    names.expertUp = "block_sparse_moe.experts.%.w3";
    names.expertDown = "block_sparse_moe.experts.%.w2";
    return names;
}

constexpr TensorNames qwenExperts()
{
    TensorNames names = kLlama;
    names.router = "mlp.gate";
    names.expertGate = "mlp.experts.%.gate_proj";
    names.expertUp = "mlp.experts.%.up_proj";
    names.expertDown = "mlp.experts.%.down_proj";
    names.sharedGate = "mlp.shared_expert.gate_proj";
    names.sharedUp = "mlp.shared_expert.up_proj";
    names.sharedDown = "mlp.shared_expert.down_proj";
    names.sharedRouter = "mlp.shared_expert_gate";
    return names;
}

constexpr TensorNames gemma()
{
    TensorNames names = kLlama;
    names.after1 = "post_attention_layernorm";
    names.before2 = "pre_feedforward_layernorm";
    names.after2 = "post_feedforward_layernorm";
    return names;
}

constexpr TensorNames olmo2()
{
    TensorNames names = kLlama;
    names.before1 = names.before2 = "";
    names.after1 = "post_attention_layernorm";
    names.after2 = "post_feedforward_layernorm";
    return names;
}

constexpr TensorNames phi3()
{
    TensorNames names = kLlama;
    names.query = names.key = names.value = names.gate = names.up = "";
    names.queryKeyValue = "self_attn.qkv_proj";
    names.gateUp = "mlp.gate_up_proj";
    return names;
}

constexpr TensorNames kNeoX {
    .prefix = "gpt_neox.",
    .embedding = "embed_in",
    .layer = "layers.%.",
    .before1 = "input_layernorm",
    .before2 = "post_attention_layernorm",
    .queryKeyValue = "attention.query_key_value",
    .out = "attention.dense",
    .up = "mlp.dense_h_to_4h",
    .down = "mlp.dense_4h_to_h",
    .lastNorm = "final_layer_norm",
    .head = "embed_out",
    .interleaved = true,
};

} // namespace

const std::vector<ModelFamily>& modelFamilies()
{
    static const std::vector<ModelFamily> all {
        { "gpt2", "GPT2LMHeadModel", kGpt2 },
        { "llama", "LlamaForCausalLM", kLlama },
        { "mistral", "MistralForCausalLM", kLlama },
        { "mixtral", "MixtralForCausalLM", mixtral() },
        { "qwen2", "Qwen2ForCausalLM", kLlama },
        { "qwen2_moe", "Qwen2MoeForCausalLM", qwenExperts() },
        { "qwen3", "Qwen3ForCausalLM", kLlama },
        { "qwen3_moe", "Qwen3MoeForCausalLM", qwenExperts() },
        { "gemma2", "Gemma2ForCausalLM", gemma() },
        { "gemma3_text", "Gemma3ForCausalLM", gemma() },
        { "phi3", "Phi3ForCausalLM", phi3() },
        { "smollm3", "SmolLM3ForCausalLM", kLlama },
        { "olmo2", "Olmo2ForCausalLM", olmo2() },
        { "gpt_neox", "GPTNeoXForCausalLM", kNeoX },
    };
    return all;
}

const ModelFamily* findFamily(std::string_view type)
{
    const auto& all = modelFamilies();
    const auto found
        = std::find_if(all.begin(), all.end(), [type](const ModelFamily& one) { return one.type == type; });
    return found == all.end() ? nullptr : &*found;
}

std::string familyList()
{
    std::string text;
    for (const ModelFamily& family : modelFamilies())
        text += (text.empty() ? "" : ", ") + std::string(family.type);
    return text;
}

} // namespace furrow
