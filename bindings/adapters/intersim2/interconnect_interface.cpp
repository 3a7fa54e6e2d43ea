#include "intersim2/interconnect_interface.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "common/subnet.hpp"
#include "intersim2/globals.hpp"

InterconnectInterface* g_icnt_interface = nullptr;

namespace {

using Terminals = std::vector<uint32_t>;

/// Returns the terminals of the memories for numbers of shaders and memories for which intersim2 has a map; otherwise
/// an empty list.
Terminals known_map(unsigned shaders, unsigned memories) {
  static const std::map<std::pair<unsigned, unsigned>, Terminals> kMaps = {
      {{8, 8}, {1, 3, 4, 6, 9, 11, 12, 14}},
      {{28, 8}, {3, 7, 10, 12, 23, 25, 28, 32}},
      {{56, 8}, {3, 15, 17, 29, 36, 47, 49, 61}},
      {{110, 11}, {12, 20, 25, 28, 57, 60, 63, 92, 95, 100, 108}}};
  const auto found = kMaps.find({shaders, memories});
  return found == kMaps.end() ? Terminals{} : found->second;
}

/// Returns the terminal of each device. Shaders have, in rising order, the terminals that no memory has.
Terminals terminals_of(const flitlab_adapters::IcntFile& icnt, unsigned shaders, unsigned memories) {
  Terminals terminals;
  if (!icnt.use_map) {
    for (uint32_t device = 0; device < shaders + memories; ++device) terminals.push_back(device);
    return terminals;
  }
  const Terminals of_memories = icnt.memory_node_map.empty() ? known_map(shaders, memories) : icnt.memory_node_map;
  const std::set<uint32_t> taken(of_memories.begin(), of_memories.end());
  if (of_memories.size() != memories || taken.size() != memories)
    throw std::runtime_error("memory_node_map must have " + std::to_string(memories) +
                             " different terminals, one for each memory; or set use_map = 0.");
  for (uint32_t terminal = 0; terminals.size() < shaders; ++terminal)
    if (!taken.count(terminal)) terminals.push_back(terminal);
  terminals.insert(terminals.end(), of_memories.begin(), of_memories.end());
  return terminals;
}

}  // namespace

struct InterconnectInterface::Parts {
  explicit Parts(const std::string& config)
      : icnt(flitlab_adapters::read_icnt(config)), toml(flitlab_adapters::toml_beside(config)) {}

  uint32_t terminal(unsigned device) const {
    if (device < terminals.size()) return terminals[device];
    throw std::runtime_error(terminals.empty()
                                 ? "CreateInterconnect() has not been called."
                                 : "device " + std::to_string(device) + " does not exist: devices are numbered 0 to " +
                                       std::to_string(terminals.size() - 1) + ".");
  }

  /// Return the sub-network in which a device sends, and the one in which it receives.
  size_t sends_in(unsigned device) const { return subnets.size() > 1 && device >= shaders; }
  size_t receives_in(unsigned device) const { return subnets.size() > 1 && device < shaders; }

  void display(const std::vector<flitlab_statistics>& since) const {
    for (size_t i = 0; i < subnets.size(); ++i)
      std::printf("sub-network %zu: %s\n", i, subnets[i].statistics(since[i]).c_str());
  }

  flitlab_adapters::IcntFile icnt;
  std::string toml;
  unsigned shaders = 0;
  Terminals terminals;  ///< [device]
  std::deque<flitlab_adapters::Subnet> subnets;
  std::vector<flitlab_statistics> at_init;  ///< [sub-network]
  uint64_t init_cycle = 0;
};

InterconnectInterface::InterconnectInterface(const char* config_file) : parts_(new Parts(config_file)) {}
InterconnectInterface::~InterconnectInterface() = default;

InterconnectInterface* InterconnectInterface::New(const char* config_file) {
  if (!config_file) throw std::runtime_error("the network needs an .icnt file (-inter_config_file).");
  return new InterconnectInterface(config_file);
}

void InterconnectInterface::CreateInterconnect(unsigned n_shader, unsigned n_mem) {
  Parts& p = *parts_;
  if (!p.subnets.empty()) throw std::runtime_error("CreateInterconnect() has been called before.");
  if (!n_shader || !n_mem) throw std::runtime_error("the network needs at least one shader and one memory.");
  if (p.icnt.subnets > 2) throw std::runtime_error("subnets must be 1 or 2.");
  Terminals terminals = terminals_of(p.icnt, n_shader, n_mem);
  const uint32_t nodes = *std::max_element(terminals.begin(), terminals.end()) + 1;
  for (uint32_t i = 0; i < p.icnt.subnets; ++i) p.subnets.emplace_back(p.toml, p.icnt, nodes);
  p.shaders = n_shader;
  p.terminals = std::move(terminals);
  Init();
}

void InterconnectInterface::Init() {
  Parts& p = *parts_;
  p.terminal(0);
  p.at_init.clear();
  for (const flitlab_adapters::Subnet& subnet : p.subnets) p.at_init.push_back(subnet.counts());
  p.init_cycle = p.subnets[0].cycle();
}

bool InterconnectInterface::HasBuffer(unsigned device, unsigned bytes) const {
  const uint32_t terminal = parts_->terminal(device);
  return parts_->subnets[parts_->sends_in(device)].has_room(terminal, bytes);
}

void InterconnectInterface::Push(unsigned source, unsigned destination, void* data, unsigned bytes) {
  if (!data || !bytes) throw std::runtime_error("Push() needs data and a size above 0.");
  if (!HasBuffer(source, bytes))
    throw std::runtime_error("the input buffer of device " + std::to_string(source) +
                             " is full: call HasBuffer() first.");
  parts_->subnets[parts_->sends_in(source)].push(
      parts_->terminal(source), parts_->terminal(destination), bytes, data,
      source < parts_->shaders ? flitlab_adapters::kReadRequest : flitlab_adapters::kReadReply);
}

void* InterconnectInterface::Pop(unsigned device) {
  const uint32_t terminal = parts_->terminal(device);
  flitlab_adapters::Subnet& subnet = parts_->subnets[parts_->receives_in(device)];
  if (subnet.is_empty(terminal)) return nullptr;
  void* const data = subnet.top(terminal);
  subnet.pop(terminal);
  return data;
}

void InterconnectInterface::Advance() {
  parts_->terminal(0);
  for (flitlab_adapters::Subnet& subnet : parts_->subnets) subnet.step();
}

bool InterconnectInterface::Busy() const {
  return std::any_of(parts_->subnets.begin(), parts_->subnets.end(), [](const auto& subnet) { return subnet.busy(); });
}

void InterconnectInterface::DisplayStats() const { parts_->display(parts_->at_init); }

void InterconnectInterface::DisplayOverallStats() const {
  parts_->display(std::vector<flitlab_statistics>(parts_->subnets.size()));
}

void InterconnectInterface::DisplayState(FILE* file) const {
  for (size_t i = 0; i < parts_->subnets.size(); ++i)
    std::fprintf(file, "sub-network %zu at cycle %llu: %s\n", i,
                 static_cast<unsigned long long>(parts_->subnets[i].cycle()), parts_->subnets[i].statistics().c_str());
}

unsigned InterconnectInterface::GetFlitSize() const { return parts_->icnt.flit_size; }

int InterconnectInterface::GetIcntTime() const {
  parts_->terminal(0);
  return static_cast<int>(parts_->subnets[0].cycle() - parts_->init_cycle);
}

unsigned InterconnectInterface::Terminal(unsigned device) const { return parts_->terminal(device); }
