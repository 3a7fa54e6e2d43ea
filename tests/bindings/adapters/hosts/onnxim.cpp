/// A host with the calls that ONNXim makes to booksim2::Interconnect: it knows nothing of flitlab.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include "booksim2/Interconnect.hpp"
#include "say.hpp"

namespace {

using booksim2::Interconnect;

struct Access {
  unsigned long cycle;  ///< earliest cycle of its push
  unsigned source, destination, bytes, subnet, type;
  unsigned long pushed;
};

/// Reads "cycle source destination bytes subnet type", by rising cycle of each source, from the standard input. A
/// source pushes a packet when its buffer has room, and the packets of a source in order. Nodes are popped from cycle
/// `pop` on. Prints "number pushed arrived" for each packet.
void run(const char* config, unsigned nodes, unsigned long pop) {
  const auto icnt = std::make_unique<Interconnect>(config, static_cast<int>(nodes));
  std::vector<Access> accesses;
  for (Access a{};
       std::scanf("%lu %u %u %u %u %u", &a.cycle, &a.source, &a.destination, &a.bytes, &a.subnet, &a.type) == 6;)
    accesses.push_back(a);
  std::vector<std::vector<Access*>> queue(nodes);
  for (Access& a : accesses) queue.at(a.source).push_back(&a);
  std::vector<size_t> next(nodes);
  size_t left = accesses.size();
  while (left) {
    for (unsigned node = 0; node < nodes; ++node) {
      for (; next[node] < queue[node].size(); ++next[node]) {
        Access& a = *queue[node][next[node]];
        if (a.cycle > icnt->get_cycle() || icnt->is_full(node, a.subnet, a.bytes)) break;
        a.pushed = icnt->get_cycle();
        icnt->push(&a, a.subnet, 0, static_cast<int>(a.bytes), static_cast<Interconnect::Type>(a.type),
                   static_cast<int>(node), static_cast<int>(a.destination));
      }
    }
    icnt->run();
    if (icnt->get_cycle() < pop) continue;
    for (unsigned node = 0; node < nodes; ++node) {
      for (unsigned subnet = 0; subnet < 2; ++subnet) {
        if (subnet && !std::getenv("TWO_SUBNETS")) continue;
        for (; !icnt->is_empty(node, subnet); icnt->pop(node, subnet), --left) {
          const auto* a = static_cast<const Access*>(icnt->top(node, subnet));
          if (a->destination != node || a->subnet != subnet) std::abort();
          std::printf("%zu %lu %lu\n", static_cast<size_t>(a - accesses.data()), a->pushed,
                      static_cast<unsigned long>(icnt->get_cycle()) - 1);
        }
      }
    }
  }
#ifndef OF_BOOKSIM  // whose class has neither function
  if (icnt->running()) std::abort();
  icnt->print_stats();
#endif
}

void errors(const char* config) {
  int data = 0;
  say("no nodes", [&] { Interconnect(config, 0); });
  say("too many nodes", [&] { Interconnect(config, 17); });
  say("no file", [&] { Interconnect("no/such.icnt", 4); });
  say("folder", [&] { Interconnect("/", 4); });
  Interconnect icnt(config, 16);
  const auto push = [&](unsigned subnet, int bytes, int source, int destination) {
    icnt.push(&data, subnet, 0, bytes, Interconnect::Type::ANY, source, destination);
  };
  say("subnet", [&] { push(1, 8, 0, 1); });
  say("bytes", [&] { push(0, 0, 0, 1); });
  say("source", [&] { push(0, 8, 16, 1); });
  say("destination", [&] { push(0, 8, 0, 16); });
  say("too long", [&] { push(0, 64 * 5000, 0, 1); });
  say("never fits", [&] { (void)icnt.is_full(0, 0, 64 * 13); });
  say("top", [&] { (void)icnt.top(3, 0); });
  say("pop", [&] { icnt.pop(3, 0); });
  say("push", [&] { push(0, 8, 0, 1); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && !std::strcmp(argv[1], "errors")) {
    errors(argv[2]);
    return 0;
  }
  if (argc == 3) {
    say("open", [&] { Interconnect(argv[2], 16); });
    return 0;
  }
  run(argv[1], static_cast<unsigned>(std::atoi(argv[2])), std::strtoul(argv[3], nullptr, 10));
  return 0;
}
