#include "booksim2/Interconnect.hpp"

#include <cstdio>
#include <deque>

#include "common/subnet.hpp"

namespace booksim2 {
namespace {

flitlab_adapters::MessageType message_type(Interconnect::Type type) {
  switch (type) {
    case Interconnect::Type::WRITE: return flitlab_adapters::kWriteRequest;
    case Interconnect::Type::READ_REPLY: return flitlab_adapters::kReadReply;
    case Interconnect::Type::WRITE_REPLY: return flitlab_adapters::kWriteReply;
    default: return flitlab_adapters::kReadRequest;
  }
}

}  // namespace

struct Interconnect::Parts {
  Parts(const std::string& config, int count) : icnt(flitlab_adapters::read_icnt(config)) {
    if (count < 1)
      throw std::runtime_error("the number of nodes is " + std::to_string(count) + "; it must be 1 or more.");
    const std::string toml = flitlab_adapters::toml_beside(config);
    for (uint32_t i = 0; i < icnt.subnets; ++i) subnets.emplace_back(toml, icnt, static_cast<uint32_t>(count));
  }

  flitlab_adapters::Subnet& subnet(uint32_t index) {
    if (index < subnets.size()) return subnets[index];
    throw std::runtime_error("sub-network " + std::to_string(index) +
                             " does not exist: subnets = " + std::to_string(subnets.size()) + ".");
  }

  flitlab_adapters::IcntFile icnt;
  std::deque<flitlab_adapters::Subnet> subnets;
};

Interconnect::Interconnect(const std::string config, int nodes) : parts_(new Parts(config, nodes)) {}
Interconnect::~Interconnect() = default;

void Interconnect::run() {
  for (flitlab_adapters::Subnet& subnet : parts_->subnets) subnet.step();
}

bool Interconnect::running() const {
  for (const flitlab_adapters::Subnet& subnet : parts_->subnets)
    if (subnet.busy()) return true;
  return false;
}

bool Interconnect::is_full(uint32_t node, uint32_t subnet, uint32_t bytes) const {
  return !parts_->subnet(subnet).has_room(node, bytes);
}

void Interconnect::push(void* packet, uint32_t subnet, uint64_t, int bytes, Type type, int source, int destination) {
  if (bytes < 1 || source < 0 || destination < 0)
    throw std::runtime_error("push: " + std::to_string(bytes) + " bytes from " + std::to_string(source) + " to " +
                             std::to_string(destination) + " is not a packet.");
  parts_->subnet(subnet).push(static_cast<uint32_t>(source), static_cast<uint32_t>(destination),
                              static_cast<uint32_t>(bytes), packet, message_type(type));
}

bool Interconnect::is_empty(uint32_t node, uint32_t subnet) const { return parts_->subnet(subnet).is_empty(node); }
const void* Interconnect::top(uint32_t node, uint32_t subnet) const { return parts_->subnet(subnet).top(node); }
void Interconnect::pop(uint32_t node, uint32_t subnet) { parts_->subnet(subnet).pop(node); }

uint64_t Interconnect::get_cycle() const { return parts_->subnet(0).cycle(); }
uint32_t Interconnect::get_flit_size() const { return parts_->icnt.flit_size; }

void Interconnect::print_stats() const {
  for (uint32_t i = 0; i < parts_->subnets.size(); ++i)
    std::printf("sub-network %u: %s\n", i, parts_->subnets[i].statistics().c_str());
}

}  // namespace booksim2
