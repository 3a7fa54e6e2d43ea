/// Checkpoints with changed numbers and a valid checksum. flitlab checks all indices before a router uses them
/// (host/plan/bounds.hpp). Any other change may be rejected, may run, or may end in an error, but it must never cause
/// an access outside of the state. Sanitizers run this test.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <sstream>
#include <stdexcept>

#include "host/config/registry.hpp"
#include "host/run/checkpoint.hpp"
#include "host/run/conservation.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/sconnect/state.hpp"
#include "tests/support/build.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/variations.hpp"

namespace flitlab::run_forged_test {
namespace {

using namespace testing;

class ChangedCheckpoint : public ::testing::TestWithParam<std::string> {};

/// A network whose state can be loaded, as a checkpoint, into another network of the same configuration.
struct Source {
  explicit Source(const Experiment& e) : net(e) { net.step(300); }

  std::vector<std::byte> state() { return net.engine->state(0); }
  /// Throws ConfigError if the checkpoint is rejected.
  void load_into(Network& other, const std::vector<std::byte>& state) {
    std::stringstream file;
    Saver saver(file);
    saver(state, net.engine->counters(0), net.engine->row(0));
    for (const auto& feed : net.feeds) feed->save(saver);
    Loader loader(file);
    other.engine->set_now(net.engine->now());
    load_replica(loader, *other.engine, *other.plan, 0);
    check_loaded(*other.engine, *other.plan, 0);
    for (const auto& feed : other.feeds) feed->load(loader);
  }

  Network net;
};

/// Changes one number, or a few bytes, in a field of an item. Returns a description of the change.
std::string change_number(const StateLayout& layout, std::vector<std::byte>& state, std::mt19937_64& random) {
  const auto below = [&](u64 n) { return random() % n; };
  const u32 k = static_cast<u32>(below(layout.kinds.size()));
  const ItemKind& kind = layout.kinds[k];
  const FieldInfo& field = kind.fields[below(kind.fields.size())];
  const u64 item = below(kind.count), index = below(field.count);
  const std::size_t element =
      layout.kind_offset(k, 1) + item * kind.item_bytes + field.offset + index * field.element_bytes;
  const u64 values[] = {0, 1, 0xFF, 0xFFFF, kNone, ~u64{0}, random(), below(64), u64{1} << below(64)};
  const u64 value = values[below(std::size(values))];
  const std::size_t bytes = u64{1} << below(4), at = below(field.element_bytes) / bytes * bytes;
  std::memcpy(state.data() + element + at, &value, std::min<std::size_t>(bytes, field.element_bytes - at));
  std::ostringstream text;
  text << kind.name << ' ' << item << ' ' << field.name << '[' << index << "] byte " << at << " := " << value << '/'
       << bytes << "; ";
  return text.str();
}

TEST_P(ChangedCheckpoint, IsRefusedOrRuns) {
  // Factor for the number of trials. If it is set, each trial is printed before it runs.
  const char* more = std::getenv("FLITLAB_FORGED");
  const char* seed = std::getenv("FLITLAB_FORGED_SEED");
  const u32 trials = testing::trials(more ? 60 * static_cast<u32>(std::atoi(more)) : 60);
  u32 number = 0, refused = 0, ran = 0;
  const u64 first_seed = seed ? std::strtoull(seed, nullptr, 10) : 0;
  for (const Experiment& e : testing::variations(GetParam())) {
    Source source(e);
    const std::vector<std::byte> good = source.state();
    Network other(e);
    source.load_into(other, good);  // the unchanged state must be accepted
    EXPECT_EQ(other.engine->state_hash(0), source.net.engine->state_hash(0)) << number;
    std::mt19937_64 random(first_seed << 8 | ++number);
    for (u32 i = 0; i < trials; ++i) {
      std::vector<std::byte> state = good;
      std::string what;
      for (u64 n = 1 + random() % 4; n; --n) what += change_number(other.plan->layout(), state, random);
      if (more) std::cerr << GetParam() << ' ' << number - 1 << ' ' << i << ": " << what << std::endl;
      try {
        source.load_into(other, state);
      } catch (const ConfigError&) {
        ++refused;
        continue;
      }
      ++ran;
      try {
        other.step(50);
        check_conservation(*other.engine, *other.plan, 0);
      } catch (const RunError&) {
      } catch (const ConfigError&) {
      }
    }
  }
  EXPECT_GT(refused, 0u);
  EXPECT_GT(ran, 0u);
  RecordProperty("refused", static_cast<int>(refused));
  RecordProperty("ran", static_cast<int>(ran));
}

/// Position of a number in the last element of an item: a field, or a member of a field's record.
struct NumberPosition {
  std::size_t offset = 0;
  u32 bytes = 0;  ///< size; 0: no such name, or a bit field
  u32 element = 0;
};

NumberPosition last_of(const ItemKind& kind, const std::string& where) {
  for (const FieldInfo& field : kind.fields) {
    const std::string name = kind.name + "." + std::string(field.name);
    const std::size_t element = field.offset + std::size_t{field.count - 1} * field.element_bytes;
    if (where == name && field.element->members.empty()) return {element, field.element_bytes, field.count - 1};
    for (const MemberInfo& member : field.element->members)
      if (where == name + "." + std::string(member.name) && !member.mask && member.element->members.empty())
        return {element + member.offset, member.element->bytes, field.count - 1};
  }
  return {};
}

/// flitlab finds a number that is out of bounds in the first item and in the last one. The error message gives its
/// location.
TEST_P(ChangedCheckpoint, WhatIsOutOfBoundsIsNamed) {
  const Experiment e = testing::variations(GetParam()).front();
  Source source(e);
  Network other(e);
  const StateLayout& layout = other.plan->layout();
  u32 tried = 0;
  for (const Bound& bound : other.plan->bounds())
    for (u32 k = 0; !bound.record_holds && k < layout.kinds.size(); ++k) {
      const ItemKind& kind = layout.kinds[k];
      const NumberPosition position = last_of(kind, bound.where);
      const u64 all = position.bytes == 8 ? ~u64{0} : (u64{1} << 8 * position.bytes) - 1;
      for (u32 item : {0u, kind.count - 1}) {
        if (!position.bytes || bound.holds(all, item, position.element)) continue;
        std::vector<std::byte> state = source.state();
        const std::size_t at = layout.kind_offset(k, 1) + std::size_t{item} * kind.item_bytes + position.offset;
        std::memcpy(state.data() + at, &all, position.bytes);
        ++tried;
        try {
          source.load_into(other, state);
          ADD_FAILURE() << bound.where;
        } catch (const ConfigError& error) {
          EXPECT_NE(std::string(error.what()).find(std::to_string(item) + " cannot be "), std::string::npos)
              << bound.where << ": " << error.what();
        }
      }
    }
  EXPECT_GT(tried, 6u);
}

/// S-Connect's queues are linked lists of buffers. A buffer that is marked as waiting must be in one of the lists.
TEST(ChangedQueues, BufferThatWaitsIsInAQueue) {
  const Experiment e = testing::variations("sconnect").front();
  Source source(e);
  Network other(e);
  const StateLayout& layout = other.plan->layout();
  u32 tried = 0;
  for (u32 k = 0; k < layout.kinds.size(); ++k) {
    const ItemKind& kind = layout.kinds[k];
    const NumberPosition flags = last_of(kind, "router.buffer.flags");
    for (u32 item = 0; flags.bytes && item < kind.count; ++item) {
      std::vector<std::byte> state = source.state();
      std::byte& last = state[layout.kind_offset(k, 1) + std::size_t{item} * kind.item_bytes + flags.offset];
      if ((last & std::byte{sconnect::kWaiting}) != std::byte{}) continue;
      EXPECT_NO_THROW(source.load_into(other, state));
      last |= std::byte{sconnect::kWaiting};
      EXPECT_THROW(source.load_into(other, state), ConfigError) << item;
      ++tried;
    }
  }
  EXPECT_GT(tried, 0u);
}

/// S-Connect's hosts have cursors that advance until they reach the next creation. A cursor beyond it would never stop,
/// so flitlab rejects it.
TEST(ChangedQueues, CursorsAreNotBehindTheNextCreation) {
  const Experiment e = testing::variations("sconnect")[2];
  Source source(e);
  Network other(e);
  const StateLayout& layout = other.plan->layout();
  const ItemKind& kind = layout.kinds[1];
  const std::vector<std::byte> good = source.state();
  EXPECT_NO_THROW(source.load_into(other, good));
  for (u32 item = 0; item < kind.count; ++item)
    for (u32 queue = 0; queue < kind.field("host_queue").count; ++queue) {
      const std::size_t at = layout.kind_offset(1, 1) + std::size_t{item} * kind.item_bytes;
      TerminalControl control;
      std::memcpy(&control, good.data() + at + kind.field("control").offset, sizeof control);
      std::vector<std::byte> state = good;
      const u32 behind = control.next.index + 1;
      std::memcpy(state.data() + at + kind.field("host_queue").offset + queue * sizeof(sconnect::HostQueue) +
                      offsetof(sconnect::HostQueue, oldest) + offsetof(SourceCursor, index),
                  &behind, sizeof behind);
      EXPECT_THROW(source.load_into(other, state), ConfigError) << item << " " << queue;
    }
}

/// In a closed loop S-Connect's hosts search for an unused transaction until they find one, so flitlab checks that
/// there is one.
TEST(ChangedQueues, TransactionsAreThoseOutstanding) {
  const Experiment e = testing::experiment("router.kind=sconnect traffic.mode=request_reply traffic.load=1.0");
  Source source(e);
  Network other(e);
  const StateLayout& layout = other.plan->layout();
  const ItemKind& kind = layout.kinds[1];
  const std::vector<std::byte> good = source.state();
  EXPECT_NO_THROW(source.load_into(other, good));
  const auto changed_state = [&](u32 item, const char* field, std::size_t offset, u32 value) {
    std::vector<std::byte> state = good;
    std::memcpy(state.data() + layout.kind_offset(1, 1) + std::size_t{item} * kind.item_bytes +
                    kind.field(field).offset + offset,
                &value, sizeof value);
    return state;
  };
  for (u32 item : {0u, kind.count - 1}) {
    EXPECT_THROW(source.load_into(other, changed_state(item, "loop", offsetof(LoopControl, outstanding), 0)),
                 ConfigError);
    EXPECT_THROW(source.load_into(other, changed_state(item, "control", offsetof(TerminalControl, created), 0)),
                 ConfigError);
    EXPECT_THROW(source.load_into(other, changed_state(item, "heard", offsetof(sconnect::ArrivedReply, tag), 4)),
                 ConfigError);
    EXPECT_THROW(source.load_into(other, changed_state(item, "reply", offsetof(QueuedReply, tag), 4)), ConfigError);
    EXPECT_THROW(source.load_into(other, changed_state(item, "reply", offsetof(QueuedReply, to), kind.count)),
                 ConfigError);
  }
}

/// A source searches its transactions for the number of the next request. If a number is a duplicate, another number is
/// missing, so flitlab rejects the state.
TEST(ChangedQueues, RequestsThatWaitHaveNumbersOfTheirOwn) {
  const Experiment e =
      testing::experiment("traffic.mode=request_reply traffic.load=1.0 traffic.window=16 traffic.packet_flits=20");
  Source source(e);
  Network other(e);
  const StateLayout& layout = other.plan->layout();
  const ItemKind& kind = layout.kinds[1];
  const std::vector<std::byte> good = source.state();
  EXPECT_NO_THROW(source.load_into(other, good));
  u32 tried = 0;
  for (u32 item = 0; item < kind.count; ++item) {
    std::vector<std::byte> state = good;
    std::byte* terminal = state.data() + layout.kind_offset(1, 1) + std::size_t{item} * kind.item_bytes;
    TerminalControl control;
    std::memcpy(&control, terminal + kind.field("control").offset, sizeof control);
    if (control.created - control.sent < 2) continue;
    ++tried;
    auto* transactions = reinterpret_cast<Transaction*>(terminal + kind.field("transaction").offset);
    for (u32 i = 0; i < kind.field("transaction").count; ++i)
      if (transactions[i].id == control.sent) transactions[i].id = control.sent + 1;
    EXPECT_THROW(source.load_into(other, state), ConfigError) << item;
  }
  EXPECT_GT(tried, 0u);
}

TEST(ChangedRow, SeedAndLoadAreThoseOfTheConfiguration) {
  const Experiment e = testing::experiment();
  Network net(e), other(e);
  net.step(100);
  const auto load = [&](const ReplicaRow& row) {
    std::stringstream file;
    Saver saver(file);
    saver(net.engine->state(0), net.engine->counters(0), row);
    Loader loader(file);
    load_replica(loader, *other.engine, *other.plan, 0);
    check_loaded(*other.engine, *other.plan, 0);
  };
  ReplicaRow row = net.engine->row(0);
  row.window_begin = 50;
  row.window_end = 500;
  EXPECT_NO_THROW(load(row));
  EXPECT_EQ(other.engine->row(0).window_end, 500u);
  ReplicaRow seed = row, period = row;
  ++seed.seed;
  period.period += 1;
  EXPECT_THROW(load(seed), ConfigError);
  EXPECT_THROW(load(period), ConfigError);
}

TEST(Bounds, OfWhatNoStateHasAreAMistakeOfTheModel) {
  const Experiment e = testing::experiment();
  const Network net(e);
  const std::vector<std::byte> state = net.engine->state(0);
  const StateLayout& layout = net.plan->layout();
  for (const char* where : {"rooter.input.first", "router.inputs.first", "router.input.frist", "router.input.first.of"})
    EXPECT_THROW(check_bounds(layout, {{where, below(1)}}, state), std::logic_error) << where;
  EXPECT_THROW(check_bounds(layout, {{"router.input", below(1)}}, state), std::logic_error);
  EXPECT_THROW(check_bounds(layout, {record_bound<u8>("router.input.first", [](u8, u32, u32) { return true; })}, state),
               std::logic_error);
  EXPECT_NO_THROW(check_bounds(layout, {{"router.input_matrix", below(1)}}, state));  // not in this router
}

INSTANTIATE_TEST_SUITE_P(Models, ChangedCheckpoint, ::testing::ValuesIn(testing::kinds()),
                         [](const auto& kind) { return kind.param; });

}  // namespace
}  // namespace flitlab::run_forged_test
