#pragma once
/// The special network of the second implementation of the T3E (naive.hpp), and registers as software writes and reads
/// them.
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "tests/support/t3e/naive_barriers.hpp"

namespace flitlab::testing::t3e_naive {

enum class Register { kChan, kVcsel, kLut, kOverride, kScratch, kReturn, kLogical, kOrient };

/// An action of software. Either the PE of `node` sends a special packet, or the host writes a register of the node
/// between two cycles.
struct Command {
  enum Kind { kPut, kGet, kWrite };
  Cycle at;
  Kind kind;
  u32 node;
  std::array<int, 6> deltas;  // hops of a special packet, in the order in which it takes them
  Register name;
  u32 index;
  u64 value;
};

struct Answer {
  u32 ticket, node;
  u64 value;
  Cycle at;
  bool operator==(const Answer&) const = default;
};

class NaiveSpecial : public NaiveBarriers {
 public:
  NaiveSpecial(const Experiment& e, const T3ePlan& plan)
      : NaiveBarriers(e, plan),
        special_delay_(e.u32_of(t3e::param::special.router_delay)),
        special_to_pe_(e.u32_of(t3e::param::router.destination_delay)),
        orient_inverts_(e.flag(t3e::param::router.orient_inverts)),
        wired_(plan.machine().wired),
        software_(nodes()) {}

  void command(const Command& c) {
    if (c.kind == Command::kWrite)
      write_register(c.node, c.name, c.index, c.value);
    else
      software_[c.node].queue.push_back(
          {c.kind, c.node, c.kind == Command::kGet ? ++tickets_ : 0, c.deltas, c.name, c.index, c.value, false});
  }

  std::vector<Answer> answers;
  u64 special_sent = 0, special_arrived = 0, special_lost = 0;

 protected:
  void run_special() {
    for (const auto& [node, packet] : special_to_pes_[now_]) {
      answers.push_back({packet.ticket, node, packet.value, now_});
      ++special_arrived;
    }
    special_to_pes_.erase(now_);
    for (u32 n = 0; n < nodes(); ++n) {
      std::deque<Special>& queue = software_[n].queue;
      if (queue.empty()) continue;
      special_to_routers_[now_ + from_pe_][{n, kPe}] = queue.front();
      queue.pop_front();
      ++special_sent;
    }
    for (const auto& [receiver, write] : orientations_[now_]) receive_orientation(receiver.first, write);
    orientations_.erase(now_);
    for (const auto& [receiver, packet] : special_to_routers_[now_])
      pass_special(receiver.first, receiver.second, packet);
    special_to_routers_.erase(now_);
  }

 private:
  struct Special {
    Command::Kind kind;
    u32 src, ticket;
    std::array<int, 6> deltas;
    Register name;
    u32 index;
    u64 value;
    bool answer;
  };
  struct OrientWrite {
    u32 orient, number;
  };
  struct Software {
    u64 scratch = 0, answers_go = 0;
    u32 orientations = 0;  // number, modulo 16, of the last R_ORIENT write that reached the node
    std::deque<Special> queue;
  };

  void write_register(u32 n, Register name, u32 index, u64 value) {
    t3e::Registers& r = registers_[n];
    const auto tag = static_cast<t3e::Tag>(value % (1u << 19));
    switch (name) {
      case Register::kChan: r.chan[index] = static_cast<u8>(value % (index < kPe ? 16 : 4)); break;
      case Register::kVcsel:
        r.vcsel[index] = static_cast<u16>(value % 256 + (value >> 32 & 1 ? t3e::kDateline : 0));
        break;
      case Register::kLut: tags_[n].at(index) = tag; break;
      case Register::kOverride:
        r.override_tag = tag;
        r.lut_mode = static_cast<u8>(value >> 32 & 3);
        break;
      case Register::kScratch: software_[n].scratch = value; break;
      case Register::kReturn: software_[n].answers_go = value % (u64{1} << 48); break;
      case Register::kLogical: r.lwho = static_cast<u16>(value % 4096); break;
      case Register::kOrient: set_orientation(n, {static_cast<u32>(value % 8), software_[n].orientations + 1}); break;
    }
  }

  u64 read_register(u32 n, Register name, u32 index) const {
    const t3e::Registers& r = registers_[n];
    switch (name) {
      case Register::kChan: return r.chan[index];
      case Register::kVcsel: return r.vcsel[index] % 256 + (r.vcsel[index] & t3e::kDateline ? u64{1} << 32 : 0);
      case Register::kLut: return tags_[n].at(index);
      case Register::kOverride: return r.override_tag + (u64{r.lut_mode} << 32);
      case Register::kScratch: return software_[n].scratch;
      case Register::kReturn: return software_[n].answers_go;
      case Register::kLogical: return r.lwho;
      case Register::kOrient: return r.turned ^ wired_[n];
    }
    return 0;
  }

  /// Applies a write of R_ORIENT, which propagates from neighbour to neighbour to all nodes. If a link joins ports of
  /// the same number, its two nodes are wired differently. Over such a link the bit of its dimension is inverted.
  void set_orientation(u32 n, OrientWrite write) {
    software_[n].orientations = write.number % 16;
    registers_[n].turned = static_cast<u8>(write.orient ^ wired_[n]);
    for (u32 port = 0; port < kPe; ++port) {
      if (!exists(n, port) || is_broken(n, port)) continue;
      const Peer& peer = topology_.peer(n, port);
      const u32 differs = (wired_[n] ^ wired_[peer.item]) & 1u << dimension(port);
      orientations_[now_ + special_delay_][{peer.item, peer.port}] = {
          orient_inverts_ ? write.orient ^ differs : write.orient, write.number % 16};
    }
  }
  void receive_orientation(u32 n, OrientWrite write) {
    const u32 ahead = (write.number + 16 - software_[n].orientations) % 16;
    if (ahead > 0 && ahead < 8) set_orientation(n, write);
  }

  /// Removes the next hop from a packet's deltas. Returns its direction, kPe if no hop is left.
  static u32 next_direction(std::array<int, 6>& deltas) {
    for (u32 i = 0; i < 6; ++i) {
      if (deltas[i] == 0) continue;
      const bool minus = deltas[i] < 0;
      deltas[i] += minus ? 1 : -1;
      return minus ? i % 3 + 3 : i % 3;
    }
    return kPe;
  }

  void pass_special(u32 n, u32 port, Special packet) {
    u32 direction = next_direction(packet.deltas);
    if (direction != kPe) {
      if (is_set(n, oriented(n, port), t3e::kIgnoreSpecial)) return lose();
    } else if (!packet.answer) {
      ++special_arrived;
      if (packet.kind == Command::kPut) return write_register(n, packet.name, packet.index, packet.value);
      packet.value = read_register(n, packet.name, packet.index);
      packet.answer = true;
      for (u32 i = 0; i < 6; ++i) {
        const auto byte = static_cast<int>(software_[n].answers_go >> 8 * i & 0xFF);
        packet.deltas[i] = byte < 128 ? byte : byte - 256;
      }
      direction = next_direction(packet.deltas);
      ++special_sent;
    }
    const u32 out = oriented(n, direction);
    if (!exists(n, out) || is_broken(n, out) || !busy()[n].insert(out).second) return lose();
    happened_.push_back({n, EventKind::kOwn, port, 0, out, 0, packet.src, packet.ticket, 3, 1});
    const Peer& peer = topology_.peer(n, out);
    if (out == kPe)
      special_to_pes_[now_ + special_to_pe_][n] = packet;
    else
      special_to_routers_[now_ + special_delay_][{peer.item, peer.port}] = packet;
  }
  void lose() { ++special_lost; }

  u32 special_delay_, special_to_pe_;
  bool orient_inverts_;
  std::vector<u8> wired_;
  std::vector<Software> software_;
  u32 tickets_ = 0;
  std::map<Cycle, std::map<Place, Special>> special_to_routers_;
  std::map<Cycle, std::map<u32, Special>> special_to_pes_;
  std::map<Cycle, std::map<Place, OrientWrite>> orientations_;
};

}  // namespace flitlab::testing::t3e_naive
