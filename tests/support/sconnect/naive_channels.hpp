#pragma once
/// Channels of the second implementation of S-Connect (naive.hpp): transmitters and receivers of a TIC's ports.
#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/common/philox.hpp"
#include "kernels/routers/sconnect/params.hpp"
#include "kernels/routers/sconnect/streams.hpp"
#include "kernels/routers/sconnect/totals.hpp"
#include "tests/support/sconnect/naive_parts.hpp"
#include "tests/support/sconnect/naive_queues.hpp"

namespace flitlab::testing {

class NaiveChannels : public NaiveQueues {
 public:
  NaiveChannels(const Experiment& e, const SconnectPlan& plan, const ReplicaRow& row)
      : NaiveQueues(e, plan), row_(row) {
    const double whole = std::pow(1 - e.f64(sconnect::param::channel.error_rate), 96);
    threshold_ = static_cast<u32>((1 - whole) * 4294967296.0);
  }

  Cycle now() const { return now_; }

 protected:
  static void error(u32& error) { error += error < 65535; }

  // Transmitters.

  /// Returns the next message that a port sends: highest priority first, and virtual channels in turn.
  static MessageRef serve(NaiveTicPort& port) {
    for (u32 priority = 4; priority-- > 0;) {
      auto& queues = port.queue[priority];
      if (queues[0].empty() && queues[1].empty()) continue;
      const u32 vc = queues[port.turn].empty() ? 1 - port.turn : port.turn;
      port.turn = 1 - vc;
      return take(queues[vc]);
    }
    return nullptr;
  }

  void requeue(NaiveTicPort& port, u32 p, const MessageRef& m) {
    m->failures = std::min(m->failures + 1, 255u);
    m->back = p;
    port.back = m;
    error(port.failed);
    count(sconnect::Count::kFailed);
  }

  /// Reroutes messages that wait for a port that is off, one per cycle.
  static void turn_away(NaiveTicPort& port, u32 p) {
    port.last_arrival.reset();
    for (u32 priority = 4; priority-- > 0;)
      for (u32 vc = 2; vc-- > 0;) {
        auto& queue = port.queue[priority][vc];
        if (queue.empty()) continue;
        port.back = take(queue);
        port.back->back = p;
        return;
      }
  }

  /// Processes the answer to the message that was sent in this slot one round ago. Returns whether the message is sent
  /// again in this slot.
  bool settle(NaiveTic& tic, NaiveTicPort& port, u32 p, NaiveSlot& slot) {
    if (!slot.held) return false;
    const bool quad = slot.held->flits == 4;
    if (slot.too_soon) {
      slot.too_soon = false;
      return false;
    }
    if (!port.last_arrival || port.last_arrival->hit) {
      if (quad) return false;
      error(port.lost);
      count(sconnect::Count::kAnswersLost);
      return true;
    }
    if (port.last_arrival->answer != slot.sent) {
      slot.sent ^= 1;
      free(tic, slot.held);
    } else {
      requeue(port, p, slot.held);
    }
    slot.held.reset();
    return false;
  }

  /// Returns the message as the far end receives it. The channel does not transmit the mark that a message is damaged.
  /// Only an abort bit shows it, which a quad carries in its last part.
  static NaiveMessage on_its_way(const NaiveMessage& m) {
    NaiveMessage copy = m;
    copy.damaged = false;
    copy.vc = m.next_vc;
    copy.back.reset();
    ++copy.hops;
    return copy;
  }

  void transmit(u32 n, u32 p) {
    NaiveTic& tic = tics_[n];
    NaiveTicPort& port = tic.port[p];
    const u32 round = port.slots.size(), here = now_ % round;
    NaiveSlot& slot = port.slots[here];
    const bool again = settle(tic, port, p, slot);
    port.last_arrival.reset();
    NaiveParcel parcel;
    const auto carry = [&](const NaiveMessage& m, u32 sequence) {
      parcel.carries = true;
      parcel.quad = m.flits == 4;
      parcel.sequence = sequence;
      parcel.message = on_its_way(m);
      ++port.carried;
      count(sconnect::Count::kSlotsSent);
    };
    if (port.leaving) {
      NaiveSlot& first = port.slots[port.leaving_slot];
      const MessageRef m = port.leaving;
      carry(*m, first.sent);
      if (++port.parts == 4) {
        parcel.last = true;
        port.leaving.reset();
        if (m->damaged) {
          parcel.abort = true;
          first.held.reset();
          first.too_soon = false;
          annihilate(tic, m);
        }
      }
    } else if (again) {
      carry(*slot.held, slot.sent);
      count(sconnect::Count::kSentAgain);
    } else if (slot.held) {
      parcel.answer_requested = true;
    } else if (const MessageRef m = serve(port)) {
      carry(*m, slot.sent);
      if (m->flits == 4) {
        port.leaving = m;
        port.parts = 1;
        port.leaving_slot = here;
        slot.held = m;
        slot.too_soon = true;
      } else if (m->damaged) {
        parcel.abort = true;
        annihilate(tic, m);
      } else {
        slot.held = m;
      }
    }
    if (!parcel.carries && !parcel.answer_requested && !port.reply) {
      port.out->push_back(std::nullopt);
      return;
    }
    port.reply = false;
    parcel.answer = port.slots[(now_ + round - 1) % round].taken;
    parcel.hit = port.link.kind == LinkKind::kSerial &&
                 philox(row_.seed, sconnect::stream::kError, 8 * n + p, now_).word[0] < threshold_;
    port.out->push_back(parcel);
  }

  // Receivers.

  void receive(NaiveTic& tic, u32 p, const std::optional<NaiveParcel>& arrival) {
    NaiveTicPort& port = tic.port[p];
    for (const MessageRef& m : port.damaged_arrivals) {
      if (!m->waiting) continue;
      for (NaiveTicPort& other : tic.port)
        for (auto& vcs : other.queue)
          for (auto& queue : vcs) queue.remove(m);
      m->waiting = false;
      free(tic, m);
    }
    port.damaged_arrivals.clear();
    port.last_arrival = arrival;
    const bool hit = arrival && arrival->hit;
    if (hit) {
      error(port.damaged);
      count(sconnect::Count::kSlotsHit);
    }
    receive_part(tic, p, arrival);
    if (arrival && arrival->carries && !arrival->quad) receive_single(tic, p, *arrival);
    port.reply = arrival && (arrival->carries || arrival->answer_requested || hit);
  }

  void refuse(NaiveTicPort& port) {
    error(port.refused);
    count(sconnect::Count::kRejected);
  }

  void receive_single(NaiveTic& tic, u32 p, const NaiveParcel& parcel) {
    NaiveTicPort& port = tic.port[p];
    NaiveSlot& slot = port.slots[now_ % port.slots.size()];
    const NaiveMessage& m = parcel.message;
    if (parcel.abort) return;
    if (parcel.sequence != slot.taken) {
      if (!parcel.hit) count(sconnect::Count::kDuplicates);
      return;
    }
    const MessageRef stored = store(tic, m, p);
    if (parcel.hit) {
      if (!stored) return;
      port.damaged_arrivals.push_back(stored);
      stored->damaged = true;
    } else if (!stored) {
      refuse(port);
    } else {
      slot.taken ^= 1;
    }
  }

  void receive_part(NaiveTic& tic, u32 p, const std::optional<NaiveParcel>& arrival) {
    NaiveTicPort& port = tic.port[p];
    const u32 here = now_ % port.slots.size();
    const bool part = arrival && !arrival->hit && arrival->carries && arrival->quad;
    if (!port.train) {
      if (!part || arrival->last) return;
      port.train = NaiveTrain{here, 1, false, nullptr};
      port.train->message = store(tic, arrival->message, p);
      if (!port.train->message) refuse(port);
      return;
    }
    NaiveTrain& train = *port.train;
    ++train.parts;
    train.damaged_train |= !part || arrival->abort;
    const bool last = part && arrival->last;
    if (!last && train.parts < 4) return;
    const MessageRef m = train.message;
    NaiveSlot& first = port.slots[train.slot];
    const bool whole = last && train.parts == 4 && !train.damaged_train;
    port.train.reset();
    if (!m) return;
    if (whole && arrival->sequence == first.taken) {
      first.taken ^= 1;
      return;
    }
    m->damaged = true;
    port.damaged_arrivals.push_back(m);
  }

  ReplicaRow row_;
  u32 threshold_ = 0;  // a random number below it hits a slot
  Cycle now_ = 0;
};

}  // namespace flitlab::testing
