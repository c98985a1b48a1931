// config.json of a model and a stored shape from hostile bytes: refused with a sentence, or read to a model that can be
// built, counted and written again.

#include "core/base/check.h"
#include "core/model/huggingface_config.h"
#include "tests/fuzz/fuzz_seeds.h"

#include <nlohmann/json.hpp>

using namespace furrow;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto config = parseHuggingFaceConfig(text);
    const auto shape = config.ok() ? Result<ModelConfig>(config.value().config) : parseShape(text);
    if (!shape.ok())
        return 0;
    FURROW_CHECK(shape.value().validate().empty(), "a model that cannot be built was read");
    FURROW_CHECK(shape.value().parameterCount() > 0 && shape.value().flopsPerToken() > 0, "a model without operations");
    const auto again = parseShape(shapeJson(shape.value()).dump());
    FURROW_CHECK(again.ok() && again.value() == shape.value(), "a shape changed when it was written and read");
    (void)describeShape(shape.value());
    return 0;
}

std::vector<std::string> fuzzSeeds()
{
    std::vector<std::string> seeds {
        R"({"model_type":"gpt2","n_embd":64,"n_layer":2,"n_head":4,"vocab_size":100,"activation_function":"gelu_new"})",
        R"({"model_type":"gpt_neox","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"intermediate_size":96,"vocab_size":100,"rotary_pct":0.25})",
        R"({"positions":"rope","sliding_window":4,"sliding_layers":[true,false,true,false],"norm_place":"both","rope_scaling":"yarn","rope_original_context":16})",
    };
    for (const ModelFamily& family : modelFamilies())
        seeds.push_back(R"({"model_type":")" + std::string(family.type)
            + R"(","hidden_size":64,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2,"intermediate_size":96,"vocab_size":100,"max_position_embeddings":512,"sliding_window":16,"use_sliding_window":false,"head_dim":16,"layer_types":["full_attention","sliding_attention","full_attention","full_attention"],"rope_scaling":{"rope_type":"llama3","factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,"original_max_position_embeddings":64},"rope_theta":10000.0,"tie_word_embeddings":true})");
    return seeds;
}
