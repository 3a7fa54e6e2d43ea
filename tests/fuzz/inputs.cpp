#include "tests/fuzz/inputs.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "host/config/registry.hpp"
#include "host/config/stream_hash.hpp"
#include "host/config/topology_params.hpp"
#include "host/run/checkpoint.hpp"
#include "host/run/stepped.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/metro/params.hpp"
#include "kernels/routers/sconnect/params.hpp"
#include "kernels/routers/t3e/params.hpp"
#include "kernels/routers/vc/params.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab::fuzz {
namespace {

constexpr u32 kMostRouters = 256;  ///< limit; larger networks are valid, but slow
constexpr u32 kCycles = 150;

Value word(const char* text) { return std::string(text); }
Value list(IntList values) { return values; }
Value integer(std::int64_t value) { return value; }

/// Returns the path of a file in memory, after replacing its contents by `bytes`.
std::string file_with(std::string_view bytes) {
  static const std::string path = [] {
    const std::filesystem::path shared = "/dev/shm";
    const std::filesystem::path folder =
        std::filesystem::is_directory(shared) ? shared : std::filesystem::temp_directory_path();
    return (folder / ("flitlab-fuzz-" + std::to_string(getpid()))).string();
  }();
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

void step(const RawConfig& config) {
  const Experiment e = Experiment::resolve(config, "");
  if (make_plan(e)->topology().routers > kMostRouters) return;
  SteppedNetwork net(e, "cpu", 1, false);
  net.step(kCycles);
  net.check();
}

/// Returns a form of input: the parameter that names the file, and the other settings of a network that reads it.
Input form(const char* name, const ParamRecord& file, const RawConfig& settings) {
  return {name, &file, [&file, settings](std::string_view bytes) {
            RawConfig config = settings;
            config[std::string(file.path)] = file_with(bytes);
            step(config);
          }};
}

/// Takes input bytes from the front.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : left_(bytes) {}
  bool empty() const { return left_.empty(); }
  u32 byte() {
    if (left_.empty()) return 0;
    const u32 first = static_cast<unsigned char>(left_[0]);
    left_.remove_prefix(1);
    return first;
  }
  u32 below(u32 n) { return (byte() << 8 | byte()) % n; }
  template <class T>
  T any() {
    T value{};
    const std::size_t n = std::min(sizeof value, left_.size());
    std::memcpy(&value, left_.data(), n);
    left_.remove_prefix(n);
    return value;
  }
  std::string text() {
    const std::string_view part = left_.substr(0, byte());
    left_.remove_prefix(std::min(part.size(), left_.size()));
    return std::string(part);
  }

 private:
  std::string_view left_;
};

double number(Bytes& bytes) {
  switch (bytes.byte() % 4) {
    case 0: return bytes.any<double>();
    case 1: return bytes.byte();
    case 2: return bytes.byte() / 255.0;
    default: return static_cast<double>(bytes.any<std::int32_t>());
  }
}

/// Returns a value of any type, usually of the type that the parameter requires.
Value value_for(const ParamRecord& p, Bytes& bytes) {
  const u32 kind = bytes.byte();
  const auto type = kind < 224 ? p.type : static_cast<ParamType>(kind % 11);
  switch (type) {
    case ParamType::kBool: return bytes.byte() % 2 == 1;
    case ParamType::kFloat: return number(bytes);
    case ParamType::kChoiceList:
    case ParamType::kChoice: {
      std::vector<std::string> words;
      for (std::istringstream choices{std::string(p.choices)}; std::getline(choices, words.emplace_back(), '|');) {
      }
      return words[bytes.byte() % words.size()];
    }
    case ParamType::kFile: return bytes.text();
    case ParamType::kIntList: {
      IntList values(bytes.byte() % 6);
      for (std::int64_t& v : values) v = bytes.byte() % 8 ? bytes.byte() % 8 : bytes.any<std::int32_t>();
      return values;
    }
    case ParamType::kLengths: {
      Lengths lengths(1 + bytes.byte() % 3);
      for (auto& [flits, weight] : lengths) flits = bytes.byte(), weight = number(bytes);
      return lengths;
    }
    case ParamType::kIntOrList:
      if (bytes.byte() % 2) return IntList{bytes.byte() % 8 + 1, bytes.byte() % 8 + 1};
      return integer(bytes.byte());
    case ParamType::kNumberOrList:
      if (bytes.byte() % 2) return NumberList{number(bytes), 0.5};
      return number(bytes);
    case ParamType::kIntOrAuto:
      if (bytes.byte() % 2) return word("auto");
      [[fallthrough]];
    case ParamType::kInt: return bytes.byte() % 8 ? integer(bytes.byte()) : integer(bytes.any<std::int64_t>());
  }
  return false;
}

/// Reads the input as a configuration: a router kind, then parameters and their values.
void configuration(std::string_view text) {
  Bytes bytes(text);
  const ModelRecord& model = models()[bytes.byte() % models().size()];
  const std::vector<const ParamRecord*> records = parameters_of(model.kind);
  RawConfig config{{"router.kind", std::string(model.kind)}, {"topology.shape", list({4, 2})}};
  if (bytes.byte() % 2) config.erase("topology.shape");
  while (!bytes.empty()) {
    const ParamRecord& p = *records[bytes.below(static_cast<u32>(records.size()))];
    config[bytes.byte() == 255 ? bytes.text() : std::string(p.path)] = value_for(p, bytes);
  }
  const Experiment e = Experiment::resolve(config, "");
  for (const ParamRecord* p : records)  // planning large networks is not tested here
    if (e.has(*p) && p->path.starts_with("topology.") && p->type == ParamType::kIntList) {
      u64 product = 1;
      for (u32 v : e.ints(*p)) product *= std::max(v, 1u);
      if (product > kMostRouters) return;
    }
  const std::unique_ptr<Plan> plan = make_plan(e);
  if (plan->topology().routers > kMostRouters) return;
  plan->derived();
}

/// Reads the input as changes to the host's part of a checkpoint: everything except the state of routers, with a valid
/// checksum. `ChangedCheckpoint.*` tests changes to that state (docs/architecture/state.md, "Checkpoints").
void checkpoint(std::string_view bytes) {
  const std::string trace = file_with("0,0,1,2\n9,1,2,1,0\n300,3,4,1\n");
  const std::string path = trace + ".checkpoint";
  const Experiment e = Experiment::resolve({{"router.kind", word("vc")},
                                            {"topology.shape", list({3, 3})},
                                            {"traffic.mode", word("trace")},
                                            {"traffic.trace_file", trace}},
                                           "");
  SteppedNetwork net(e, "cpu", 1, false);
  net.step(20);
  net.save(path);
  std::ifstream file(path, std::ios::binary);
  std::stringstream whole;
  whole << file.rdbuf();
  const std::string saved = whole.str();
  constexpr std::size_t kHeader = 32;  // 16 bytes of identification, then size and checksum of the rest
  u64 state = 0;
  std::memcpy(&state, saved.data() + kHeader + sizeof(Cycle), sizeof state);
  const std::size_t host = kHeader + sizeof(Cycle) + sizeof state + state;  // where the host's part starts
  // The input bytes are positions to change, and the new values.
  std::string body = saved.substr(kHeader);
  for (Bytes at(bytes); !at.empty();) {
    const std::size_t place = host - kHeader + at.any<u32>() % (body.size() - (host - kHeader));
    if (const u32 what = at.byte(); what < 200)
      body[place] = static_cast<char>(at.byte());
    else if (what < 230)
      body.resize(std::max<std::size_t>(place, host - kHeader + 1));
    else
      body.insert(place, at.text());
  }
  StreamHash hash;
  hash.add(body.data(), body.size());
  const u64 sizes[] = {body.size(), hash.value()};
  std::ofstream(path, std::ios::binary)
      .write(saved.data(), kHeader - sizeof sizes)
      .write(reinterpret_cast<const char*>(sizes), sizeof sizes)
      .write(body.data(), static_cast<std::streamsize>(body.size()));
  SteppedNetwork other(e, "cpu", 1, false);
  try {
    other.load(path);
  } catch (...) {
    std::filesystem::remove(path);
    throw;
  }
  std::filesystem::remove(path);
  if (const u64 left = kEndOfTime - other.cycle(); left > kCycles) other.step(kCycles);
}

}  // namespace

const std::vector<Input>& inputs() {
  using namespace param;
  static const std::vector<Input> all = {
      form("trace", traffic.trace_file,
           {{"router.kind", word("vc")}, {"topology.shape", list({4, 4})}, {"traffic.mode", word("trace")}}),
      form("matrix", traffic.matrix_file,
           {{"router.kind", word("vc")}, {"topology.shape", list({3, 3})}, {"traffic.pattern", word("matrix")}}),
      form("program", traffic.program_file,
           {{"router.kind", word("bgl")}, {"topology.shape", list({4, 2})}, {"traffic.mode", word("program")}}),
      form("graph", networks.file, {{"router.kind", word("vc")}, {"topology.kind", word("graph")}}),
      form("table", vc::param::routing.table_file,
           {{"router.kind", word("vc")},
            {"topology.kind", word("ring")},
            {"topology.shape", list({4})},
            {"routing.algorithm", word("table")},
            {"routing.vc_assignment", word("any")}}),
      form("metro_wiring", metro::param::topology.file,
           {{"router.kind", word("metro")}, {"topology.kind", word("file")}}),
      form("metro_faults", metro::param::faults.file, {{"router.kind", word("metro")}}),
      form("t3e_logical", t3e::param::topology.logical_file,
           {{"router.kind", word("t3e")}, {"topology.shape", list({2, 2, 2})}}),
      form("t3e_registers", t3e::param::registers.file,
           {{"router.kind", word("t3e")}, {"topology.shape", list({2, 2, 2})}}),
      form("sconnect_graph", sconnect::param::topology.file,
           {{"router.kind", word("sconnect")}, {"topology.kind", word("graph")}}),
      form("sconnect_tables", sconnect::param::routing.file,
           {{"router.kind", word("sconnect")},
            {"topology.kind", word("mesh")},
            {"topology.shape", list({2, 2})},
            {"routing.tables", word("file")}}),
      form("sconnect_clocks", sconnect::param::clock.file,
           {{"router.kind", word("sconnect")},
            {"topology.kind", word("mesh")},
            {"topology.shape", list({2, 2})},
            {"clock.emulated", true}}),
      {"configuration", nullptr, configuration},
      {"checkpoint", nullptr, checkpoint},
  };
  return all;
}

/// Returns an error message without the text that it quotes from the user.
std::string own_words(const std::string& message) {
  std::string own;
  bool quoted = false;
  for (std::size_t i = 0; i < message.size(); ++i) {
    if (quoted && message[i] == '\\')
      ++i;
    else if (message[i] == '"')
      quoted = !quoted;
    else if (!quoted)
      own += message[i];
  }
  return own;
}

void judge(const Input& input, std::string_view bytes) {
  const auto look_at = [&](const std::string& message) {
    for (const std::string code : {"\n", "std::", "basic_", "defect of flitlab"})
      if (own_words(message).find(code) != std::string::npos &&
          (code == "\n" || bytes.find(code) == std::string_view::npos)) {  // the message may quote the input
        std::fprintf(stderr, "%s: an unhelpful message: %s\n", input.name.c_str(), message.c_str());
        std::abort();
      }
  };
  try {
    input.tries(bytes);
  } catch (const ConfigError& error) {
    look_at(error.what());
  } catch (const RunError& error) {
    look_at(error.what());
  }  // other exceptions end the process
}

}  // namespace flitlab::fuzz
