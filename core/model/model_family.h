#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// What a family of models calls the tensors that make up ours. '%' stands for the number of a layer; in the names of
/// experts the second one for that of the expert. "": the family has no such tensor. Names are without ".weight" and
/// ".bias".
struct TensorNames {
    const char* prefix = ""; ///< of all but the head; files of bare models are without it
    const char* embedding = "";
    const char* positions = "";
    const char* layer = ""; ///< of all that follows up to `expertDown`: "layers.%."
    const char* before1 = ""; ///< norms before and after attention and feed-forward
    const char* after1 = "";
    const char* before2 = "";
    const char* after2 = "";
    const char* query = "";
    const char* key = "";
    const char* value = "";
    const char* queryKeyValue = ""; ///< the three in one
    const char* queryNorm = "";
    const char* keyNorm = "";
    const char* out = "";
    const char* gate = "";
    const char* up = "";
    const char* gateUp = ""; ///< the two in one
    const char* down = "";
    const char* router = "";
    const char* expertGate = "";
    const char* expertUp = "";
    const char* expertDown = "";
    const char* sharedGate = ""; ///< the expert that each token visits
    const char* sharedUp = "";
    const char* sharedDown = "";
    const char* sharedRouter = "";
    const char* lastNorm = "";
    const char* head = "";
    bool transposed = false; ///< matrices of layers are (in, out)
    bool interleaved = false; ///< queryKeyValue goes head by head: query, key, value of the first, of the second ...
    bool turnsPairs = false; ///< numbers that rotary positions turn together stand side by side in query and key, not
                             ///< half a head apart
    bool wholeGains = false; ///< gains of norms are whole where config.json's family stores them less 1
};

/// A family of transformers' models that our decoder covers. What its config.json says is read in
/// huggingface_config.cpp.
struct ModelFamily {
    std::string_view type; ///< model_type
    std::string_view className; ///< in architectures
    TensorNames names;
};
const std::vector<ModelFamily>& modelFamilies();
/// Null where there is none of that model_type.
const ModelFamily* findFamily(std::string_view type);
/// "gpt2, llama, ..."
std::string familyList();

} // namespace furrow
