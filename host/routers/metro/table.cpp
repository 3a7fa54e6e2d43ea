#include "host/routers/metro/table.hpp"

#include <algorithm>
#include <bit>

#include "kernels/common/error.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/routers/metro/params.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab::metro {
namespace {

/// Returns the length of the shortest message, or of the shortest reply, words. `lengths`: the parameter of their
/// lengths.
u32 shortest_of(const Experiment& e, const ParamRecord& lengths) {
  u32 shortest = kLongestPacket;
  for (const auto& [words, weight] : e.lengths(lengths))
    if (weight > 0) shortest = std::min(shortest, static_cast<u32>(words));
  return shortest;
}

}  // namespace

u32 words_for(u32 bits, u32 word_bits) { return (bits + word_bits - 1) / word_bits; }

u32 longest_wire(const Experiment& e, const MetroNetwork& network) {
  u32 longest = e.u32_of(param::topology.entry_delay);
  for (const Wire& wire : network.wires) longest = std::max<u32>(longest, wire.delay);
  return longest;
}

u32 longest_reply(const Experiment& e) {
  u32 longest = 0;
  if (e.has(flitlab::param::traffic.reply_flits))
    for (const auto& [words, weight] : e.lengths(flitlab::param::traffic.reply_flits))
      longest = std::max(longest, static_cast<u32>(words));
  return longest;
}

u32 inbox_slots(const Table& t, u32 longest_wire) { return std::bit_ceil(t.stages + longest_wire + 1); }

u32 back_drop_delay(const Table& t, const Experiment& e, u32 stage, u32 deciding_word) {
  const u32 hop = t.stages + e.u32_of(param::topology.wire_delay);
  return 2 * e.u32_of(param::topology.entry_delay) + deciding_word + 2 * stage * hop + t.stages;
}

/// The routers and the destination answer one after the other. 64 cycles are a margin for the ends of earlier
/// connections.
u32 answer_timeout(const Table& t, u32 longest_wire, u32 longest_reply) {
  return 2 * (t.most_stages + 1) * (t.stages + longest_wire) + t.crc_words + longest_reply + t.traffic.reply_delay + 64;
}

void set_network(Table& t, const MetroNetwork& network, u32 routers) {
  t.routers = routers;
  t.terminals = network.terminals;
  t.inputs = network.inputs;
  t.outputs = network.outputs;
  t.links = network.links;
  t.most_stages = network.stages;
  t.wires = network.wires.data();
  t.setup = network.setup.data();
  t.endpoint_wires = network.endpoint_wires.data();
}

void set_router(Table& t, const Experiment& e) {
  t.slices = e.u32_of(param::router.cascade);
  t.width = e.u32_of(param::router.width);
  t.stages = e.u32_of(param::router.pipeline_stages);
  t.header_words = e.u32_of(param::router.header_words);
  t.random_inputs = e.u32_of(param::router.random_inputs);
  t.shared_random = e.flag(param::router.shared_random);
  t.in_use_check = e.flag(param::router.in_use_check);
}

void set_endpoint(Table& t, const Experiment& e) {
  t.stalls = e.flag(param::endpoint.stalls) || e.is({flitlab::param::traffic.mode, "request_reply"});
  if (!e.is_auto(param::endpoint.think_cycles)) t.think_cycles = e.u32_of(param::endpoint.think_cycles);
  t.backoff = e.is({param::endpoint.retry, "backoff"});
  if (t.backoff) {
    t.backoff_cycles = e.u32_of(param::endpoint.backoff_cycles);
    t.backoff_doublings = static_cast<u8>(e.u32_of(param::endpoint.backoff_doublings));
  }
  t.source_closes = e.is({param::endpoint.closed_by, "source"});
  t.most_attempts = e.u32_of(param::endpoint.most_attempts);
  t.crc = kCrcs[static_cast<u32>(e.choice<Checksum>(param::endpoint.checksum))];
}

void set_words(Table& t) {
  const u32 word = t.word_bits();
  t.source_words = words_for(static_cast<u32>(std::bit_width(t.terminals - 1)), word);
  t.serial_words = words_for(8, word);
  t.crc_words = words_for(t.crc.bits, word);
}

void check_lengths(const Table& t, const Experiment& e) {
  const ParamRecord &messages = flitlab::param::traffic.packet_flits, &replies = flitlab::param::traffic.reply_flits;
  if (e.has(flitlab::param::traffic.packet_length) && e.is({flitlab::param::traffic.packet_length, "geometric"}))
    throw ConfigError(
        "traffic.packet_length = \"geometric\" makes messages of one word, which have no room for the number of their "
        "source (router.kind = \"metro\"). Use \"list\".");
  if (const u32 reply = std::max(1u, t.crc_words); e.has(replies) && shortest_of(e, replies) < reply)
    throw ConfigError("traffic.reply_flits: a reply of " + std::to_string(shortest_of(e, replies)) +
                      " words has no room for its check (endpoint.checksum). Give " + std::to_string(reply) +
                      " or more.");
  const u32 least = t.source_words + t.serial_words + t.crc_words;
  if (const u32 given = e.has(messages) ? shortest_of(e, messages) : least; given < least)
    throw ConfigError("traffic.packet_flits: a message of " + std::to_string(given) + " words is too short: of " +
                      std::to_string(t.word_bits()) + " bits each, " + std::to_string(t.source_words) +
                      " hold its source, " + std::to_string(t.serial_words) + " its serial number and " +
                      std::to_string(t.crc_words) + " its check (endpoint.checksum). Give " + std::to_string(least) +
                      " or more.");
}

void set_reclamation(std::vector<RouterSetup>& setup, const Experiment& e) {
  const bool fast = e.flag(param::router.fast_reclaim);
  const std::vector<u32> detailed =
      e.has(param::router.detailed_stages) ? e.ints(param::router.detailed_stages) : std::vector<u32>{};
  for (RouterSetup& router : setup)
    router.fast = fast && !std::count(detailed.begin(), detailed.end(), router.stage) ? kNone : 0;
}

}  // namespace flitlab::metro
