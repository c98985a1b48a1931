#include "app/task_words.h"

#include "core/base/format.h"
#include "core/base/plain_line.h"
#include "core/data/tokenizer/prompt_words.h"

#include <nlohmann/json.hpp>

namespace furrow {

namespace {

std::string text(const nlohmann::json& result, const char* key) { return plainLine(result.at(key).get<std::string>()); }

/// A model without a run has trained nothing here.
std::string whoseWeights(const nlohmann::json& r)
{
    return r.at("is_run").get<bool>()
        ? "checkpoint " + text(r, "checkpoint") + " of step " + formatCount(r.at("step").get<std::int64_t>())
        : "the model in " + text(r, "checkpoint");
}

/// Which weights of the run these are; "" of the newest ones when every epoch is whole.
std::string placeWords(const nlohmann::json& r)
{
    const auto& place = r.at("place");
    if (!place.is_object())
        return {};
    std::string words;
    if (!place.at("is_newest").get<bool>())
        words += place.at("newest").is_string() ? ", not the newest, which is " + text(place, "newest") + " of step "
                + formatCount(place.at("newest_step").get<std::int64_t>())
                                                : ", not the newest";
    if (place.at("before_end_of_epoch").is_number())
        words += ", before the end of epoch " + std::to_string(place.at("before_end_of_epoch").get<std::int64_t>());
    return words;
}

std::string ofEvaluation(const nlohmann::json& r)
{
    const bool heldOut = text(r, "data") == "held-out";
    const double bits = r.at("bits_per_byte").get<double>(); // not known where not all of the text is learnt
    const auto pairs = r.value("pairs", std::int64_t(0));
    std::string words = pairs > 0 ? "loss " + formatNumber(r.at("loss").get<double>(), 4) + " nats per pair, margin "
            + formatNumber(r.at("margin").get<double>(), 4) + ", the chosen answer is preferred in "
            + formatNumber(100 * r.at("preferred").get<double>(), 1) + " %\n"
                                  : "loss " + formatNumber(r.at("loss").get<double>(), 4)
            + " nats per token, perplexity " + formatNumber(r.at("perplexity").get<double>(), 2) + ", "
            + (bits > 0 ? formatNumber(bits, 4) + " bits per byte, accuracy " : "accuracy ")
            + formatNumber(100 * r.at("accuracy").get<double>(), 1) + " %\n";
    words += "of "
        + (pairs > 0 ? formatCount(pairs) + " pairs of "
                     : formatCount(r.at("tokens").get<std::int64_t>()) + " tokens of ")
        + (heldOut ? std::string("the held-out text of the run") : text(r, "data"))
        + (r.at("complete").get<bool>() ? "" : ", which has more") + "; " + whoseWeights(r) + placeWords(r) + "\n"
        + oneReplicaWords(r) + startWeightsWords(r);
    if (r.at("also_trained").get<bool>())
        words += "The data is too small for a held-out text: these samples are trained too.\n";
    for (const auto& what : r.value("not_in_it", nlohmann::json::array()))
        words += what.get<std::string>() + "\n";
    if (r.at("overlap").is_object())
        words += text(r.at("overlap"), "text") + "\n";
    return words;
}

std::string percent(double share) { return formatNumber(100 * share, 1) + " %"; }

/// "31.5 % (standard error 3.3 %)"; of one question nothing can be said of the error.
std::string marks(const nlohmann::json& r, const char* share, const char* error)
{
    return percent(r.at(share).get<double>())
        + (r.at("questions").get<std::int64_t>() > 1 ? " (standard error " + percent(r.at(error).get<double>()) + ")"
                                                     : "");
}

std::string ofQuestions(const nlohmann::json& r)
{
    const bool isChoice = text(r, "kind") == "multiple_choice";
    std::string words = isChoice ? "accuracy " + marks(r, "accuracy", "standard_error") + ", by length "
            + marks(r, "accuracy_normalised", "standard_error_normalised") + "; guessing gets "
            + percent(r.at("chance").get<double>()) + "\n"
                                 : "exact match " + marks(r, "exact_match", "standard_error") + "\n";
    const auto shown = r.at("few_shot").get<std::int64_t>();
    words += "questions asked: " + formatCount(r.at("questions").get<std::int64_t>()) + ", of " + text(r, "tasks")
        + (shown > 0 ? ", shown with their answers: " + formatCount(shown) : "") + "; " + whoseWeights(r)
        + placeWords(r) + "\n" + oneReplicaWords(r);
    if (const auto unusable = r.at("unusable").get<std::int64_t>(); unusable > 0)
        words += "lines left out, since they are no questions: " + formatCount(unusable) + "; the first is "
            + text(r, "first_unusable") + ".\n";
    return words;
}

std::string ofMerge(const nlohmann::json& r)
{
    if (!r.contains("folder")) {
        const std::string checkpoint = text(r, "checkpoint");
        return checkpoint.empty() ? "Nothing to merge: the newest checkpoint holds all replicas already.\n"
                                  : "The replicas are one model now: checkpoint " + checkpoint + "\n";
    }
    std::string words = std::to_string(r.at("members").size()) + " checkpoints are one model now (" + text(r, "method")
        + "): " + text(r, "folder") + "\n";
    for (const auto& warning : r.at("warnings"))
        words += plainLine(warning.get<std::string>()) + "\n";
    return words;
}

} // namespace

std::string oneReplicaWords(const nlohmann::json& result)
{
    const auto& weights = result.at("weights");
    const bool several = weights.is_object() && weights.at("unmerged_replicas").get<std::int64_t>() > 0;
    return several ? "These are " + text(weights, "text") + ".\n" : std::string();
}

std::string startWeightsWords(const nlohmann::json& result)
{
    return result.value("is_start_weights", false)
        ? "The run has no checkpoint yet: these are the weights that it starts with, and no step has trained them.\n"
        : "";
}

std::string unknownWords(const nlohmann::json& result)
{
    const auto unknown = text(result, "unknown_characters");
    return unknown.empty() ? unknown : sentence(kNoTokenFor, { unknown }).text() + "\n";
}

std::string taskWords(WorkerTask task, const nlohmann::json& result)
{
    if (task == WorkerTask::Eval)
        return result.contains("tasks") ? ofQuestions(result) : ofEvaluation(result);
    if (task == WorkerTask::Export)
        return whoseWeights(result) + " is in " + text(result, "out") + "\n" + oneReplicaWords(result);
    if (task == WorkerTask::Merge)
        return ofMerge(result);
    if (task == WorkerTask::Torch)
        return "libtorch computes what it should.\n";
    return result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace furrow
