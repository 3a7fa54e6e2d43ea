/// Links of Z that join ports of the same number, and the propagation of R_ORIENT over them. R_ORIENT gives, for each
/// dimension, the port number of the plus direction. Expectations are derived by hand (manual, Figures 4 to 6,
/// Direction Assignments).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/common/error.hpp"
#include "tests/support/t3e/special.hpp"

namespace flitlab::t3e_wiring_test {
namespace {

using namespace testing;
using testing::t3e_special::Stepped;
using testing::t3e_special::stepped;

constexpr u32 kPlusY = 2, kPlusZ = 4;  // bits of R_ORIENT

/// Returns a machine that has not been booted, of boards of 2 x 2 nodes. In Z, boards are joined alternately by ports
/// Z0 and by ports Z1.
Stepped boards(u32 planes, const RawConfig& changes = {}) {
  RawConfig all = Settings("topology.shape=", IntList{2, 2, static_cast<int>(planes)},
                           " topology.wiring_z=alternating boot.state=cold");
  all.insert(changes.begin(), changes.end());
  return stepped(all);
}

std::vector<u64> orientations(Stepped& net, u32 nodes) {
  std::vector<u64> values;
  for (u32 n = 0; n < nodes; ++n) values.push_back(net.read_register(n, "R_ORIENT"));
  return values;
}

/// Returns the name (such as "Z0 +z") of a node's first port that leads to node `peer`.
std::string port_to(const Stepped& net, u32 node, u32 peer) {
  for (const InspectNode& port : net.router(node).parts)
    if (const auto* far = std::get_if<u64>(&port.values[0].value.value); far && *far == peer) return port.name;
  return "";
}

/// Two boards; ports Z0 are joined to Z0 and Z1 to Z1. PE 0 writes its own node's R_ORIENT by a special put, which
/// takes effect after 7 clocks. The neighbours get the value 3 clocks later. Nodes 1 (router 01) and 2 (router 10) get
/// it unchanged. Node 4, on the other board, gets it with bit PLUS_Z inverted. Node 7 is three hops away.
TEST(T3eWiring, TwoBoardsJoinedByLikePorts) {
  Stepped net = boards(2);
  EXPECT_EQ(orientations(net, 8), (std::vector<u64>(8, 0)));
  net.special_put(0, {0, 0, 0, 0, 0, 0}, "R_ORIENT", kPlusY);
  const u64 here = kPlusY, there = kPlusY | kPlusZ;
  net.step(7);
  EXPECT_EQ(orientations(net, 8), (std::vector<u64>(8, 0)));
  net.step(1);
  EXPECT_EQ(orientations(net, 8), (std::vector<u64>{here, 0, 0, 0, 0, 0, 0, 0}));
  net.step(3);
  EXPECT_EQ(orientations(net, 8), (std::vector<u64>{here, here, here, 0, there, 0, 0, 0}));
  net.step(3);
  EXPECT_EQ(orientations(net, 8), (std::vector<u64>{here, here, here, here, there, there, there, 0}));
  net.step(3);
  EXPECT_EQ(orientations(net, 8), (std::vector<u64>{here, here, here, here, there, there, there, there}));
  EXPECT_EQ(port_to(net, 0, 1), "X0 +x");
  EXPECT_EQ(port_to(net, 0, 2), "Y1 +y");
  EXPECT_EQ(port_to(net, 0, 4), "Z0 +z");
  EXPECT_EQ(port_to(net, 4, 0), "Z1 +z");
}

/// A write propagates even if the register already has the value. Before any write all nodes have 0, but in an
/// alternating ring every other board needs PLUS_Z inverted. So a write of 0 must propagate and set PLUS_Z there.
TEST(T3eWiring, AnUnchangedValueIsPropagated) {
  Stepped net = boards(4);
  net.special_put(0, {0, 0, 0, 0, 0, 0}, "R_ORIENT", 0);
  net.step(40);
  for (u32 n = 0; n < 16; ++n) EXPECT_EQ(net.read_register(n, "R_ORIENT"), n / 4 % 2 ? kPlusZ : 0u) << n;
}

/// Two writes follow each other. A node that already has the second value then receives the first one, from a neighbour
/// that the first write reached later. The node ignores the older value and does not propagate it.
TEST(T3eWiring, OfTwoWritesTheLaterStays) {
  for (u64 last : {0u, kPlusY, kPlusY | kPlusZ}) {
    Stepped net = boards(4);
    net.special_put(0, {0, 0, 0, 0, 0, 0}, "R_ORIENT", last ^ kPlusY);
    net.special_put(0, {0, 0, 0, 0, 0, 0}, "R_ORIENT", last);
    net.step(200);
    for (u32 n = 0; n < 16; ++n)
      EXPECT_EQ(net.read_register(n, "R_ORIENT"), n / 4 % 2 ? last ^ kPlusZ : last) << n << ", " << last;
  }
}

/// Four boards in a ring: Z0 is joined to Z0, Z1 to Z1, Z0 to Z0, Z1 to Z1. If PLUS_Z is not inverted over these links,
/// the plus direction is port Z0 on every board, so a packet bounces between two boards.
TEST(T3eWiring, WithoutTheInversionPacketsAreMisrouted) {
  for (bool inverts : {true, false}) {
    Stepped net = boards(4, Settings("router.orient_inverts=", inverts));
    net.special_put(0, {0, 0, 0, 0, 0, 0}, "R_ORIENT", kPlusY);
    net.step(40);
    for (u32 n = 0; n < 16; ++n)
      EXPECT_EQ(net.read_register(n, "R_ORIENT"), inverts && n / 4 % 2 ? kPlusY | kPlusZ : kPlusY) << n;
    for (int hops = 1; hops < 4; ++hops) net.special_put(0, {0, 0, hops, 0, 0, 0}, "R_SW", static_cast<u64>(hops));
    net.step(40);
    for (u32 plane = 0; plane < 4; ++plane) {
      const u64 last = plane == 0 ? 2u : plane == 1 ? 3u : 0u;  // value of the last packet that arrived here
      EXPECT_EQ(net.read_register(4 * plane, "R_SW"), inverts ? plane : last) << plane;
    }
  }
}

/// Three boards in a ring: Z0 is joined to Z0, Z1 to Z1, and Z0 of the third board to Z1 of the first.
TEST(T3eWiring, OddRingsHaveOneLinkOfUnlikePorts) {
  Stepped net = boards(3);
  net.write_register(0, "R_ORIENT", kPlusY);
  for (u32 n = 0; n < 12; ++n) EXPECT_EQ(net.read_register(n, "R_ORIENT"), n / 4 == 1 ? kPlusY | kPlusZ : kPlusY) << n;
  EXPECT_EQ(port_to(net, 0, 4), "Z0 +z");
  EXPECT_EQ(port_to(net, 4, 0), "Z0 -z");
  EXPECT_EQ(port_to(net, 4, 8), "Z1 +z");
  EXPECT_EQ(port_to(net, 8, 4), "Z1 -z");
  EXPECT_EQ(port_to(net, 8, 0), "Z0 +z");
  EXPECT_EQ(port_to(net, 0, 8), "Z1 -z");
}

TEST(T3eWiring, PlusPortsAreThree) {
  EXPECT_THROW(boards(2, Settings("topology.plus_ports=[0,1]")), ConfigError);
  EXPECT_THROW(boards(2, Settings("topology.plus_ports=[0,1,2]")), ConfigError);
}

}  // namespace
}  // namespace flitlab::t3e_wiring_test
