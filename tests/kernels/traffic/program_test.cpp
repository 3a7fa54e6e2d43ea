/// The interpreter of message-passing programs: cycles counted by hand, and random programs against a naive model.
#include "kernels/traffic/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

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
        case CallKind::kSignal: add(rank, "notify", peer, tag.substr(1)); break;
        case CallKind::kAfter: add(rank, "after", peer, tag.substr(1)); break;
        case CallKind::kPost:
        case CallKind::kMatch: ADD_FAILURE() << "matching_test.cpp has programs whose messages are matched in the run";
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
        case CallKind::kSignal:
        case CallKind::kAfter: ADD_FAILURE() << "this model has one rank on each terminal"; break;
        case CallKind::kPost:
        case CallKind::kMatch: ADD_FAILURE() << "this model knows the sender of each message";
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

/// Ranks of a program on fewer terminals, run cycle by cycle from the calls as they are in the file.
class NaiveRanks {
 public:
  struct Home {
    u32 terminal, processor;
  };

  NaiveRanks(const RandomProgram& program, std::vector<Home> homes, u32 delay, u32 send_overhead, u32 recv_overhead)
      : homes_(std::move(homes)), delay_(delay), send_(send_overhead), receive_(recv_overhead), ranks_(program.ranks) {
    message_.resize(program.messages);
    for (const Op& o : program.ops) ranks_[o.rank].calls.push_back(o);
    for (Rank& rank : ranks_) {  // the program ends with a waitall
      std::vector<Op> open;
      for (const Op& o : rank.calls) {
        if (o.kind == CallKind::kIsend || o.kind == CallKind::kIreceive) open.push_back(o);
        if (o.kind == CallKind::kWait) std::erase_if(open, [&](const Op& p) { return p.handle == o.handle; });
      }
      for (Op o : open)
        if (o.kind == CallKind::kIreceive) o.kind = CallKind::kReceive, rank.calls.push_back(o);
    }
  }

  Cycles ends() {
    u32 terminals = 0, left = static_cast<u32>(ranks_.size());
    for (const Home& home : homes_) terminals = std::max(terminals, home.terminal + 1);
    served_.assign(terminals, 0);
    Cycles ends(terminals, 0);
    for (Cycle now = 0; left && now < 100000; ++now)
      for (u32 t = 0; t < terminals; ++t) {
        for (bool again = true; again;) {
          again = false;
          for (u32 r : ranks_of(t)) again = run(r, now, left, ends[t]) || again;
        }
        pass_packet(t, now);
      }
    return ends;
  }

 private:
  struct Message {
    bool local = false, here = false, passed = false;
    Cycle at = kNever;  ///< arrival of its last packet
  };
  struct Rank {
    std::vector<Op> calls;
    std::size_t next = 0;
    std::deque<Op> sends;  ///< messages to other terminals that the network interface has not taken completely
    u32 taken = 0;         ///< packets of the first one that it has taken
    Cycle busy = 0;
    bool blocked = false, signalling = false, done = false;
  };

  std::vector<u32> ranks_of(u32 terminal) const {
    std::vector<u32> list;
    for (u32 r = 0; r < ranks_.size(); ++r)
      if (homes_[r].terminal == terminal) list.push_back(r);
    return list;
  }
  bool local(const Op& o) const { return homes_[o.rank].terminal == homes_[o.peer].terminal; }
  u32 cost(const Op& o) const {
    if (o.kind == CallKind::kCompute) return o.amount;
    if (o.kind == CallKind::kSend || o.kind == CallKind::kIsend) return send_;
    return o.kind == CallKind::kReceive || (o.kind == CallKind::kWait && receives(o)) ? receive_ : 0;
  }
  /// Returns whether the call that a wait names is an irecv.
  bool receives(const Op& wait) const {
    for (const Op& o : ranks_[wait.rank].calls)
      if (o.handle == wait.handle && o.message == wait.message && o.kind == CallKind::kIreceive) return true;
    return false;
  }
  bool arrived(const Op& o, Cycle now) const {
    const Message& m = message_[o.message];
    return m.local ? m.here : m.at <= now;
  }

  bool run(u32 r, Cycle now, u32& left, Cycle& end) {
    Rank& rank = ranks_[r];
    bool signalled = false;
    while (!rank.done && now >= rank.busy) {
      if (rank.signalling) {
        message_[rank.calls[rank.next - 1].message].here = signalled = true;
        rank.signalling = false;
        continue;
      }
      if ((rank.blocked || rank.next == rank.calls.size()) && !rank.sends.empty()) break;
      rank.blocked = false;
      if (rank.next == rank.calls.size()) {
        rank.done = true;
        --left;
        end = std::max(end, now);
        break;
      }
      const Op& o = rank.calls[rank.next];
      if (o.kind == CallKind::kReceive && !arrived(o, now)) break;
      if (o.kind == CallKind::kWait) {
        if (receives(o) ? !arrived(o, now) : !passed(rank, o)) break;
      }
      Cycle& free = free_[{homes_[r].terminal, homes_[r].processor}];
      if (cost(o) && free > now) break;
      rank.busy = now + cost(o);
      if (cost(o)) free = rank.busy;
      ++rank.next;
      if (o.kind != CallKind::kSend && o.kind != CallKind::kIsend) continue;
      if (local(o)) {
        message_[o.message].local = rank.signalling = true;
      } else {
        rank.sends.push_back(o);
        rank.blocked = o.kind == CallKind::kSend;
      }
    }
    return signalled;
  }

  /// Returns whether the network interface has taken the message of an isend and those before it.
  bool passed(const Rank& rank, const Op& wait) const {
    std::set<u32> before;
    for (const Op& o : rank.calls) {
      before.insert(o.message);
      if (o.kind == CallKind::kIsend && o.message == wait.message) break;
    }
    return rank.sends.empty() || !before.count(rank.sends.front().message);
  }

  void pass_packet(u32 t, Cycle now) {
    const std::vector<u32> list = ranks_of(t);
    const u32 n = static_cast<u32>(list.size());
    for (u32 i = 0; i < n; ++i) {
      const u32 k = (served_[t] + i) % n;
      Rank& rank = ranks_[list[k]];
      if (rank.sends.empty()) continue;
      const Op o = rank.sends.front();
      const bool latest = rank.calls[rank.next - 1].message == o.message && rank.calls[rank.next - 1].kind == o.kind;
      if (latest && now < rank.busy) continue;
      served_[t] = k;
      if (++rank.taken < std::max(1u, (o.amount + 239) / 240)) return;
      message_[o.message].at = now + delay_;
      rank.taken = 0;
      rank.sends.pop_front();
      served_[t] = (k + 1) % n;
      return;
    }
  }

  std::vector<Home> homes_;
  u32 delay_, send_, receive_;
  std::vector<Rank> ranks_;
  std::vector<Message> message_;
  std::vector<u32> served_;                    ///< [terminal] rank whose message is being taken
  std::map<std::pair<u32, u32>, Cycle> free_;  ///< [terminal, processor] first cycle in which it is free
};

TEST(ProgramTiming, RandomProgramsWithSeveralRanksOnATerminal) {
  for (u64 seed = 1; seed <= 60; ++seed) {
    const u32 ranks = 2 + seed % 9, terminals = 1 + seed % 4;
    const RandomProgram random(ranks, 20 + 10 * static_cast<u32>(seed), seed);
    std::vector<NaiveRanks::Home> homes;
    std::string text = random.text(), places;
    u32 most = 0;
    for (u32 r = 0; r < ranks; ++r) {
      const Random4 draw = philox(seed, 78, 0, r);
      homes.push_back({draw.word[0] % terminals, seed % 2 ? 100 + r : draw.word[1] % 2});
      most = std::max(most, homes[r].terminal + 1);
      places += "place," + std::to_string(r) + "," + std::to_string(homes[r].terminal) +
                (seed % 2 ? "" : "," + std::to_string(homes[r].processor)) + "\n";
    }
    text.insert(text.find('\n') + 1, places);
    const u32 delay = 1 + seed % 13, send_overhead = seed % 3 ? 0 : 4, recv_overhead = seed % 4 ? 0 : 3;
    FixedDelay net(program(text, most), delay, send_overhead, recv_overhead);
    EXPECT_EQ(net.ends(), NaiveRanks(random, homes, delay, send_overhead, recv_overhead).ends()) << "seed " << seed;
  }
}

TEST(ProgramTiming, RanksOfATerminal) {
  // Rank 0 computes 10 cycles, then ranks 1 and 2 of its terminal compute 5 and 7 cycles side by side; the message of
  // rank 1 leaves in cycle 15 and arrives 4 cycles later.
  const std::string calls =
      "0,compute,10\n0,notify,1\n0,notify,2\n1,after,0\n1,compute,5\n1,send,3,10\n2,after,0\n2,compute,7\n3,recv,1\n";
  const std::string two = "ranks,4\nplace,0,0\nplace,1,0\nplace,2,0\nplace,3,1\n" + calls;
  EXPECT_EQ(FixedDelay(program(two, 2), 4).ends(), (Cycles{17, 19}));
  // On one processor, rank 2 waits for rank 1.
  const std::string one = "ranks,4\nplace,0,0,0\nplace,1,0,0\nplace,2,0,0\nplace,3,1,0\n" + calls;
  EXPECT_EQ(FixedDelay(program(one, 2), 4).ends(), (Cycles{22, 19}));
  // A message within a terminal takes the overheads of both ends, and no time in the network.
  const std::string local = "ranks,2\nplace,0,0\nplace,1,0\n0,send,1,5000\n1,recv,0\n1,compute,1\n";
  EXPECT_EQ(FixedDelay(program(local, 1), 50, 3, 4).ends(), (Cycles{8}));
}

/// The network interface takes messages of two ranks in turn, each of them whole.
TEST(ProgramTiming, TheNetworkInterfaceServesRanksInTurn) {
  FixedDelay net(program("ranks,3\nplace,0,0\nplace,1,0\nplace,2,1\n0,isend,2,480\n0,isend,2,480\n1,isend,2,720\n"
                         "2,recv,0\n2,recv,0\n2,recv,1\n",
                         2),
                 1);
  net.ends();
  std::vector<u32> slots;
  for (const auto& handed : net.handed()) slots.push_back(handed.packet.slot);
  EXPECT_EQ(slots, (std::vector<u32>{0, 0, 2, 2, 2, 1, 1}));
}

TEST(ProgramTiming, TheLayoutOfStateDoesNotMatter) {
  const RandomProgram random(40, 2000, 5);
  const Program p = program(random.text(), 40);
  EXPECT_EQ(FixedDelay<32>(p, 7).ends(), FixedDelay<1>(p, 7).ends());
}

}  // namespace
}  // namespace flitlab::traffic_program_test
