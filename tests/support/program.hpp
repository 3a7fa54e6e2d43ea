#pragma once
/// Message-passing programs from text, and the smallest network that can run them.
#include <memory>
#include <string>
#include <vector>

#include "host/programs/program.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/engines/state_layout.hpp"
#include "kernels/traffic/program.hpp"
#include "kernels/traffic/terminal_state.hpp"

namespace flitlab::testing {

inline Program program(const std::string& text, u32 terminals, const PacketFormat& format = {}) {
  const auto owner = std::make_shared<const std::string>(text);
  return read_program(TextSource("p.csv", {owner, *owner}), terminals, format);
}

/// Returns by how many cycles the packet that leaves a terminal in a cycle is late: 0 to `jitter`.
inline Cycle more_delay(u32 terminal, Cycle now, Cycle jitter) {
  return jitter ? philox(now, terminal, 0, 99).word[0] % (jitter + 1) : 0;
}

/// A network of terminals whose interfaces accept one packet per cycle. Every packet takes `delay` cycles, or up to
/// `jitter` more: packets may overtake each other. A terminal is visited only when a packet arrives, when it has a
/// packet to send, and when it wakes up.
template <int W = 1>
class FixedDelay {
 public:
  struct View {
    struct {
      struct {
        ProgramTable program;
      } traffic;
      struct {
        ProgramFields program;
      } terminal_fields;
    } t;
    CounterShard* shard;
  };
  struct Flight {
    u32 to, slot;
    Cycle at;
  };
  struct Handed {
    u32 from;
    Cycle at;
    ProgramPacket packet;
  };

  FixedDelay(const Program& program, Cycle delay, u32 send_overhead = 0, u32 recv_overhead = 0,
             const PacketFormat& format = {}, Cycle jitter = 0)
      : program_(program), delay_(delay), jitter_(jitter) {
    const u32 terminals = static_cast<u32>(program_.first.size() - 1) / program_.ranks;
    v_.t.traffic.program = {terminals,
                            program_.first.data(),
                            program_.calls.data(),
                            program_.slots,
                            format,
                            send_overhead,
                            recv_overhead,
                            0,
                            program_.ranks,
                            program_.processor.data(),
                            program_.processors,
                            program_.receives,
                            program_.first_receive.data(),
                            program_.receive.data(),
                            program_.first_message.data(),
                            program_.message.data()};
    v_.shard = &shard_;
    kind_.count = terminals;
    kind_.add_fields(v_.t.terminal_fields.program,
                     TerminalSize{TrafficMode::kProgram, 0, 0, 0, 0, 0, program_.slots, 1, 0, program_.ranks,
                                  program_.processors, 0, program_.receives});
    kind_.finish();
    state_.resize(kind_.bytes(W));
    wakes_.assign(terminals, 0);
  }

  void step() {
    std::vector<Flight> later;
    for (const Flight& f : flights_) {
      if (f.at == now_) {
        program_packet_arrived(v_, item(f.to), f.to, f.slot);
        wakes_[f.to] = now_;
      } else {
        later.push_back(f);
      }
    }
    flights_ = std::move(later);
    for (u32 i = 0; i < kind_.count; ++i)
      if (wakes_[i] <= now_) visit(i);
    ++now_;
  }

  /// Steps until all programs end, at most `limit` cycles. Returns the cycle in which each program ended.
  std::vector<Cycle> ends(u32 limit = 1000000) {
    while (total(Total::kProgramsFinished) < kind_.count && now_ < limit) step();
    std::vector<Cycle> ends;
    for (u32 i = 0; i < kind_.count; ++i) {
      Cycle end = 0;
      for (u32 rank = 0; rank < program_.ranks; ++rank)
        end = std::max(end, control(i, rank).done ? control(i, rank).finished : kNever);
      ends.push_back(end);
    }
    return ends;
  }

  const std::vector<Handed>& handed() const { return handed_; }
  u64 visits() const { return visits_; }
  u64 total(TotalIndex t) const { return shard_.total[t.value]; }
  const ProgramControl& control(u32 i, u32 rank = 0) { return item(i).at(v_.t.terminal_fields.program.control, rank); }

 private:
  Item<W> item(u32 i) { return Items<W>{state_.data(), kind_.item_bytes}[i]; }

  void visit(u32 i) {
    ++visits_;
    run_program(v_, item(i), i, now_);
    ProgramPacket packet;
    bool more = false;
    if (next_program_packet(v_, item(i), i, now_, packet)) {
      program_packet_taken(v_, item(i), i, now_);
      flights_.push_back({packet.destination, packet.slot, now_ + delay_ + more_delay(i, now_, jitter_)});
      handed_.push_back({i, now_, packet});
      more = next_program_packet(v_, item(i), i, now_, packet);
    }
    wakes_[i] = more ? now_ + 1 : std::max(now_ + 1, program_wakes(v_, item(i), i, now_));
  }

  Program program_;
  Cycle delay_, jitter_, now_ = 0;
  View v_{};
  CounterShard shard_{};
  ItemKind kind_;
  std::vector<std::byte> state_;
  std::vector<Cycle> wakes_;
  std::vector<Flight> flights_;
  std::vector<Handed> handed_;
  u64 visits_ = 0;
};

}  // namespace flitlab::testing
