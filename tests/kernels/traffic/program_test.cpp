/// The interpreter of message-passing programs: cycles counted by hand, and random programs against a naive model.
#include "kernels/traffic/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "kernels/common/philox.hpp"
#include "tests/support/program.hpp"

namespace flitlab::traffic_program_test {
namespace {

using namespace testing;
using Cycles = std::vector<Cycle>;

TEST(ProgramTiming, ComputingTakesItsCycles) {
  FixedDelay net(program("0,compute,100\n0,compute,0\n0,compute,7\n", 2), 1);
  EXPECT_EQ(net.ends(), (Cycles{107, 0}));
  EXPECT_EQ(net.visits(), 4u);  // one rank is visited in cycles 0, 100 and 107, the other in cycle 0
  EXPECT_EQ(net.total(Total::kLastProgramEnd), 107u);
}

TEST(ProgramTiming, PingPong) {
  // 480 bytes are two packets: rank 0 hands them over in cycles 0 and 1, and they have arrived in 11. The answer leaves
  // in 11 and arrives in 21.
  FixedDelay net(program("0,send,1,480\n0,recv,1\n1,recv,0\n1,send,0,240\n", 2), 10);
  EXPECT_EQ(net.ends(), (Cycles{21, 12}));  // rank 1's send ends in the cycle after its packet was accepted
}

TEST(ProgramTiming, OverheadsOfBothSides) {
  // The message is prepared until cycle 5, arrives in 15 and is received until 18. The answer is prepared until 23,
  // arrives in 33 and is received until 36.
  FixedDelay net(program("0,send,1,1\n0,recv,1\n1,recv,0\n1,send,0,1\n", 2), 10, 5, 3);
  EXPECT_EQ(net.ends(), (Cycles{36, 24}));
}

TEST(ProgramTiming, IsendOverlapsComputing) {
  const std::string receiver = "1,recv,0\n1,recv,0\n";
  // Packets leave in cycles 0, 1 and 2, while computing lasts until 50. The wait takes no time.
  FixedDelay overlapped(program("0,isend,1,720,,3\n0,compute,50\n0,wait,3\n0,send,1,0\n" + receiver, 2), 10);
  EXPECT_EQ(overlapped.ends(), (Cycles{51, 60}));
  // With send instead of isend, computing starts in cycle 3.
  FixedDelay blocking(program("0,send,1,720\n0,compute,50\n0,send,1,0\n" + receiver, 2), 10);
  EXPECT_EQ(blocking.ends(), (Cycles{54, 63}));
  // A wait for a send that has not ended: packets leave in cycles 0, 1 and 2, so the wait ends in 3.
  FixedDelay waiting(program("0,isend,1,720,,3\n0,compute,1\n0,wait,3\n0,compute,10\n1,recv,0\n", 2), 10);
  EXPECT_EQ(waiting.ends(), (Cycles{13, 12}));
  // With an overhead of 4 the second message is prepared from cycle 4 to 8, while the packets of the first one leave in
  // 4, 5 and 6.
  FixedDelay prepared(program("0,isend,1,720\n0,isend,1,240\n" + receiver, 2), 10, 4);
  EXPECT_EQ(prepared.ends(), (Cycles{9, 18}));
}

TEST(ProgramTiming, IrecvDoesNotWait) {
  // The irecv is posted in cycle 0, and computing lasts until 30; the message arrived in 10.
  FixedDelay net(program("0,send,1,1\n1,irecv,0,,,1\n1,compute,30\n1,wait,1\n", 2), 10, 0, 2);
  EXPECT_EQ(net.ends(), (Cycles{1, 32}));
  // The end of a program waits for all its sends and receives.
  FixedDelay end(program("0,compute,20\n0,send,1,1\n1,irecv,0\n", 2), 10);
  EXPECT_EQ(end.ends(), (Cycles{21, 30}));
}

TEST(ProgramTiming, TagsChooseTheMessage) {
  FixedDelay net(program("0,send,1,1,5\n0,compute,100\n0,send,1,1,6\n1,recv,0,,6\n1,compute,1000\n1,recv,0,,5\n", 2),
                 10);
  EXPECT_EQ(net.ends(), (Cycles{102, 1111}));
}

TEST(ProgramPackets, FollowTheirFormat) {
  const PacketFormat format{100, 16, 32};
  FixedDelay net(program("0,send,1,250\n0,send,1,0\n0,send,1,100\n1,recv,0\n1,recv,0\n1,recv,0\n", 2, format), 1, 0, 0,
                 format);
  net.ends();
  std::vector<std::vector<u32>> seen;
  for (const auto& h : net.handed()) seen.push_back({h.packet.slot, h.packet.flits, h.packet.last});
  // A message of 116 bytes is 4 flits, one of 50 + 16 bytes is 3, a header alone is 1.
  EXPECT_EQ(seen, (std::vector<std::vector<u32>>{{0, 4, 0}, {0, 4, 0}, {0, 3, 1}, {1, 1, 1}, {2, 4, 1}}));
}

TEST(ProgramPackets, AreFoundByTheirNumber) {
  // Rank 0 sends packets 0 to 2 in call 1, packet 3 in call 2 and packets 4 and 5 in call 4. Rank 2 sends nothing.
  const Program p = program(
      "0,compute,5\n0,send,1,500\n0,isend,1,0\n0,compute,5\n0,send,1,300\n1,recv,0\n1,recv,0\n"
      "1,recv,0\n2,compute,1\n",
      4);
  const ProgramTable table{4, p.first.data(), p.calls.data(), p.slots, {}, 0, 0, 1};
  std::vector<long> found;
  for (u32 id = 0; id < 6; ++id) found.push_back(call_of_packet(table, 0, id) - p.calls.data());
  EXPECT_EQ(found, (std::vector<long>{1, 1, 1, 2, 4, 4}));
  EXPECT_EQ(call_of_packet(table, 2, 0), nullptr);
  EXPECT_EQ(call_of_packet(table, 3, 0), nullptr);
}

TEST(ProgramTiming, BarrierOfFour) {
  // First round: rank r receives from rank r - 1 (modulo 4), in cycle 10 at ranks 1, 2 and 3 and in 15 at rank 0.
  // Second round: rank r receives from rank r - 2 (modulo 4). Ranks 0, 1 and 3 receive in cycle 20, rank 2 receives
  // rank 0's message in 25.
  FixedDelay net(program("0,barrier\n1,barrier\n2,barrier\n3,compute,5\n3,barrier\n", 4), 10);
  EXPECT_EQ(net.ends(), (Cycles{20, 20, 25, 20}));
}

/// A call of a random program. The list of calls is in an order in which they could run one by one.
struct Op {
  u32 rank;
  CallKind kind;
  u32 peer = 0, amount = 0, tag = 0, handle = 0;
  u32 message = kNone;  ///< message that the call sends, receives or waits for
};

struct RandomProgram {
  u32 ranks;
  std::vector<Op> ops;
  u32 messages = 0;

  RandomProgram(u32 n, u32 length, u64 seed) : ranks(n) {
    struct Key {
      u32 from, to, tag;
      auto operator<=>(const Key&) const = default;
    };
    // [key] numbers of its messages, in order. A message gets its number from its send or its receive, whichever is
    // drawn first.
    std::map<Key, std::vector<u32>> numbers;
    std::map<Key, u32> sent, taken;        // [key] number of sends and of receives
    std::vector<std::vector<Op>> open(n);  // [rank] isends and irecvs that no wait has named
    const auto number = [&](const Key& key, u32 k) {
      while (numbers[key].size() <= k) numbers[key].push_back(messages++);
      return numbers[key][k];
    };
    u32 handle = 0;
    for (u32 i = 0; i < length; ++i) {
      const Random4 r = philox(seed, 77, 0, i), more = philox(seed, 77, 1, i);
      const u32 a = r.word[0] % n, b = (a + 1 + r.word[1] % (n - 1)) % n;
      const Key out{a, b, more.word[0] % 2}, in{b, a, more.word[0] % 2};
      const u32 bytes = more.word[1] % 4 ? more.word[2] % 1500 : 0;
      switch (r.word[2] % 7) {
        case 0: ops.push_back({a, CallKind::kCompute, 0, r.word[3] % 60}); break;
        case 1:
        case 2: ops.push_back({a, CallKind::kSend, b, bytes, out.tag, 0, number(out, sent[out]++)}); break;
        case 3: ops.push_back({a, CallKind::kIsend, b, bytes, out.tag, handle++, number(out, sent[out]++)}); break;
        case 4:
          if (taken[in] < sent[in]) ops.push_back({a, CallKind::kReceive, b, 0, in.tag, 0, number(in, taken[in]++)});
          continue;
        case 5: ops.push_back({a, CallKind::kIreceive, b, 0, in.tag, handle++, number(in, taken[in]++)}); break;
        case 6:
          if (open[a].empty()) continue;
          std::swap(open[a][r.word[3] % open[a].size()], open[a].back());
          Op wait = open[a].back();
          const Key key{wait.peer, a, wait.tag};
          if (wait.kind == CallKind::kIreceive) {
            const auto& list = numbers[key];
            if (std::find(list.begin(), list.begin() + sent[key], wait.message) == list.begin() + sent[key]) continue;
          }
          open[a].pop_back();
          wait.kind = CallKind::kWait;
          ops.push_back(wait);
          continue;
      }
      if (ops.back().kind == CallKind::kIsend || ops.back().kind == CallKind::kIreceive) open[a].push_back(ops.back());
    }
    for (const auto& [key, list] : numbers) {
      while (sent[key] < list.size())
        ops.push_back({key.from, CallKind::kSend, key.to, 10, key.tag, 0, list[sent[key]++]});
    }
    for (const auto& [key, list] : numbers) {
      while (taken[key] < list.size())
        ops.push_back({key.to, CallKind::kReceive, key.from, 0, key.tag, 0, list[taken[key]++]});
    }
  }

  std::string text() const {
    std::string text = "ranks," + std::to_string(ranks) + "\n";
    const auto add = [&](auto... parts) { ((text += parts), ...), text += "\n"; };
    for (const Op& o : ops) {
      const std::string rank = std::to_string(o.rank) + ",", peer = "," + std::to_string(o.peer) + ",",
                        amount = std::to_string(o.amount), tag = "," + std::to_string(o.tag),
                        handle = std::to_string(o.handle);
      switch (o.kind) {
        case CallKind::kCompute: add(rank, "compute,", amount); break;
        case CallKind::kSend: add(rank, "send", peer, amount, tag); break;
        case CallKind::kIsend: add(rank, "isend", peer, amount, tag, ",", handle); break;
        case CallKind::kReceive: add(rank, "recv", peer, tag); break;
        case CallKind::kIreceive: add(rank, "irecv", peer, tag, ",", handle); break;
        case CallKind::kWait: add(rank, "wait,", handle); break;
      }
    }
    return text;
  }

  /// Returns the end of each rank's program, computed from times alone. `clock`: earliest next call of a rank.
  /// `interface`: earliest cycle in which its network interface accepts the next packet.
  Cycles naive_ends(u32 delay, u32 send_overhead, u32 recv_overhead) const {
    Cycles clock(ranks, 0), interface(ranks, 0), last_handed(messages, 0);
    std::vector<u32> receiver(messages);
    std::vector<std::vector<Op>> open(ranks);
    const auto take = [&](const Op& o) {
      clock[o.rank] = std::max(clock[o.rank], last_handed[o.message] + delay) + recv_overhead;
    };
    const auto finish = [&](const Op& o) {
      if (receiver[o.message] == o.rank)
        take(o);
      else
        clock[o.rank] = std::max(clock[o.rank], last_handed[o.message] + 1);
    };
    for (const Op& o : ops) {
      Cycle& t = clock[o.rank];
      switch (o.kind) {
        case CallKind::kCompute: t += o.amount; break;
        case CallKind::kSend:
        case CallKind::kIsend:
          t += send_overhead;
          receiver[o.message] = o.peer;
          for (u32 left = std::max(1u, (o.amount + 239) / 240); left; --left) {
            last_handed[o.message] = std::max(t, interface[o.rank]);
            interface[o.rank] = last_handed[o.message] + 1;
          }
          if (o.kind == CallKind::kSend) t = std::max(t, interface[o.rank]);
          break;
        case CallKind::kReceive: take(o); break;
        case CallKind::kIreceive: break;
        case CallKind::kWait: finish(o); break;
      }
      auto& own = open[o.rank];
      if (o.kind == CallKind::kIsend || o.kind == CallKind::kIreceive) own.push_back(o);
      if (o.kind == CallKind::kWait)
        own.erase(std::find_if(own.begin(), own.end(), [&](const Op& p) { return p.handle == o.handle; }));
    }
    for (u32 rank = 0; rank < ranks; ++rank) {
      for (const Op& o : open[rank])
        if (o.kind == CallKind::kIreceive) take(o);
      clock[rank] = std::max(clock[rank], interface[rank]);
    }
    return clock;
  }
};

TEST(ProgramTiming, RandomProgramsAgainstANaiveModel) {
  for (u64 seed = 1; seed <= 60; ++seed) {
    const RandomProgram random(2 + seed % 6, 20 + 10 * static_cast<u32>(seed), seed);
    const u32 delay = 1 + seed % 13, send_overhead = seed % 3 ? 0 : 4, recv_overhead = seed % 4 ? 0 : 3;
    FixedDelay net(program(random.text(), random.ranks), delay, send_overhead, recv_overhead);
    EXPECT_EQ(net.ends(), random.naive_ends(delay, send_overhead, recv_overhead)) << "seed " << seed;
  }
}

TEST(ProgramTiming, TheLayoutOfStateDoesNotMatter) {
  const RandomProgram random(40, 2000, 5);
  const Program p = program(random.text(), 40);
  EXPECT_EQ(FixedDelay<32>(p, 7).ends(), FixedDelay<1>(p, 7).ends());
}

}  // namespace
}  // namespace flitlab::traffic_program_test
