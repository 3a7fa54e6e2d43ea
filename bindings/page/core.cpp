/// Interface between the core and the worker of a web page (embind): one network that the page's scope (its animated
/// view) shows, and runs for points of a latency curve. All functions return JSON. For wrong input they return {
/// "error": text } with the core's message.
#include <emscripten/bind.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>

#include "bindings/frames/recorder.hpp"
#include "host/config/check.hpp"
#include "host/config/registry.hpp"
#include "host/run/run.hpp"
#include "kernels/common/error.hpp"

using emscripten::val;
using namespace flitlab;

namespace {

[[noreturn]] void reject_type(const std::string& path) {
  throw ConfigError(path +
                    " has a type that no parameter has: use a number, a string, true or false, a list of numbers, " +
                    "or a list of [flits, weight] pairs.");
}

/// Converts a number from JavaScript, which has only one type of numbers. A whole number becomes an integer; parameters
/// of type float accept integers too.
Value number_from(double x) {
  constexpr double kMostExact = 9007199254740992.0;
  if (x == static_cast<double>(static_cast<std::int64_t>(x)) && x >= -kMostExact && x <= kMostExact)
    return static_cast<std::int64_t>(x);
  return x;
}

std::int64_t integer_from(const std::string& path, const val& x) {
  if (!x.isNumber()) reject_type(path);
  const Value number = number_from(x.as<double>());
  if (const auto* integer = std::get_if<std::int64_t>(&number)) return *integer;
  reject_type(path);
}

Value value_from(const std::string& path, const val& x) {
  if (x.isTrue() || x.isFalse()) return x.isTrue();
  if (x.isNumber()) return number_from(x.as<double>());
  if (x.isString()) return x.as<std::string>();
  if (!x.isArray()) reject_type(path);
  const std::vector<val> items = emscripten::vecFromJSArray<val>(x);
  if (!items.empty() && items[0].isString()) {
    WordList words;
    for (const val& item : items) {
      if (!item.isString()) reject_type(path);
      words.push_back(item.as<std::string>());
    }
    return words;
  }
  if (items.empty() || !items[0].isArray()) {
    IntList integers;
    NumberList numbers;
    for (const val& item : items) {
      if (!item.isNumber()) reject_type(path);
      const Value x = number_from(item.as<double>());
      if (const auto* integer = std::get_if<std::int64_t>(&x)) integers.push_back(*integer);
      numbers.push_back(item.as<double>());
    }
    return integers.size() == numbers.size() ? Value{integers} : Value{numbers};
  }
  Lengths lengths;
  for (const val& item : items) {
    if (!item.isArray() || item["length"].as<u32>() != 2 || !item[1].isNumber()) reject_type(path);
    lengths.emplace_back(integer_from(path, item[0]), item[1].as<double>());
  }
  return lengths;
}

/// Resolves an experiment. `config`: values by dotted path. `texts`: contents of the files that the configuration
/// names, by the dotted path of the parameter.
Experiment experiment_from(const val& config, const val& texts) {
  RawConfig raw;
  for (const std::string& path :
       emscripten::vecFromJSArray<std::string>(val::global("Object").call<val>("keys", config)))
    raw.emplace(path, value_from(path, config[path]));
  SharedTexts shared;
  for (const std::string& path :
       emscripten::vecFromJSArray<std::string>(val::global("Object").call<val>("keys", texts))) {
    const auto owner = std::make_shared<const std::string>(texts[path].as<std::string>());
    shared[path] = {owner, *owner};
  }
  return Experiment::resolve(raw, ".", std::move(shared));
}

/// Returns the JSON text that `work` writes, or { "error": text } if `work` throws.
template <class Work>
std::string answer(Work&& work) {
  Json json;
  try {
    json.open('{');
    work(json);
    json.close('}');
    return json.text;
  } catch (const std::bad_alloc&) {
    return Json().open('{').member("error", "the network does not fit into the memory of a page.").close('}').text;
  } catch (const std::exception& error) {
    return Json().open('{').member("error", std::string_view(error.what())).close('}').text;
  }
}

/// Writes every resolved parameter as an object: path, value, type, range, choices, unit and help.
void put_parameters(Json& json, const Experiment& experiment) {
  json.key("parameters").open('[');
  for (const ParamRecord* r : parameters_of(experiment.kind())) {
    if (!experiment.has(r->path)) continue;
    json.open('{').member("path", r->path).member("value", experiment.at(r->path));
    json.member("type", name_of(r->type));
    if (r->min != r->max) json.member("min", r->min).member("max", r->max);
    json.key("choices").open('[');
    for (const std::string& word : split_words(r->choices)) json.put(word);
    json.close(']').member("unit", r->unit).member("help", r->help).close('}');
  }
  json.close(']');
}

/// The network that the page's scope shows, with its recorder. The recorder draws the first Recorder::kMostDrawn
/// routers.
struct Shown {
  Experiment experiment;
  SteppedNetwork network;
  Recorder recorder;
  std::unique_ptr<SteppedNetwork> fast;  ///< the same network without events, for skip(); null until first used

  explicit Shown(const Experiment& e)
      : experiment(e), network(e, "cpu", 1, true), recorder(network, first_routers(network), 1) {}

  static std::vector<u32> first_routers(const SteppedNetwork& network) {
    std::vector<u32> routers(std::min(network.routers(), Recorder::kMostDrawn));
    std::iota(routers.begin(), routers.end(), 0u);
    return routers;
  }
};

std::unique_ptr<Shown> current;  ///< the network that is shown; null before begin()

Shown& shown() {
  if (!current) throw ConfigError("no network has been started.");
  return *current;
}

void put_state(Json& json) {
  const Recorder& recorder = shown().recorder;
  json.key("stages").open('[');
  for (const std::string& stage : recorder.stages()) json.put(stage);
  json.close(']').member("deadlock", recorder.deadlock()).member("deadlocked", recorder.deadlocked());
}

/// Writes the frames of a recording that has just been restarted.
void put_restarted(Json& json) {
  shown().recorder.put_frames(json.key("frames"));
  put_state(json);
}

/// Makes a new network. If the configuration is invalid, the old network stays.
std::string begin(const val& config, const val& texts) {
  return answer([&](Json& json) {
    const Experiment experiment = experiment_from(config, texts);
    auto next = std::make_unique<Shown>(experiment);
    current = std::move(next);
    put_parameters(json, experiment);
    current->recorder.put_network(json.key("network"));
    json.key("warnings").open('[');
    for (const std::string& text : current->network.warnings()) json.put(text);
    json.close(']');
    put_restarted(json);
  });
}

std::string step(u32 cycles) {
  return answer([&](Json& json) {
    shown().recorder.put_steps(json.key("frames"), cycles);
    put_state(json);
  });
}

/// Longest time for which a call computes, so that the user can stop it.
constexpr auto kMostOfAnAnswer = std::chrono::milliseconds(300);

/// Advances the network by up to `cycles` without recording, for at most kMostOfAnAnswer, and restarts the recording.
std::string skip(u32 cycles) {
  return answer([&](Json& json) {
    Shown& now = shown();
    if (!now.fast) now.fast = std::make_unique<SteppedNetwork>(now.experiment, "cpu", 1, false);
    now.fast->go_on_from(now.network);
    const auto end = std::chrono::steady_clock::now() + kMostOfAnAnswer;
    for (u32 piece = 50; cycles && std::chrono::steady_clock::now() < end; cycles -= piece) {
      piece = std::min(2 * piece, cycles);
      now.fast->step(piece);
    }
    now.network.go_on_from(*now.fast);
    now.recorder.restart();
    now.recorder.look_for_deadlock();
    put_restarted(json);
  });
}

std::string reset() {
  return answer([&](Json& json) {
    Shown& now = shown();
    now.network.go_on_from(SteppedNetwork(now.experiment, "cpu", 1, false));
    now.recorder.restart();
    put_restarted(json);
  });
}

/// Returns the whole state of a router, and records it in every frame from now on.
std::string inspect(u32 router) {
  return answer([&](Json& json) {
    shown().recorder.put_inspection(json, router);
    shown().recorder.inspected = {router};
  });
}

/// Returns the cycle and the hash of the state. The hash equals that of a native build at the same cycle.
std::string hash() {
  return answer(
      [&](Json& json) { json.member("cycle", shown().network.cycle()).member("hash", shown().network.state_hash()); });
}

/// Runs one point of a latency curve: warm-up, measurement window and drain. Calls progress(cycle) after every epoch.
std::string run(const val& config, const val& texts, const val& progress) {
  return answer([&](Json& json) {
    const Experiment experiment = experiment_from(config, texts);
    const auto report = [&](const Progress& p) { progress(static_cast<double>(p.cycle)); };
    const Result r = run_job({experiment}, EngineChoice{"cpu", 1, false}, report).at(0);
    Result::for_each_column(r, [&](const Column& c, const auto& value) { json.member(c.name, datum_of(value)); });
  });
}

}  // namespace

EMSCRIPTEN_BINDINGS(flitlab) {
  emscripten::constant("version", std::string(FLITLAB_VERSION));
  emscripten::function("begin", &begin);
  emscripten::function("step", &step);
  emscripten::function("skip", &skip);
  emscripten::function("reset", &reset);
  emscripten::function("inspect", &inspect);
  emscripten::function("hash", &hash);
  emscripten::function("run", &run);
}
