#include "host/stepped.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>

#include "host/error.hpp"
#include "host/run.hpp"
#include "kernels/common/bits.hpp"

namespace flitlab {
namespace {

constexpr char kMagic[8] = {'f', 'l', 'i', 't', 'l', 'a', 'b', '1'};

/// A checkpoint is this header, the state in canonical order, the counters, and what a trace feed remembers.
struct CheckpointHeader {
  char magic[8];
  u64 structure;  ///< hash of the configuration
  u64 cycle;
  u64 state_bytes;
  u64 feed_bytes;
  u64 checksum;   ///< of state and counters
};

u64 hash_bytes(u64 hash, const void* data, std::size_t n) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < n; i += 8) {
    u64 word = 0;
    std::memcpy(&word, bytes + i, std::min<std::size_t>(8, n - i));
    hash = mix64(hash ^ word) + 0x9E3779B97F4A7C15ull;
  }
  return hash;
}

u64 configuration_hash(const Experiment& e) {
  std::string text;
  for (const auto& [path, value] : e.flat()) text += path + "=" + to_text(value) + "\n";
  return hash_bytes(1, text.data(), text.size());
}

u64 checksum(const CheckpointHeader& header, const std::vector<std::byte>& state, const CounterShard& counters,
             const std::string& feed) {
  u64 hash = hash_bytes(header.cycle, state.data(), state.size());
  hash = hash_bytes(hash, &counters, sizeof counters);
  return hash_bytes(hash, feed.data(), feed.size());
}

}  // namespace

SteppedNetwork::SteppedNetwork(const Experiment& experiment, const std::string& backend, u32 threads, bool trace)
    : experiment_(experiment), plan_(make_plan(experiment)), trace_(trace) {
  check_memory(*plan_, 1);
  engine_ = plan_->make_engine({experiment_}, EngineChoice{backend, threads, trace});
  feeds_ = make_feeds({experiment_}, *plan_);
}

void SteppedNetwork::step(u32 cycles) {
  const u32 only[] = {0};
  if (!trace_) {
    advance_with_feeds(*engine_, feeds_, cycles, only);
    return;
  }
  const u32 routers = plan_->topology().routers;
  for (u32 i = 0; i < cycles; ++i) {
    const u64 cycle = engine_->now();
    advance_with_feeds(*engine_, feeds_, 1, only);
    const std::vector<std::vector<Event>> lists = engine_->take_events(0);
    for (u32 item = 0; item < lists.size(); ++item)
      for (const Event& event : lists[item])
        events_.push_back({cycle, item >= routers, item >= routers ? item - routers : item, event});
  }
}

std::string SteppedNetwork::state_hash() const {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(engine_->state_hash(0)));
  return text;
}

std::vector<PortSnapshot> SteppedNetwork::router(u32 index) const {
  if (index >= plan_->topology().routers)
    throw ConfigError("router " + std::to_string(index) + " does not exist: routers are numbered 0 to " +
                      std::to_string(plan_->topology().routers - 1) + ".");
  return plan_->inspect_router(engine_->state(0), index);
}

TerminalSnapshot SteppedNetwork::terminal(u32 index) const {
  if (index >= plan_->topology().terminals)
    throw ConfigError("terminal " + std::to_string(index) + " does not exist: terminals are numbered 0 to " +
                      std::to_string(plan_->topology().terminals - 1) + ".");
  return plan_->inspect_terminal(engine_->state(0), index);
}

std::string SteppedNetwork::router_name(u32 index) const { return plan_->router_name(index); }

std::map<std::string, u64> SteppedNetwork::totals() {
  const CounterShard c = engine_->counters(0);
  const auto get = [&](Total total) { return c.total[static_cast<u32>(total)]; };
  return {{"packets_created", get(Total::kPacketsCreated)},     {"flits_created", get(Total::kFlitsCreated)},
          {"packets_injected", get(Total::kPacketsInjected)},   {"flits_injected", get(Total::kFlitsInjected)},
          {"packets_delivered", get(Total::kPacketsDelivered)}, {"flits_delivered", get(Total::kFlitsDelivered)},
          {"packets_dropped", get(Total::kPacketsDropped)},     {"flit_moves", get(Total::kFlitMoves)},
          {"latency_sum", get(Total::kLatencySum)}};
}

std::vector<TimedEvent> SteppedNetwork::take_events() { return std::exchange(events_, {}); }

void SteppedNetwork::save(const std::string& path) {
  const std::vector<std::byte> state = engine_->state(0);
  const CounterShard counters = engine_->counters(0);
  const std::string feed = feeds_.empty() ? "" : feeds_.front().save();
  CheckpointHeader header{{}, configuration_hash(experiment_), engine_->now(), state.size(), feed.size(), 0};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.checksum = checksum(header, state, counters, feed);
  const std::string partial = path + ".partial";  // a crash while writing must not damage an older checkpoint
  std::ofstream file(partial, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  file.write(reinterpret_cast<const char*>(state.data()), static_cast<std::streamsize>(state.size()));
  file.write(reinterpret_cast<const char*>(&counters), sizeof counters);
  file.write(feed.data(), static_cast<std::streamsize>(feed.size()));
  file.close();
  if (!file || std::rename(partial.c_str(), path.c_str()) != 0) {
    std::remove(partial.c_str());
    throw ConfigError("checkpoint \"" + path + "\" cannot be written: " + std::strerror(errno) + ".");
  }
}

void SteppedNetwork::go_on_from(SteppedNetwork& other) {
  if (configuration_hash(experiment_) != configuration_hash(other.experiment_))
    throw ConfigError("the other network has another configuration; go on from one of the same.");
  engine_->set_state(0, other.engine_->state(0));
  engine_->set_counters(0, other.engine_->counters(0));
  engine_->set_now(static_cast<Cycle>(other.engine_->now()));
}

void SteppedNetwork::load(const std::string& path) {
  const std::string name = "checkpoint \"" + path + "\" ";
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ConfigError(name + "cannot be read: " + std::strerror(errno) + ".");
  CheckpointHeader header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file || std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    throw ConfigError(name + "is not a flitlab checkpoint.");
  if (header.structure != configuration_hash(experiment_) || header.state_bytes != plan_->layout().bytes(1))
    throw ConfigError(name + "belongs to another configuration; load it with the one it was saved from.");
  std::vector<std::byte> state(header.state_bytes);
  CounterShard counters;
  file.read(reinterpret_cast<char*>(state.data()), static_cast<std::streamsize>(state.size()));
  file.read(reinterpret_cast<char*>(&counters), sizeof counters);
  if (!file) throw ConfigError(name + "is cut short.");
  std::string feed((std::istreambuf_iterator<char>(file)), {});
  if (feed.size() < header.feed_bytes) throw ConfigError(name + "is cut short.");
  feed.resize(header.feed_bytes);
  if (header.checksum != checksum(header, state, counters, feed))
    throw ConfigError(name + "is damaged: its checksum does not match.");
  if (!feeds_.empty()) feeds_.front().load(feed);
  engine_->set_state(0, state);
  engine_->set_counters(0, counters);
  engine_->set_now(static_cast<Cycle>(header.cycle));
}

}  // namespace flitlab
