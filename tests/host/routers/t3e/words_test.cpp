/// The state of a T3E router in the machine's terms: sets of virtual channels, datelines (paper, 3.2) and the
/// short-circuit path.
#include <gtest/gtest.h>

#include "host/routers/t3e/plan.hpp"
#include "tests/support/build.hpp"
#include "tests/support/words.hpp"

namespace flitlab::t3e_words_test {
namespace {

using namespace testing;

constexpr u32 kPlusX = 0, kMinusX = 3;

/// Node (1,0,0) of a 4 x 4 x 1 machine. A packet for (3,0,0) has arrived from (0,0,0) by port -X and requests +X.
struct Node {
  Network net{experiment("router.kind=t3e topology.shape=[4,4,1]")};
  std::vector<std::byte> state = net.engine->state(0);
  const t3e::Table& t = dynamic_cast<const T3ePlan&>(*net.plan).table();
  Item<1> item = item_of(state, net.plan->layout(), 0, 1);
  t3e::Registers& registers = item.at(t.router_fields.registers);

  void request_by(u32 port, u32 vc) {
    t3e::InputVc& in = item.at(t.router_fields.input, port * t.link_vcs + vc);
    in.stage = t3e::FrontState::kRequesting;
    in.packets = 1;
    Packet& packet = item.at(t.router_fields.ring, t3e::descriptor_start(t, port, vc) + in.first);
    packet.dst = t3e::pack_address(3, 0, 0);
    packet.route_bits = t3e::kNoHop << t3e::kInitialShift;
  }
  std::vector<PortSnapshot> words() { return in_words(*net.plan, state, 1); }
};

TEST(T3eWords, NamesOfVirtualChannels) {
  const std::vector<PortSnapshot> ports = Node().words();
  std::vector<std::string> names;
  for (const VcSnapshot& vc : ports[kPlusX].vcs) names.push_back(vc.name);
  EXPECT_EQ(names, (std::vector<std::string>{"request 0", "request 1", "response 0", "response 1", "adaptive"}));
  EXPECT_EQ(ports[t3e::kNodePort].vcs.back().name, "response 1");
}

TEST(T3eWords, PositionOfAPacketRelativeToTheDateline) {
  for (const bool dateline : {false, true}) {
    Node n;
    n.registers.vcsel[kPlusX] = dateline ? t3e::kDateline : 0;
    n.request_by(kMinusX, 0);
    n.request_by(kMinusX, 1);
    const std::vector<VcSnapshot> vcs = n.words()[kMinusX].vcs;
    EXPECT_EQ(vcs[0].note, dateline ? "on to +x past the dateline: set 0 becomes 1"
                                    : "on to +x on set 0, before a dateline or on a way without one");
    EXPECT_EQ(vcs[1].note, dateline ? "stopped: on set 1 at a dateline, or the channel has IGNORE_NORMAL"
                                    : "on to +x on set 1, beyond the dateline or on a way without one");
    EXPECT_EQ(vcs[2].note, "");
  }
}

TEST(T3eWords, ATurnTakesTheSetOfItsSelectBit) {
  Node n;
  n.registers.vcsel[kPlusX] = 1u << 3;  // the bit for X = 3
  n.request_by(4, 0);                   // a packet that arrived by -Y
  EXPECT_EQ(n.words()[4].vcs[0].note, "turns into +x on request 1 by its SELECT bit");
}

TEST(T3eWords, AdaptiveChannelsThatMayBeRequested) {
  Node n;
  n.request_by(kMinusX, 4);
  n.item.at(n.t.router_fields.input, kMinusX * n.t.link_vcs + 4).wish = 0b11;
  const std::string note = n.words()[kMinusX].vcs[4].note;
  EXPECT_EQ(note.substr(note.find(';')), "; or adaptively +x +y");
}

TEST(T3eWords, TheShortCircuitPathIsClosedWhileAnythingIsBuffered) {
  Node n;
  EXPECT_EQ(n.words()[kPlusX].note, "short-circuit path open");
  EXPECT_EQ(n.words()[t3e::kNodePort].note, "");
  n.item.at(n.t.router_fields.control).buffered = 3;
  EXPECT_EQ(n.words()[kPlusX].note, "short-circuit path closed: 3 flits in input buffers");
}

}  // namespace
}  // namespace flitlab::t3e_words_test
