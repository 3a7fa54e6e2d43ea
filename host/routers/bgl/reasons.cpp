#include "host/routers/bgl/reasons.hpp"

#include <algorithm>

#include "kernels/common/bits.hpp"
#include "kernels/routers/bgl/arbitrate.hpp"

namespace flitlab {
namespace {

using NodeView = bgl::View<1, false, bgl::Table>;

NodeView view_of_node(const bgl::Table& t) { return {{t, nullptr, nullptr, {}}, {}, {}, {}}; }

constexpr u64 kHighest = bgl::kEveryReceiver;

}  // namespace

std::string bgl_vc_name(const bgl::Table& t, u32 vc) {
  if (vc < t.dynamic_vcs) return "dynamic " + std::to_string(vc);
  if (vc == t.high_vc) return "priority";
  return t.escape_vcs == 1 ? "bubble" : "escape " + std::to_string(vc - t.dynamic_vcs);
}

BglReasons::BglReasons(const BglPlan& plan, const std::vector<std::byte>& state, u32 node, Cycle now)
    : plan_(plan), t_(plan.table()), now_(now) {
  const std::byte* item = item_of(state, plan.layout(), 0, node).block;
  bytes_.assign(item, item + plan.layout().kinds[0].item_bytes);
  undo_grants();
}

/// Undoes the grants of the previous cycle, in reverse order: first the grants of links, because these are made after
/// the grants of reception FIFOs.
void BglReasons::undo_grants() {
  const Item<1> node{bytes_.data()};
  const NodeView view = view_of_node(t_);
  present_ = passing_ = node.at(t_.node_fields.control);
  std::fill(std::begin(winner_), std::end(winner_), kNone);
  for (u32 d = 0; d < 2 * t_.dims; ++d) {
    const u32 queue = node.at(t_.node_fields.sender_takes, d);
    if (!(present_.sending >> d & 1) || !has_begun(node.at(t_.node_fields.tail_leaves, d), queue)) continue;
    const bgl::Queue& state = bgl::queue_at(view, node, queue);
    const u32 chunks = bgl::chunks_of(state.route), index = d * t_.vcs + state.vc;
    winner_[d] = queue;
    passing_.links = static_cast<u8>(passing_.links | 1u << d);
    passing_.leaving &= ~bgl::bit(queue);
    bgl::set_tokens(view, node, d, state.vc,
                    node.at(t_.node_fields.tokens, index) + bgl::token_cost(t_, state.vc, chunks));
    if (!(state.route & bgl::kDeposit) || queue >= bgl::kInjectionQueue) continue;
    u8& room = passing_.reception_room[bgl::reception_fifo(queue >> 3, state.route)];
    room = static_cast<u8>(room + chunks);
    passing_.arriving &= ~bgl::bit(queue);
  }
  receiving_ = passing_;
  for (u64 left = passing_.arriving & ~present_.leaving; left; left &= left - 1) {
    const u32 queue = lowest_bit(left);
    const bgl::Queue& state = bgl::queue_at(view, node, queue);
    if (!has_begun(state.until, queue)) continue;
    received_ |= bgl::bit(queue);
    receiving_.arriving &= ~bgl::bit(queue);
    u8& room = receiving_.reception_room[bgl::reception_fifo(queue >> 3, state.route)];
    room = static_cast<u8>(room + bgl::chunks_of(state.route));
  }
}

/// Returns whether a transfer began in the previous cycle. `end`: cycle in which the transfer's tail leaves its queue.
bool BglReasons::has_begun(u16 end, u32 queue) const {
  const bgl::Queue& state = bgl::queue_at(view_of_node(t_), node(), queue);
  return static_cast<u16>(end - bgl::kChunkBytes * bgl::chunks_of(state.route) + 1) == static_cast<u16>(now_);
}

std::string BglReasons::name(u32 queue) const {
  if (queue >= bgl::kInjectionQueue) return "FIFO " + std::to_string(queue - bgl::kInjectionQueue);
  return plan_.port_name(queue >> 3) + " " + bgl_vc_name(t_, queue & 7);
}

std::string BglReasons::names(u64 queues) const {
  std::string all;
  for (; queues; queues &= queues - 1) all += (all.empty() ? "" : " and ") + name(lowest_bit(queues));
  return all;
}

Cycle BglReasons::time_of(u16 lower_half) const {
  return static_cast<Cycle>(now_ + static_cast<std::int16_t>(static_cast<u16>(lower_half - static_cast<u16>(now_))));
}

/// Returns all directions and VCs that choose() tries for a head, whether they are free or not.
std::vector<BglReasons::Way> BglReasons::ways_of(u32 queue) const {
  const u16 route = bgl::queue_at(view_of_node(t_), node(), queue).route;
  const bool high = route & bgl::kHighPriority;
  std::vector<Way> ways;
  for (u32 left = route & bgl::kDynamic && !high ? route & u32{bgl::kHints} : 0; left; left &= left - 1)
    for (u32 vc = 0; vc < t_.dynamic_vcs; ++vc) ways.push_back({lowest_bit(left), vc, false, false});
  const u32 direction = bgl::escape_direction(t_.order, route & bgl::kHints);
  const u32 vc = high ? t_.high_vc : bgl::escape_vc(t_, present_.address, route, direction);
  ways.push_back({direction, vc, (t_.bubble_set >> vc & 1) != 0, bgl::stays_in_ring(queue, direction, vc)});
  return ways;
}

bool BglReasons::can_take(const Way& way) const {
  return passing_.links >> way.direction & 1 &&
         bgl::enterable(view_of_node(t_), node(), way.direction, way.stays) >> way.vc & 1;
}

bool BglReasons::can_go(u32 queue) const {
  const auto ways = ways_of(queue);
  return std::any_of(ways.begin(), ways.end(), [this](const Way& way) { return can_take(way); });
}

std::string BglReasons::link_taken_by(u32 direction) const {
  const std::string link = plan_.port_name(direction);
  if (passing_.sending >> direction & 1)
    return link + " sends " + name(node().at(t_.node_fields.sender_takes, direction)) +
           ", whose tail leaves in cycle " + std::to_string(time_of(node().at(t_.node_fields.tail_leaves, direction)));
  if (!t_.protocol)
    return link + " finishes a packet" + (t_.acks ? " or sends tokens" : "") + ", until cycle " +
           std::to_string(time_of(node().at(t_.node_fields.tail_leaves, direction)) + t_.overhead);
  const bgl::LinkSender& sender = node().at(t_.link_fields.sender, direction);
  if (sender.repeating) return link + " retransmits unacknowledged packets";
  if (sender.kept + bgl::kFullPacket > t_.kept_chunks)
    return link + " has no space for a copy: " + std::to_string(sender.kept) + " chunks are unacknowledged";
  return link + " finishes a packet or sends an acknowledgment";
}

std::string BglReasons::missing_tokens(const Way& way) const {
  const u32 tokens = node().at(t_.node_fields.tokens, way.direction * t_.vcs + way.vc);
  const u32 needs = way.bubble && !way.stays ? 2 * bgl::kFullPacket : u32{bgl::kFullPacket};
  return plan_.port_name(way.direction) + " " + bgl_vc_name(t_, way.vc) + " has " + std::to_string(tokens) + " of " +
         std::to_string(needs) + " tokens" +
         (!way.bubble ? ""
          : way.stays ? " to advance along its ring"
                      : " to enter (bubble rule)");
}

/// Returns which links or tokens a head lacked, if it had no direction and VC to request.
std::string BglReasons::why_not(u32 queue) const {
  std::string all;
  u32 taken = 0;
  for (const Way& way : ways_of(queue)) {
    const bool link = passing_.links >> way.direction & 1;
    if (!link && taken >> way.direction & 1) continue;
    if (!link) taken |= 1u << way.direction;
    all += (all.empty() ? "" : "; ") + (link ? missing_tokens(way) : link_taken_by(way.direction));
  }
  return all;
}

/// Returns why a head did not get the direction and VC that it requested.
std::string BglReasons::why_denied(u32 queue) const {
  const bgl::Queue& state = bgl::queue_at(view_of_node(t_), node(), queue);
  const std::string request = plan_.port_name(state.direction) + " " + bgl_vc_name(t_, state.vc);
  const u32 winner = winner_[state.direction];
  // With router.arbitration_gap a head that was blocked requests one cycle late. The state does not show whether this
  // head was denied or has not requested yet, so the text gives both.
  if (t_.gap && queue < bgl::kInjectionQueue)
    return "can go by " + request + ": denied, or requests a cycle late (arbitration gap)";
  if (queue < bgl::kInjectionQueue)
    for (u32 d = 0; d < 2 * t_.dims; ++d)
      if (winner_[d] != kNone && winner_[d] >> 3 == queue >> 3)
        return "denied: requested " + request + ", but its receiver presented " + name(winner_[d]) +
               ", which was granted " + plan_.port_name(d);
  if (winner != kNone)
    return "denied: requested " + request + ", but " + name(winner) + " was granted " +
           plan_.port_name(state.direction);
  return "denied: requested " + request + ", but its receiver presented another head, which was denied";
}

/// Returns why a head was not granted its reception FIFO, or "" if it was.
std::string BglReasons::of_reception(const bgl::NodeControl& then, u32 queue) const {
  const bgl::Queue& state = bgl::queue_at(view_of_node(t_), node(), queue);
  const u32 receiver = queue >> 3, chunks = bgl::chunks_of(state.route);
  const u64 high_heads = kHighest << t_.high_vc;
  const u64 busy =
      then.arriving & u64{0xFF} << 8 * receiver & (state.route & bgl::kHighPriority ? high_heads : ~high_heads);
  if (busy) return "the bus to its reception FIFO is used by " + names(busy);
  const u32 room = then.reception_room[bgl::reception_fifo(receiver, state.route)];
  return room >= chunks
             ? ""
             : "its reception FIFO has space for " + std::to_string(room) + " of " + std::to_string(chunks) + " chunks";
}

std::string BglReasons::of(u32 queue) const {
  const bgl::Queue& state = bgl::queue_at(view_of_node(t_), node(), queue);
  const u64 queue_bit = bgl::bit(queue);
  if (present_.entering & queue_bit)
    return "on its way to the arbiters: requests in cycle " + std::to_string(time_of(state.until));
  if (present_.leaving & queue_bit)
    return "leaves by " + plan_.port_name(state.direction) + " " + bgl_vc_name(t_, state.vc) +
           (present_.arriving & queue_bit ? " and into its reception FIFO" : "") + "; its tail in cycle " +
           std::to_string(time_of(node().at(t_.node_fields.tail_leaves, state.direction)));
  if (present_.arriving & queue_bit)
    return "goes into its reception FIFO; its tail in cycle " + std::to_string(time_of(state.until));
  if (present_.here & queue_bit) {
    if (const std::string lack = of_reception(receiving_, queue); !lack.empty()) return lack;
    const u64 high_heads = kHighest << t_.high_vc;
    const u64 taken =
        received_ & u64{0xFF} << 8 * (queue >> 3) & (state.route & bgl::kHighPriority ? high_heads : ~high_heads);
    return taken ? "denied: " + names(taken) + " was granted the reception FIFO" : "requests its reception FIFO";
  }
  if (!(present_.waiting & queue_bit)) return "";
  if (queue < bgl::kInjectionQueue) {
    if (!bgl::has_bus(t_, passing_, queue >> 3))
      return "its receiver's " + std::to_string(t_.paths) + (t_.paths == 1 ? " bus carries " : " buses carry ") +
             names(passing_.leaving & u64{0xFF} << 8 * (queue >> 3));
    if (state.route & bgl::kDeposit)
      if (const std::string lack = of_reception(passing_, queue); !lack.empty())
        return "a copy stays here, and " + lack;
  }
  return can_go(queue) ? why_denied(queue) : why_not(queue);
}

}  // namespace flitlab
