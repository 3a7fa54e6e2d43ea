/// Control messages in transit (S-Connect, 3.4), saturating registers, and audits of corrupted states.
#include <gtest/gtest.h>

#include "kernels/common/error.hpp"
#include "kernels/routers/sconnect/control_message.hpp"
#include "tests/support/sconnect/sconnect.hpp"

namespace flitlab::sconnect_control_test {
namespace {

using sconnect::kPorts;
using sconnect::option;
using namespace testing;

constexpr u32 kAddress = 2;  // address of a register

RawConfig line(std::int64_t nodes) { return Settings("topology.shape=", IntList{nodes}, " traffic.load=0.0"); }

/// Returns the next reply that a port sends; steps until it is sent.
sconnect::Message reply_sent(SconnectNet& net, u32 tic, u32 p) {
  for (u32 i = 0; i < 100; ++i) {
    net.step();
    const auto [bits, m] = net.sent(tic, p);
    if (bits & sconnect::kPresent && m.control && sconnect::is_reply(m)) return m;
  }
  ADD_FAILURE() << "no reply";
  return {};
}

/// Port 0 of TIC 0 leads to port 0 of TIC 1.
TEST(SconnectControl, RepliesGoOnVirtualChannelOneAPriorityHigher) {
  for (u32 priority = 0; priority < sconnect::kPriorities; ++priority) {
    SconnectNet net(line(2));
    ASSERT_EQ(send_sconnect_control(net.engine(), net.plan().table(), 0,
                                    {{"read_register", kAddress, 0, kNone, {0}, priority, 7}}),
              1u);
    const sconnect::Message reply = reply_sent(net, 1, 0);
    EXPECT_EQ(reply.vc, 1);
    EXPECT_EQ(reply.priority, std::min(priority + 1, 3u));
    EXPECT_EQ(reply.tag, 7);
  }
}

/// A parallel port, which joins the TICs of a node, has one queue for each priority, on virtual channel 0. Replies wait
/// in these queues as well.
TEST(SconnectControl, RepliesOverAParallelPortWaitInItsQueue) {
  for (std::int64_t vcs : {1, 2}) {
    RawConfig c = line(2);
    set(c, "topology.node=dual topology.parallel_vcs=", vcs);
    SconnectNet net(c);
    const u32 p = kPorts - 1, far = net.fabric().link(0, p).far, back = net.fabric().link(0, p).port;
    ASSERT_EQ(net.fabric().link(0, p).kind, sconnect::LinkKind::kParallel);
    ASSERT_EQ(
        send_sconnect_control(net.engine(), net.plan().table(), 0, {{"read_register", kAddress, 0, kNone, {p}, 1, 7}}),
        1u);
    const u32 vc = vcs == 2;
    for (u32 i = 0; i < 20 && net.queue(far, back, 2, vc).empty(); ++i) {
      EXPECT_TRUE(net.queue(far, back, 2, 1 - vc).empty());
      net.step();
    }
    ASSERT_EQ(net.queue(far, back, 2, vc).size(), 1u);
    EXPECT_EQ(net.queue(far, back, 2, vc)[0].tag, 7);
    EXPECT_EQ(reply_sent(net, far, back).vc, vc);
  }
}

/// The request arrived on virtual channel 1, on which it would have to stay. The reply is a new message and starts on
/// virtual channel 0.
TEST(SconnectControl, RepliesByTablesBeginOnVirtualChannelZero) {
  SconnectNet net(line(3));
  for (u32 tic : {0u, 1u}) net.set_table(tic, 2, option(0, 1));
  net.set_table(2, 0, option(1, 0) | option(1, 1));
  ASSERT_EQ(send_sconnect_control(net.engine(), net.plan().table(), 0, {{"read_register", kAddress, 0, 2, {}, 1, 7}}),
            1u);
  const sconnect::Message reply = reply_sent(net, 2, 1);
  EXPECT_EQ(reply.vc, 0);
  EXPECT_EQ(reply.priority, 2);
  EXPECT_EQ(reply.dst, 2u);  // the content of the reply is TIC 2's address
}

TEST(SconnectRegisters, OfErrorsStopAt65535) {
  RawConfig c = line(3);
  set(c, "traffic.load=1.0 channel.error_rate=0.003 router.buffers=12");
  SconnectNet net(c);
  constexpr u16 kNearly = 65530;
  auto ports = net.fields<sconnect::Port>(0, "port");
  for (u32 tic = 0; tic < 3; ++tic)
    for (u32 p = 0; p < sconnect::kSerial; ++p) {
      sconnect::Port& port = ports(tic, p);
      port.damaged = port.refused = port.failed = port.lost = kNearly;
    }
  ports.write();
  net.step(2000);
  for (const char* name : {"damaged", "refused", "failed", "lost"}) {
    u32 full = 0;
    for (u32 tic = 0; tic < 3; ++tic)
      for (u32 p = 0; p < sconnect::kSerial; ++p) {
        const u64 value = net.register_of(tic, std::string(name) + "." + std::to_string(p));
        EXPECT_GE(value, kNearly) << name;
        full += value == 65535;
      }
    EXPECT_GE(full, 1u) << name;
  }
}

// The audit.

constexpr const char* kFound = "the sets of virtual channels disagree with their states";

/// Returns the audit's message, "" if it finds no fault.
std::string audited(SconnectNet& net) {
  try {
    net.check();
  } catch (const RunError& error) {
    return error.what();
  }
  return "";
}

/// A fabric of three TICs with empty pools of 9 buffers. In TIC 1, 5 buffers are reserved: one for each queue of two
/// channels and a host.
SconnectNet small_pool() {
  RawConfig c = line(3);
  set(c, "router.buffers=9 router.control_buffers=0");
  return SconnectNet(c);
}

TEST(SconnectAudit, FindsUnsatisfiableReservations) {
  for (u32 messages : {5u, 6u}) {  // 5 messages in one queue leave the 4 buffers that are reserved for the others
    SconnectNet net = small_pool();
    auto control = net.fields<sconnect::TicControl>(0, "control");
    auto queue = net.fields<sconnect::Queue>(0, "queue");
    auto buffer = net.fields<sconnect::BufferState>(0, "buffer");
    auto message = net.fields<sconnect::Message>(0, "message");
    sconnect::TicControl& tic = control(1);
    ASSERT_EQ(tic.reserved, 5);
    tic.free &= ~u64{0} << messages;
    tic.waiting = 1;
    tic.used = tic.held[0] = static_cast<u8>(messages);
    tic.reserved = 4;
    queue(1) = {0, static_cast<u8>(messages - 1), static_cast<u8>(messages), 0};
    for (u32 b = 0; b < messages; ++b) {
      buffer(1, b) = {static_cast<u8>(b + 1 < messages ? b + 1 : sconnect::kNoBuffer), 0, sconnect::kWaiting,
                      sconnect::kSerial};
      message(1, b).flits = 1;
      message(1, b).control = static_cast<u8>(sconnect::Operation::kReadRegister);
    }
    control.write();
    queue.write();
    buffer.write();
    message.write();
    if (messages == 5)
      EXPECT_EQ(audited(net), "");
    else
      EXPECT_NE(audited(net).find(kFound), std::string::npos) << audited(net);
  }
}

/// TIC 1 has a pool of 11 buffers: one is reserved for each of 5 queues, one for requests and one for replies, and 4
/// are unreserved. The port to TIC 2 is off, so requests and then data fill its queue in TIC 1. A request and a data
/// message use reserved buffers, 4 more messages use the unreserved ones. When they have left, the reservations are
/// back to their initial sum.
TEST(SconnectControl, CountsForOneReservation) {
  struct Case {
    u32 requests, data;
  };
  for (const auto& [requests, data] : {Case{0, 5}, Case{1, 5}, Case{2, 4}, Case{3, 3}}) {
    SCOPED_TRACE(requests);
    RawConfig c = line(3);
    c.erase("traffic.load");
    set(c, "router.buffers=11 router.control_buffers=1");
    std::string trace;
    for (u32 i = 0; i < 20; ++i) trace += testing::sends(100 + i, 0, 2);
    SconnectNet net(c, trace);
    u32 p = 0;
    while (net.fabric().link(1, p).kind != sconnect::LinkKind::kSerial || net.fabric().link(1, p).far != 2) ++p;
    const u32 q = p * sconnect::kQueuesOfPort;
    net.set_table(1, 2, option(p, 0));
    net.disable(1, p);
    for (u32 i = 0; i < requests; ++i)
      ASSERT_EQ(
          send_sconnect_control(net.engine(), net.plan().table(), 0, {{"read_register", kAddress, 0, 2, {}, 0, 1 + i}}),
          1u);
    net.step(300);
    const sconnect::TicControl full = net.control(1);
    EXPECT_EQ(full.held_control[0], requests);
    EXPECT_EQ(full.held[q], data);
    EXPECT_EQ(full.used, requests + data);
    EXPECT_EQ(full.reserved, 11 - full.used);
    net.enable(1, p);
    for (u32 i = 0; i < 200; ++i) {
      net.step();
      ASSERT_NO_THROW(net.check()) << "after cycle " << net.now() - 1;
    }
    EXPECT_EQ(net.total(Total::kPacketsDelivered), 20u);
    EXPECT_EQ(net.control(1).used, 0);
    EXPECT_EQ(net.control(1).reserved, 5 + 2);
    EXPECT_EQ(net.control(1).held_control[0], 0);
  }
}

/// A control message uses the reservation of its queue first. Then the reservation for requests stays available for
/// other queues.
TEST(SconnectControl, UsesItsQueuesReservationFirst) {
  RawConfig c = line(3);
  set(c, "router.buffers=11 router.control_buffers=1");
  SconnectNet net(c);
  ASSERT_EQ(send_sconnect_control(net.engine(), net.plan().table(), 0, {{"read_register", kAddress, 0, 2, {}, 0, 1}}),
            1u);
  net.step();
  EXPECT_EQ(net.control(0).used, 1);
  EXPECT_EQ(net.control(0).held_control[0], 0);
  EXPECT_EQ(net.control(0).reserved, 3 - 1 + 2);  // a TIC at an end of the line has one channel
}

TEST(SconnectAudit, FindsMissingControlMessages) {
  for (u32 kind : {0u, 1u}) {
    SconnectNet net = small_pool();
    auto control = net.fields<sconnect::TicControl>(0, "control");
    ++control(1).held_control[kind];
    control.write();
    EXPECT_NE(audited(net).find(kFound), std::string::npos) << audited(net);
  }
}

/// The audit finds a message that is marked as damaged but is not in any port's list of messages to discard.
TEST(SconnectAudit, FindsUnlistedDamage) {
  RawConfig c = line(3);
  c["traffic.load"] = 1.0;
  SconnectNet net(c);
  net.step(200);
  auto buffer = net.fields<sconnect::BufferState>(0, "buffer");
  u32 b = 0;
  while (b < net.table().buffers && buffer(1, b).flags != sconnect::kWaiting) ++b;
  ASSERT_LT(b, net.table().buffers);
  ASSERT_EQ(audited(net), "");
  buffer(1, b).flags |= sconnect::kBad;
  buffer.write();
  EXPECT_NE(audited(net).find(kFound), std::string::npos) << audited(net);
}

}  // namespace
}  // namespace flitlab::sconnect_control_test
