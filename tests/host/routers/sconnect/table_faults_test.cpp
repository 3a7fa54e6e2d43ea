/// Error messages about invalid routing tables, especially about tables from files.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/routers/sconnect/make_tables.hpp"
#include "host/routers/sconnect/order.hpp"
#include "host/routers/sconnect/tables.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/sconnect/route.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/sconnect/fabrics.hpp"
#include "tests/support/sconnect/walker.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::sconnect_table_faults_test {
namespace {

using sconnect::option;
using namespace testing;
using testing::sconnect_walker::expect_good;
using testing::sconnect_walker::Walker;

TEST(SconnectTableFault, AgreesWithANaiveWalkOnSpoiledTables) {
  u32 bad = 0, circles = 0, good = 0;
  const auto fabrics = testing::all_sconnect_fabrics();
  for (u32 i = 0; i < fabrics.size(); ++i) {
    const SconnectFabric& f = fabrics[i].second;
    if (f.tics > 70) continue;
    const std::vector<u16> whole = shortest_sconnect_tables(f).entry;
    for (u32 round = 0; round < 24; ++round) {
      SCOPED_TRACE(fabrics[i].first + ", round " + std::to_string(round));
      std::vector<u16> entry = whole;
      for (u32 change = 0; change < 1 + round % 4; ++change) {
        const Random4 r = philox(99, 0, i, 8 * round + change);
        u16& e = entry[below(r.word[0], static_cast<u32>(entry.size()))];
        switch (round % 3) {
          case 0: e ^= static_cast<u16>(1u << below(r.word[1], 12)); break;
          case 1: e = static_cast<u16>((e & 0xAAA) >> 1 | (e & 0x555) << 1); break;  // swaps the virtual channels
          default: {                                                                 // any channels that exist
            const u32 tic = static_cast<u32>(&e - entry.data()) / f.nodes;
            for (u32 port = 0; port < 4; ++port)
              if (leads_to_tic(f.link(tic, port)) && r.word[1] >> port & 1)
                e |= static_cast<u16>(option(port, r.word[1] >> (8 + port) & 1));
          }
        }
      }
      Walker walker{f, entry};
      const bool fine = walker.good();
      EXPECT_EQ(sconnect_table_fault(f, entry).empty(), fine);
      ++(fine ? good : bad);
      circles += walker.all_arrive && !fine;
    }
  }
  EXPECT_GT(good, 20u);
  EXPECT_GT(bad, 20u);
  EXPECT_GT(circles, 20u);
}

/// Returns the table lines of a ring in which all messages go in one direction on one virtual channel.
std::string ring_lines(u32 nodes = 4) {
  std::string text;
  for (u32 s = 0; s < nodes; ++s)
    for (u32 hops = 1; hops < nodes; ++hops)
      text += std::to_string(s) + "," + std::to_string((s + hops) % nodes) + ",0,0\n";
  return text;
}

SconnectFabric ring(u32 nodes = 4) {
  // Port 0 leads to the next node, port 1 to the previous one.
  SconnectBuilder builder("graph", single_nodes());
  for (u32 n = 0; n < nodes; ++n) builder.add_node(std::to_string(n), 1);
  for (u32 n = 0; n < nodes; ++n) builder.join(n, 0, 0, (n + 1) % nodes, 0, 1);
  return builder.finish();
}

TEST(SconnectTableFile, ShowsTheCircle) {
  const TextFile file(ring_lines());
  const std::string text = message_of([&] { read_sconnect_tables(ring(), TextSource(file.path)); });
  expect_in("routing.file: " + file.path + ": messages can deadlock in a cycle", text);
  expect_in("0 (0) -> 1 (0) -> 2 (0) -> 3 (0) -> 0 (0)", text);
}

TEST(SconnectTableFile, LeavesOutTheMiddleOfALongCircle) {
  const TextFile file(ring_lines(16));
  expect_in(
      ": 0 (0) -> 1 (0) -> 2 (0) -> 3 (0) -> 4 (0) -> 5 (0) -> 6 (0) -> 7 (0) -> 8 (0) -> 9 (0) -> 10 (0) -> "
      "(5 more) -> 0 (0).",
      message_of([&] { read_sconnect_tables(ring(16), TextSource(file.path)); }));
}

TEST(SconnectTableFile, ShowsAPathWithoutEnd) {
  // These lines lead two hops forward or one hop back. The lines for node 2 are missing: 0 is to send its messages by
  // 1, and 1 by 0.
  std::string lines = "0,1,0,0\n0,3,1,0\n1,0,1,0\n2,3,0,0\n3,2,1,0\n2,1,1,0\n3,0,0,0\n1,3,0,0\n2,0,0,0\n3,1,0,0\n";
  const TextFile endless(lines + "0,2,0,0\n1,2,1,0\n");
  expect_in("messages to node 2 may circulate endlessly: 0 (0) -> 1 (0) -> 0 (0).",
            message_of([&] { read_sconnect_tables(ring(), TextSource(endless.path)); }));
}

TEST(SconnectTableFile, NamesUnreachableNodes) {
  const std::string lines =
      "0,1,0,0\n0,2,0,0\n0,3,1,0\n1,0,1,1\n1,3,0,0\n2,3,0,0\n2,0,1,1\n2,1,1,1\n3,0,0,0\n3,1,0,0\n3,2,1,1\n";
  const TextFile file(lines);
  expect_in("messages from node 1 to node 2 have no option to continue.",
            message_of([&] { read_sconnect_tables(ring(), TextSource(file.path)); }));
  const TextFile none("");
  expect_in("messages from node 3 to node 0 have no option to continue.",
            message_of([&] { read_sconnect_tables(ring(), TextSource(none.path)); }));
}

TEST(SconnectTableFile, TakesGoodTables) {
  const SconnectFabric f = make_sconnect_mesh({3, 3, 3}, dual_nodes());
  const SconnectTables t = shortest_sconnect_tables(f);
  std::string lines = "# TIC,destination,port,virtual channel\n";
  for (u32 tic = 0; tic < f.tics; ++tic)
    for (u32 d = 0; d < f.nodes; ++d)
      for (u32 bit = 0; bit < 12; ++bit)
        if ((tic % 2 || f.node_of[tic] != d) && t.entry[tic * f.nodes + d] >> bit & 1)
          lines += (tic < 20 ? f.names[tic] : std::to_string(tic)) + "," + std::to_string(d) + "," +
                   std::to_string(bit / 2) + "," + std::to_string(bit % 2) + "\n";
  const TextFile file(lines);
  const SconnectTables read = read_sconnect_tables(f, TextSource(file.path));
  EXPECT_EQ(read.entry, t.entry);
  EXPECT_EQ(read.mean_hops, t.mean_hops);
  EXPECT_EQ(read.alternates, t.alternates);
}

TEST(SconnectTableFile, FillsInThePathToTheOtherTic) {
  const SconnectFabric f = make_sconnect_mesh({2, 1, 2, 1}, dual_nodes());  // a square: nodes 0 and 1 below 2 and 3
  const auto lines = [] {
    std::string text;
    for (u32 n = 0; n < 4; ++n) {
      const bool down0 = n & 1, down1 = n & 2;
      const auto add = [&](const char* tic, u32 d, u32 port, u32 vc) {
        text += std::to_string(n) + tic + "," + std::to_string(d) + "," + std::to_string(port) + "," +
                std::to_string(vc) + "\n";
      };
      // Messages go up along the first dimension, cross to the other TIC, go along the second dimension, cross back,
      // and go down along the first dimension.
      add("a", n ^ 1, 0, down0);
      add("a", n ^ 2, 5, 0);
      add("a", n ^ 3, down0 ? 5 : 0, 0);
      add("b", n ^ 1, 5, 0);
      add("b", n ^ 2, 0, down1);
      add("b", n ^ 3, 0, down1);
    }
    return text;
  };
  const TextFile file(lines());
  const SconnectTables t = read_sconnect_tables(f, TextSource(file.path));
  expect_good(f, t);
  EXPECT_EQ(t.stretch, 1);
  for (u32 n = 0; n < 4; ++n) EXPECT_EQ(t.entry[(2 * n + 1) * 4 + n], option(5, 0));
  // The error names the TIC without a host at which a message has arrived.
  std::string rest = lines();
  rest.erase(rest.find("2b,0,0,1\n"), 9);
  const TextFile cut(rest);
  expect_in(" to node 0 (TIC 0a), after reaching TIC 2b on virtual channel 0, have no option to continue.",
            message_of([&] { read_sconnect_tables(f, TextSource(cut.path)); }));
}

TEST(SconnectTableFile, NamesTheWrongLine) {
  const auto wrong = [](const std::string& text) {
    const TextFile file(text);
    return message_of([&] { read_sconnect_tables(ring(), TextSource(file.path)); });
  };
  expect_in(":1: \"0,1,0\": a line is TIC,destination node,port,virtual channel", wrong("0,1,0\n"));
  expect_in("there is no TIC \"x\"", wrong("x,1,0,0\n"));
  expect_in("there is no TIC \"4\"", wrong("4,1,0,0\n"));
  expect_in("destination node = \"4\"", wrong("0,4,0,0\n"));
  expect_in("port = \"6\"", wrong("0,1,6,0\n"));
  expect_in("virtual channel = \"2\"", wrong("0,1,0,2\n"));
  expect_in("port 2 of TIC 0 leads to no other TIC", wrong("0,1,2,0\n"));
  expect_in("port 4 of TIC 0 leads to no other TIC", wrong("0,1,4,0\n"));
  expect_in("TIC 1 has a port to the destination's host", wrong("1,1,0,0\n"));
  const auto dual = [](const std::string& text) {
    const TextFile file(text);
    return message_of(
        [&] { read_sconnect_tables(make_sconnect_mesh({2, 1, 2}, dual_nodes()), TextSource(file.path)); });
  };
  expect_in("port 5 of TIC 0a is a parallel port without virtual channels. Write 0", dual("0a,3,5,1\n"));
  expect_in("TIC 0a would have serial and parallel ports in its entry for node 3", dual("0a,3,5,0\n0a,3,0,0\n"));
}

TEST(SconnectTableFault, SeesWrongHostsAndPorts) {
  const SconnectFabric f = make_sconnect_mesh({3}, single_nodes());
  const std::vector<u16> whole = shortest_sconnect_tables(f).entry;
  const auto fault = [&](u32 tic, u32 d, u32 entry) {
    std::vector<u16> spoiled = whole;
    spoiled[tic * 3 + d] = static_cast<u16>(entry);
    return sconnect_table_fault(f, spoiled);
  };
  EXPECT_EQ(fault(0, 2, option(4, 0)), "messages from node 0 to node 2 may be delivered to the host of node 0.");
  EXPECT_EQ(fault(2, 2, option(4, 1)),
            "messages from node 2 to node 2 may take port 4 on virtual channel 1, which hosts do not have.");
  EXPECT_EQ(fault(0, 1, option(3, 0)), "messages from node 0 to node 1 may take port 3, which is unconnected.");
  EXPECT_EQ(fault(0, 1, 1u << 13), "messages from node 0 to node 1 may take port 6, which is unconnected.");
}

}  // namespace
}  // namespace flitlab::sconnect_table_faults_test
