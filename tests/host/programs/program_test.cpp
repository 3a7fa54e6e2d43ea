/// Reading of message-passing programs: the resulting calls, and one example of each error message.
#include "host/programs/program.hpp"

#include <gtest/gtest.h>

#include <map>

#include "kernels/common/error.hpp"
#include "kernels/common/philox.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::programs_program_test {
namespace {

using namespace testing;

/// Returns a rank's calls as text: kind, peer, amount, slot (the number of an outstanding isend or irecv).
std::string calls(const Program& p, u32 rank) {
  std::string text;
  for (u32 i = p.first[rank]; i < p.first[rank + 1]; ++i) {
    const ProgramCall& c = p.calls[i];
    text += (text.empty() ? "" : " ") + std::string(1, "CSIRPW"[static_cast<u32>(c.kind)]) + std::to_string(c.peer) +
            "/" + std::to_string(c.amount) + "/" + std::to_string(c.slot);
  }
  return text;
}

TEST(Programs, BecomeMatchedCalls) {
  const Program p = program(
      "# a comment\r\n"
      "ranks,3\n"
      "\n"
      "0,compute,5\r\n"
      "1, recv ,2 , ,7\n"
      "0,send,1,241,7\n"
      "2,send,1,9,7\n"
      "0,send,1,1\n"
      "1,recv,0\n"
      "1,recv,0,241,7",  // the last line has no newline
      8);
  EXPECT_EQ(calls(p, 0), "C0/5/0 S1/241/2 S1/1/1");
  EXPECT_EQ(calls(p, 1), "R2/1/0 R0/1/1 R0/2/2");
  EXPECT_EQ(calls(p, 2), "S1/9/0");
  EXPECT_EQ(calls(p, 7), "");
  EXPECT_EQ(p.first.size(), 9u);
  EXPECT_EQ(p.slots, 3u);
}

TEST(Programs, MatchInOrderOfSenderReceiverAndTag) {
  const Program p = program("0,send,1,1\n0,send,1,2\n0,send,1,3,9\n1,irecv,0,3,9\n1,recv,0,1\n1,recv,0,2\n", 2);
  EXPECT_EQ(calls(p, 0), "S1/1/1 S1/2/2 S1/3/0");
  EXPECT_EQ(calls(p, 1), "P0/1/0 R0/1/1 R0/1/2 R0/1/0");
}

TEST(Programs, WaitsNameWhatTheyWaitFor) {
  const Program p = program(
      "0,isend,1,1,,4\n0,isend,1,1,,5\n0,wait,4\n0,irecv,1,,,4\n0,irecv,1\n0,waitall\n0,isend,1,1,,4\n"
      "1,recv,0\n1,recv,0\n1,send,0,1\n1,send,0,500\n1,recv,0\n",
      2);
  // Calls are numbered from 0 in the list below. The irecvs are calls 3 and 4. The waitall waits for both of them and
  // for the isend of call 1; the end of the program waits for the isend of call 8.
  EXPECT_EQ(calls(p, 0), "I1/1/0 I1/1/1 W0/0/0 P1/1/0 P1/3/1 R1/1/0 R1/3/1 W0/1/0 I1/1/2 W0/8/0");
}

TEST(Programs, MayInterleaveRanksAndLeaveSomeOut) {
  EXPECT_EQ(calls(program("2,recv,0\n0,send,2,0\n", 3), 1), "");
  EXPECT_EQ(program("", 3).first, (std::vector<u32>{0, 0, 0, 0}));
  EXPECT_EQ(program("ranks,2\n", 3).slots, 0u);
}

TEST(Programs, OfAFileAndOfATextAreTheSame) {
  const std::string text = "0,send,1,5\n1,recv,0\n";
  const testing::TextFile file(text);
  const Program p = read_program(TextSource(file.path), 2, {});
  EXPECT_EQ(calls(p, 1), calls(program(text, 2), 1));
}

struct Wrong {
  std::string text, message;  ///< the program, and a part of the error message
  u32 line;
};

class WrongProgram : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongProgram, GetsOneMessage) {
  try {
    program(GetParam().text, 4);
    FAIL() << "no error";
  } catch (const ConfigError& e) {
    const std::string what = e.what();
    EXPECT_EQ(what.find("traffic.program_file: p.csv:" + std::to_string(GetParam().line) + ": \""), 0u) << what;
    EXPECT_NE(what.find(GetParam().message), std::string::npos) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongProgram,
    ::testing::Values(
        Wrong{"0,compute,1\n0\n", "a line is rank,call[,arguments]; calls are compute, send,", 2},
        Wrong{"0,recieve,1\n", "there is no call \"recieve\": did you mean recv?", 1},
        Wrong{"4,compute,1\n", "rank 4 does not exist: the program's ranks are 0 to 3.", 1},
        Wrong{"ranks,2\n2,compute,1\n", "rank 2 does not exist: the program's ranks are 0 to 1.", 2},
        Wrong{"x,compute,1\n", "rank = \"x\" must be a whole number", 1},
        Wrong{"0,compute,-1\n", "cycles = \"-1\" must be a whole number from 0 to 1000000000.", 1},
        Wrong{"0,compute,1000000001\n", "cycles = \"1000000001\" must be", 1},
        Wrong{"0,compute\n", "cycles is missing: the line is rank,compute,cycles.", 1},
        Wrong{"0,compute,1,2\n", "it has too many fields: the line is rank,compute,cycles.", 1},
        Wrong{"0,send,1\n", "bytes is missing: the line is rank,send,peer,bytes[,tag].", 1},
        Wrong{"0,send,4,1\n", "peer 4 does not exist", 1},
        Wrong{"0,send,1,-240\n", "bytes = \"-240\" must be a whole number from 0 to 4294967294.", 1},
        Wrong{"0,send,1,1,-1\n", "tag = \"-1\" must be", 1}, Wrong{"0,send,1,1.5\n", "bytes = \"1.5\" must be", 1},
        Wrong{"0,send,0,1\n", "rank 0 cannot exchange a message with itself.", 1},
        Wrong{"0,irecv,0\n", "rank 0 cannot exchange a message with itself.", 1},
        Wrong{"0,compute,1\n0,wait,3\n", "rank 0 has no open handle 3", 2},
        Wrong{"0,isend,1,1,,3\n1,wait,3\n", "rank 1 has no open handle 3", 2},
        Wrong{"0,isend,1,1,,3\n0,wait,3\n0,wait,3\n", "rank 0 has no open handle 3", 3},
        Wrong{"0,isend,1,1,,3\n0,isend,1,1,,3\n",
              "handle 3 of rank 0 is still open (line 1 (\"0,isend,1,1,,3\")). Wait for it first", 2},
        Wrong{"ranks,5\n", "a program can have 1 to 4 ranks here", 1}, Wrong{"ranks,0\n", "1 to 4 ranks", 1},
        Wrong{"ranks,2\nranks,2\n", "must be given once, before all calls and groups", 2},
        Wrong{"0,compute,1\nranks,2\n", "must be given once, before", 2}, Wrong{"ranks\n", "ranks,NUMBER", 1},
        Wrong{"1,recv,0\n0,send,1,1,7\n0,send,1,1\n",
              "rank 1 has no receive left for this message from rank 0 with tag 7. Add one", 2},
        Wrong{"0,send,1,1\n0,send,1,1\n1,recv,0\n", "rank 1 has no receive left for this message", 2},
        Wrong{"0,send,1,1\n1,recv,0\n1,recv,0,,3\n",
              "rank 0 sends no message with tag 3 to rank 1 that is left for this receive.", 3},
        Wrong{"1,irecv,0\n", "rank 0 sends no message with tag 0 to rank 1", 1},
        Wrong{"2,send,0,1\n2,send,1,1\n", "rank 0 has no receive left for this message from rank 2", 1},
        Wrong{"0,recv,1\n1,recv,2\n1,send,0,1\n2,recv,1\n2,send,1,1\n1,send,2,1\n",
              "on any network: rank 1 waits for rank 2 in line 2 (\"1,recv,2\"), rank 2 waits for rank 1", 2},
        Wrong{"0,send,1,100\n1,recv,0,10\n",
              "the message that rank 1 receives here has 100 bytes (line 1 (\"0,send,1,100\")). Give that", 2},
        Wrong{"0,recv,1\n0,send,1,1\n1,recv,0,1,0\n1,send,0,1\n",
              "the program cannot end on any network: rank 0 waits for rank 1 in line 1 (\"0,recv,1\"), rank "
              "1 waits for rank 0 in line 3 (\"1,recv,0,1,0\"). Let one of them send before it receives",
              1},
        Wrong{"0,irecv,1,,,8\n0,wait,8\n0,send,1,1\n1,recv,0\n1,send,0,1\n",
              "rank 0 waits for rank 1 in line 2 (\"0,wait,8\")", 2},
        Wrong{"3,recv,0\n0,compute,1\n0,recv,1\n0,send,3,1\n1,recv,2\n1,send,0,1\n2,recv,0\n2,send,1,1\n0,send,2,1\n",
              "rank 0 waits for rank 1 in line 3 (\"0,recv,1\"), rank 1 waits for rank 2 in line 5 (\"1,recv,2\"), "
              "rank 2 "
              "waits for rank 0 in line 7 (\"2,recv,0\"). Let",
              3},
        Wrong{"ranks,2\n0,barrier\n0,send,1,1\n1,recv,0\n1,barrier\n",
              "rank 0 waits for rank 1 in line 2 (\"0,barrier\")", 2},
        Wrong{"ranks,2\n0,barrier\n",
              "rank 1 never makes this call, which is collective 0 of all ranks (counted from 0): all members", 2},
        Wrong{"0,barrier\n1,barrier\n", "start the program with a line ranks,NUMBER", 1},
        Wrong{"ranks,2\n0,allreduce,8\n1,allreduce,9\n",
              "this is collective 0 of all ranks (counted from 0), which is a different one in line 2 "
              "(\"0,allreduce,8\")",
              3},
        Wrong{"ranks,2\n0,broadcast,0,8\n1,broadcast,1,8\n", "which is a different one in line 2", 3},
        Wrong{"0,barrier,1\n", "there is no group 1 yet", 1}, Wrong{"group,1\n", "group,NUMBER,RANK[,RANK...]", 1},
        Wrong{"group,1,0,4\n", "rank 4 does not exist", 1}, Wrong{"group,1,0,0\n", "rank 0 is in the group twice", 1},
        Wrong{"group,1,0\ngroup,1,0\n", "group 1 has been given before", 2},
        Wrong{"group,1,0,2\n1,barrier,1\n", "rank 1 is not in group 1", 2},
        Wrong{"group,1,0,2\n0,reduce,1,8,,1\n", "rank 1 is not in group 1", 2},
        Wrong{"0,allgather,4294967294\n",
              "this call would send messages of 8589934588 bytes; at most 4294967294 are possible.", 1}));

/// A call of a rank: a send to `peer` or, if `receives`, a receive of the next message from `peer`.
struct Move {
  bool receives;
  u32 peer;
};

/// Returns whether all ranks finish. The result does not depend on the order in which ranks execute.
bool ends(const std::vector<std::vector<Move>>& ranks) {
  std::map<std::pair<u32, u32>, int> in_flight;
  std::vector<std::size_t> next(ranks.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (u32 me = 0; me < ranks.size(); ++me)
      while (next[me] < ranks[me].size()) {
        const Move& m = ranks[me][next[me]];
        if (m.receives && !in_flight[{m.peer, me}]) break;
        m.receives ? --in_flight[{m.peer, me}] : ++in_flight[{me, m.peer}];
        ++next[me];
        moved = true;
      }
  }
  for (u32 me = 0; me < ranks.size(); ++me)
    if (next[me] < ranks[me].size()) return false;
  return true;
}

TEST(Programs, ThatCannotEndAreThoseThatCannotEnd) {
  u32 stuck = 0, count = 2000;
  for (u32 seed = 0; seed < count; ++seed) {
    const u32 n = 2 + seed % 5, messages = 1 + seed % 12;
    std::vector<std::vector<Move>> ranks(n);
    for (u32 i = 0; i < messages; ++i) {
      const Random4 r = philox(seed, 78, 0, i);
      const u32 a = r.word[0] % n, b = (a + 1 + r.word[1] % (n - 1)) % n;
      ranks[a].push_back({false, b});
      ranks[b].push_back({true, a});
      // In the order so far the program can end. Exchange calls at random, so that some programs cannot.
      for (u32 rank : {a, b}) {
        const std::size_t last = ranks[rank].size() - 1;
        if (r.word[2] % 3) std::swap(ranks[rank][last], ranks[rank][r.word[3] % (last + 1)]);
      }
    }
    std::string text;
    for (u32 me = 0; me < n; ++me)
      for (const Move& m : ranks[me])
        text += std::to_string(me) +
                (m.receives ? ",recv," + std::to_string(m.peer) + "\n" : ",send," + std::to_string(m.peer) + ",300\n");
    if (ends(ranks)) {
      testing::FixedDelay net(program(text, n), 1 + seed % 50);
      for (Cycle end : net.ends(100000)) EXPECT_NE(end, kNever) << text;
    } else {
      ++stuck;
      EXPECT_THROW(program(text, n), ConfigError) << text;
    }
  }
  EXPECT_GT(stuck, count / 10);
  EXPECT_LT(stuck, count / 2);
}

TEST(Programs, MustBeReadable) {
  for (const char* path : {"no/such.csv", "/"}) {
    try {
      read_program(TextSource(path), 2, {});
      ADD_FAILURE() << path;
    } catch (const ConfigError& e) {
      EXPECT_NE(std::string(e.what()).find("traffic.program_file = \"" + std::string(path) + "\" cannot be read"),
                std::string::npos)
          << e.what();
    }
  }
}

}  // namespace
}  // namespace flitlab::programs_program_test
