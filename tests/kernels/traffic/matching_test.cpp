/// Messages that are matched during the run: cycles counted by hand, and random programs against a naive model.
#include "kernels/traffic/matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "kernels/common/error.hpp"
#include "tests/support/program.hpp"

namespace flitlab::traffic_matching_test {
namespace {

using namespace testing;
using Cycles = std::vector<Cycle>;
constexpr Cycle kStuck = kNever;
constexpr u32 kAny = kNone;

Cycles ends_of(const std::string& text, u32 ranks, u32 limit = 1000) {
  FixedDelay net(program(text, ranks), 10);
  return net.ends(limit);
}

TEST(Matching, AReceiveFromAnySourceTakesTheMessageThatArrivesFirst) {
  // The message of rank 1 arrives in cycle 10. Rank 2 computes until 15, and then receives that of rank 0, which has
  // left in 50 and arrives in 60.
  EXPECT_EQ(ends_of("0,compute,50\n0,send,2,1\n1,send,2,1\n2,recv,any\n2,compute,5\n2,recv,any\n", 3),
            (Cycles{51, 1, 60}));
}

TEST(Matching, AMessageGoesToTheReceiveThatWasPostedFirst) {
  // Both receives are posted in cycle 0. The message of rank 1 arrives first and goes to the first one, so the second
  // one, which accepts only rank 1, gets none: rank 2 cannot end.
  const std::string sends = "0,compute,50\n0,send,2,1\n1,send,2,1\n";
  EXPECT_EQ(ends_of(sends + "2,irecv,any,,,1\n2,irecv,1,,,2\n2,wait,2\n", 3), (Cycles{51, 1, kStuck}));
  // The other way round, each gets a message.
  EXPECT_EQ(ends_of(sends + "2,irecv,1,,,1\n2,irecv,any,,,2\n2,wait,2\n", 3), (Cycles{51, 1, 60}));
}

TEST(Matching, OfUnexpectedMessagesTheOldestThatFitsIsTaken) {
  // Messages with tags 5, 6 and 5 arrive in cycles 10, 11 and 12, and the receives begin in 100.
  const std::string sends = "0,send,1,1,5\n0,send,1,1,6\n0,send,1,1,5\n1,compute,100\n";
  EXPECT_EQ(ends_of(sends + "1,recv,any,,6\n1,recv,0,,any\n1,recv,any,,5\n", 2), (Cycles{3, 100}));
  EXPECT_EQ(ends_of(sends + "1,recv,0,,any\n1,recv,0,,any\n1,recv,0,,6\n", 2), (Cycles{3, kStuck}));
}

TEST(Matching, ThreadsReceiveFromOneMailbox) {
  // Rank 2 is a thread of rank 1. Its receive is posted in cycle 20, after that of rank 1, which gets the first message
  // (cycle 10). The second one leaves in 31 and arrives in 41.
  const std::string where = "ranks,3\nplace,1,1\nplace,2,1\nthread,2,1\n";
  EXPECT_EQ(ends_of(where + "0,send,1,1\n0,compute,30\n0,send,1,1\n1,recv,0\n2,compute,20\n2,recv,0\n", 2),
            (Cycles{32, 41}));
}

TEST(Matching, ProgramsThatCannotBeMatchedAreRejected) {
  const auto message = [](const std::string& text, u32 terminals) -> std::string {
    try {
      program(text, terminals);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("0,send,1,1\n1,recv,any\n1,recv,any\n", 2).find("receives 2 messages, and 1 are sent to it"),
            std::string::npos);
  // Rank 2 receives nothing: the message names the line that sends to it, not a receive of another rank.
  EXPECT_NE(message("ranks,4\nplace,3,1\nthread,3,1\n1,recv,any\n0,send,1,1\n0,send,2,1\n", 3).find("p.csv:6"),
            std::string::npos);
  EXPECT_NE(message("0,recv,any\n0,send,1,1\n1,recv,any\n1,send,0,1\n", 2).find("cannot end on any network"),
            std::string::npos);
  EXPECT_NE(message("ranks,2\nthread,1,0\n0,compute,1\n", 2).find("runs on another terminal"), std::string::npos);
  EXPECT_NE(message("ranks,3\nthread,1,0\nthread,2,1\n", 3).find("which is not a thread"), std::string::npos);
  EXPECT_NE(message("ranks,2\nplace,1,0\nthread,1,0\n0,send,1,1\n1,recv,0\n", 2).find("cannot exchange messages"),
            std::string::npos);
  EXPECT_NE(message("0,send,any,1\n", 2).find("peer"), std::string::npos);
}

/// A random program: each message has a receive that may or may not accept it.
struct RandomProgram {
  struct Op {
    enum Kind { kCompute, kSend, kIsend, kRecv, kIrecv, kWait } kind;
    u32 peer = 0, tag = 0, amount = 0, handle = 0;
  };
  u32 ranks, terminals;
  std::vector<u32> terminal, mailbox;  // [rank]
  std::vector<std::vector<Op>> ops;    // [rank]

  RandomProgram(u32 n, u32 on_terminals, u32 messages, u64 seed, bool threads)
      : ranks(n), terminals(on_terminals), ops(n) {
    for (u32 rank = 0; rank < n; ++rank) {
      terminal.push_back(rank % terminals);
      mailbox.push_back(threads ? rank % terminals : rank);
    }
    u32 handle = 1;
    for (u32 i = 0; i < messages; ++i) {
      const Random4 r = philox(seed, 5, 0, i), more = philox(seed, 5, 1, i);
      const u32 from = r.word[0] % n;
      u32 to = r.word[1] % n;
      while (mailbox[to] == mailbox[from]) to = (to + 1) % n;
      const u32 tag = r.word[2] % 3;
      if (more.word[0] % 2) ops[from].push_back({Op::kCompute, 0, 0, more.word[0] % 97});
      ops[from].push_back({more.word[1] % 2 ? Op::kSend : Op::kIsend, mailbox[to], tag, more.word[2] % 900});
      const u32 accept = r.word[3] % 5;  // most receives accept any message
      const u32 source = accept == 1 ? mailbox[from] : kAny, wanted = accept == 2 ? tag : kAny;
      const bool now = more.word[3] % 2;
      ops[to].push_back({now ? Op::kRecv : Op::kIrecv, source, wanted, 0, now ? 0 : handle++});
      if (!now && more.word[3] / 2 % 2) ops[to].push_back({Op::kWait, 0, 0, 0, handle - 1});
    }
    // Sends come before receives in half of the ranks, so that many programs end.
    for (u32 rank = 0; rank < n; ++rank)
      if (philox(seed, 5, 2, rank).word[0] % 2)
        std::stable_sort(ops[rank].begin(), ops[rank].end(), [](const Op& a, const Op& b) {
          return (a.kind == Op::kSend || a.kind == Op::kIsend) > (b.kind == Op::kSend || b.kind == Op::kIsend);
        });
  }

  std::string text() const {
    std::string text = "ranks," + std::to_string(ranks) + "\n";
    for (u32 rank = 0; rank < ranks; ++rank) {
      text += "place," + std::to_string(rank) + "," + std::to_string(terminal[rank]) + "\n";
      if (mailbox[rank] != rank) text += "thread," + std::to_string(rank) + "," + std::to_string(mailbox[rank]) + "\n";
    }
    const auto number = [](u32 n) { return n == kAny ? std::string("any") : std::to_string(n); };
    for (u32 rank = 0; rank < ranks; ++rank)
      for (const Op& o : ops[rank]) {
        const std::string message = number(o.peer) + ",", tag = "," + number(o.tag);
        text += std::to_string(rank) + ",";
        switch (o.kind) {
          case Op::kCompute: text += "compute," + std::to_string(o.amount); break;
          case Op::kSend: text += "send," + message + std::to_string(o.amount) + tag; break;
          case Op::kIsend: text += "isend," + message + std::to_string(o.amount) + tag; break;
          case Op::kRecv: text += "recv," + message + tag; break;
          case Op::kIrecv: text += "irecv," + message + tag + "," + std::to_string(o.handle); break;
          case Op::kWait: text += "wait," + std::to_string(o.handle); break;
        }
        text += "\n";
      }
    return text;
  }
};

/// The same program, run cycle by cycle from its description: lists of posted receives and of unexpected messages.
class NaiveRun {
 public:
  NaiveRun(const RandomProgram& program, Cycle delay, Cycle jitter, u32 send_overhead, u32 recv_overhead)
      : p_(program), delay_(delay), jitter_(jitter), send_(send_overhead), recv_(recv_overhead), ranks_(program.ranks) {
    for (u32 rank = 0; rank < p_.ranks; ++rank)
      for (const auto& op : p_.ops[rank])
        if (op.kind == RandomProgram::Op::kIrecv) ranks_[rank].open.push_back(op.handle);
  }

  Cycles ends(Cycle limit) {
    for (; now_ < limit; ++now_) step();
    Cycles ends(p_.terminals, 0);
    for (u32 rank = 0; rank < p_.ranks; ++rank)
      ends[p_.terminal[rank]] = std::max(ends[p_.terminal[rank]], ranks_[rank].end);
    return ends;
  }

 private:
  using Op = RandomProgram::Op;
  struct Message {
    u32 from, to, tag, left, before;  // before: number of the sender's messages to `to` that precede it
    bool local, prepared = false, given = false;
    Cycle ready;
  };
  struct Posted {
    u32 rank, op;
  };
  struct Rank {
    std::size_t next = 0;
    Cycle busy = 0, end = kNever;
    std::deque<u32> queue;        // messages for the network interface
    std::vector<u32> open;        // handles of irecvs
    std::optional<u32> blocking;  // message of a send, or message within the terminal
    std::map<u32, u32> sent;      // [mailbox] messages sent to it
  };
  struct Packet {
    u32 message;
    Cycle at;
  };

  void step() {
    std::vector<Packet> later;
    for (const Packet& packet : flying_)
      if (packet.at == now_)
        arrive(packet.message);
      else
        later.push_back(packet);
    flying_ = std::move(later);
    for (u32 terminal = 0; terminal < p_.terminals; ++terminal) visit(terminal);
  }

  void arrive(u32 number) {
    if (--messages_[number].left) return;
    // All complete messages of the sender, up to the first one that is not complete.
    const u32 from = messages_[number].from, to = messages_[number].to;
    for (u32 before = 0, i = 0; i < messages_.size(); ++i) {
      Message& m = messages_[i];
      if (m.from != from || m.to != to) continue;
      EXPECT_EQ(m.before, before++);
      if (m.left) break;
      if (!std::exchange(m.given, true)) unexpected_.push_back(i);
    }
    match();
  }

  bool accepts(const Posted& posted, const Message& m) const {
    const Op& op = p_.ops[posted.rank][posted.op];
    return p_.mailbox[posted.rank] == m.to && (op.peer == kAny || op.peer == p_.mailbox[m.from]) &&
           (op.tag == kAny || op.tag == m.tag);
  }

  /// Matches what can be matched. At most one list has more than one element that is new.
  void match() {
    for (bool again = true; again;) {
      again = false;
      for (auto m = unexpected_.begin(); !again && m != unexpected_.end(); ++m)
        for (auto r = posted_.begin(); !again && r != posted_.end(); ++r)
          if (accepts(*r, messages_[*m])) {
            got_[{r->rank, r->op}] = *m;
            posted_.erase(r);
            unexpected_.erase(m);
            again = true;
          }
    }
  }

  void post(u32 rank, u32 op) {
    if (!was_posted_.insert({rank, op}).second) return;
    posted_.push_back({rank, op});
    match();
  }

  void visit(u32 terminal) {
    for (bool again = true; again;) {
      again = false;
      for (u32 rank = terminal; rank < p_.ranks; rank += p_.terminals) again = run(rank) || again;
    }
    take_packet(terminal);
  }

  /// Makes steps of a rank. Returns whether it has ended a message within the terminal.
  bool run(u32 rank) {
    Rank& r = ranks_[rank];
    bool ended = false;
    while (r.end == kNever && r.busy <= now_) {
      if (r.blocking) {
        Message& m = messages_[*r.blocking];
        if (m.local) {
          const u32 number = *r.blocking;
          r.blocking.reset();
          arrive(number);
          ended = true;
          continue;
        }
        if (!r.queue.empty()) return ended;
        r.blocking.reset();
        continue;
      }
      if (r.next == p_.ops[rank].size()) {
        if (!close(rank)) return ended;
        continue;
      }
      if (!make(rank, static_cast<u32>(r.next))) return ended;
    }
    return ended;
  }

  /// Waits for a receive. Returns whether its message is there.
  bool receive(u32 rank, u32 op) {
    post(rank, op);
    if (!got_.contains({rank, op})) return false;
    ranks_[rank].busy = now_ + recv_;
    return true;
  }

  /// The end of a program: waits for its open irecvs in their order, then for its sends.
  bool close(u32 rank) {
    Rank& r = ranks_[rank];
    if (!r.open.empty()) {
      if (!receive(rank, op_of(rank, r.open.front()))) return false;
      r.open.erase(r.open.begin());
      return true;
    }
    if (!r.queue.empty()) return false;
    r.end = now_;
    return true;
  }

  u32 op_of(u32 rank, u32 handle) const {
    const auto& ops = p_.ops[rank];
    return static_cast<u32>(
        std::find_if(ops.begin(), ops.end(), [&](const Op& o) { return o.kind == Op::kIrecv && o.handle == handle; }) -
        ops.begin());
  }

  bool make(u32 rank, u32 number) {
    Rank& r = ranks_[rank];
    const Op& op = p_.ops[rank][number];
    switch (op.kind) {
      case Op::kCompute: r.busy = now_ + op.amount; break;
      case Op::kRecv:
        if (!receive(rank, number)) return false;
        break;
      case Op::kIrecv: post(rank, number); break;
      case Op::kWait:
        if (!receive(rank, op_of(rank, op.handle))) return false;
        r.open.erase(std::find(r.open.begin(), r.open.end(), op.handle));
        break;
      case Op::kSend:
      case Op::kIsend: {
        const bool local = p_.terminal[rank] == p_.terminal[op.peer];
        const u32 packets = local ? 1 : std::max(1u, (op.amount + 239) / 240);
        const u32 message = static_cast<u32>(messages_.size());
        messages_.push_back({rank, op.peer, op.tag, packets, r.sent[op.peer]++, local, false, false, now_ + send_});
        r.busy = now_ + send_;
        if (!local) r.queue.push_back(message);
        if (!local) unsent_[message] = packets;
        if (local || op.kind == Op::kSend) r.blocking = message;
      }
    }
    ++r.next;
    return true;
  }

  /// The network interface of a terminal accepts one packet: of the message that has begun, or of the next rank.
  void take_packet(u32 terminal) {
    std::vector<u32> ranks;
    for (u32 rank = terminal; rank < p_.ranks; rank += p_.terminals) ranks.push_back(rank);
    u32& turn = turn_[terminal];
    for (u32 i = 0; i < ranks.size(); ++i) {
      const u32 position = (turn + i) % static_cast<u32>(ranks.size());
      Rank& r = ranks_[ranks[position]];
      if (r.queue.empty() || messages_[r.queue.front()].ready > now_) continue;
      const u32 message = r.queue.front();
      flying_.push_back({message, now_ + delay_ + more_delay(terminal, now_, jitter_)});
      turn = position;
      if (--unsent_[message] == 0) {
        r.queue.pop_front();
        turn = (position + 1) % static_cast<u32>(ranks.size());
      }
      return;
    }
  }

  const RandomProgram& p_;
  Cycle delay_, jitter_, now_ = 0;
  u32 send_, recv_;
  std::vector<Rank> ranks_;
  std::vector<Message> messages_;
  std::map<u32, u32> unsent_;
  std::vector<Packet> flying_;
  std::vector<u32> unexpected_;
  std::vector<Posted> posted_;
  std::map<std::pair<u32, u32>, u32> got_;
  std::set<std::pair<u32, u32>> was_posted_;
  std::map<u32, u32> turn_;
};

TEST(Matching, RandomProgramsAgainstANaiveModel) {
  u32 ended = 0, stuck = 0, rejected = 0;
  for (u64 seed = 1; seed <= 300; ++seed) {
    const bool threads = seed % 2;
    const u32 terminals = 2 + seed % 4, ranks = terminals * (1 + seed % 3);
    const RandomProgram random(ranks, terminals, 5 + static_cast<u32>(seed) % 40, seed, threads);
    const Cycle delay = 1 + seed % 13, jitter = seed % 5 ? 7 * (seed % 5) : 0;
    const u32 send = seed % 3 ? 0 : 4, recv = seed % 4 ? 0 : 3, limit = 8000;
    std::optional<Program> read;
    try {
      read = program(random.text(), terminals);
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find("cannot end"), std::string::npos) << error.what();
      ++rejected;
    }
    const Cycles expected = NaiveRun(random, delay, jitter, send, recv).ends(limit);
    const bool all = std::find(expected.begin(), expected.end(), kStuck) == expected.end();
    if (!read) {
      EXPECT_FALSE(all) << "seed " << seed << ": a program that ends was rejected";
      continue;
    }
    ++(all ? ended : stuck);
    FixedDelay net(*read, delay, send, recv, {}, jitter);
    EXPECT_EQ(net.ends(limit), expected) << "seed " << seed << "\n" << random.text();
  }
  EXPECT_GT(ended, 60u);
  EXPECT_GT(stuck, 20u);
  EXPECT_GT(rejected, 0u);
}

}  // namespace
}  // namespace flitlab::traffic_matching_test
