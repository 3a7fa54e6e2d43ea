#pragma once
/// A routing cycle of the TICs of a block of GPU threads (kernels/common/block_lists.hpp): for each kind of work, a
/// list of the TICs that have it in the turn of a port. As in bulk.hpp, these lists hold undamaged single data
/// messages. TICs in any other situation, and all TICs if clocks are emulated, are in the list `general`: their
/// channels use the functions of a single TIC, in the same turns.
///
/// A turn has two parts. In the first, the port's transmitter releases the buffer of an accepted message and sends the
/// next message, or the port presents a message to its host. In the second, the port's receiver stores a message, or
/// the host offers one. TICs do not affect one another within a cycle. A TIC is in several lists of a part only if the
/// work on them changes different words: a release changes the counts of buffers, a transmission the queues.
#include "kernels/common/flat_lists.hpp"
#include "kernels/routers/sconnect/choice.hpp"
#include "kernels/routers/sconnect/host_port.hpp"
#include "kernels/routers/sconnect/plain.hpp"
#include "kernels/routers/sconnect/port_bytes.hpp"
#include "kernels/routers/sconnect/receive.hpp"
#include "kernels/routers/sconnect/transmit.hpp"

namespace flitlab::sconnect {

/// What the parts of a block's step know of its TICs.
struct TicLists {
  static constexpr u32 kHostPorts = kPorts - kSerial;
  using List = FlatEntries<u16, kGpuBlock>;

  List general;                              ///< TICs that need the functions of a single TIC
  List creating;                             ///< TICs whose hosts have due packets
  List releasing[kPorts];                    ///< `[port]` TICs whose message was accepted, and its buffer << 8
  List sending[kPorts];                      ///< `[port]` TICs with a message to send
  List presenting[kHostPorts];               ///< `[port - kSerial]` TICs with a message for their host
  List receiving[kPorts];                    ///< `[port]` TICs at which a new message arrives
  List offering[kHostPorts];                 ///< `[port - kSerial]` TICs whose host may have a message
  List requeuing;                            ///< TICs with messages to route again, and all of `general`
  FlatBitList<kGpuBlock, kPorts> answering;  ///< ports that send a slot
  u8 is_general[kGpuBlock];                  ///< `[TIC]` 1: in `general`
  /// `[TIC]` byte of each port: protocol bits of the slot that is sent, without the acknowledgment; in `general`: of
  /// the slot that arrives.
  u64 bits[kGpuBlock];
  u16 slot_now[kPorts][kGpuBlock];  ///< `[port][TIC]` this cycle's slot, index into TicFields::slot

  FLITLAB_INLINE void clear(const ItemRange<kGpuBlock>& all) {
    general.clear(all.threads), creating.clear(all.threads), requeuing.clear(all.threads);
    answering.clear(all.threads);
    for (u32 p = 0; p < kPorts; ++p)
      releasing[p].clear(all.threads), sending[p].clear(all.threads), receiving[p].clear(all.threads);
    for (u32 p = 0; p < kHostPorts; ++p) presenting[p].clear(all.threads), offering[p].clear(all.threads);
  }
};

/// `Phase` is TicPhase, whose functions handle a single TIC.
template <class Phase, class Items>
struct BlockStep {
  const Items& items;
  TicLists& lists;
  Cycle now;

  FLITLAB_INLINE void run() const {
    for (u32 i : items.all()) with_tic(i, [&](const auto& tic) __attribute__((always_inline)) { begin(tic, i); });
    wait_for_threads(items.all().threads);
    begin_turns();
    FLITLAB_ROLLED for (u32 p = 0; p < kPorts; ++p) {
      first_part(p);
      wait_for_threads(items.all().threads);
      second_part(p);
      wait_for_threads(items.all().threads);
    }
    finish();
  }

 private:
  /// Calls work(Tic) for TIC i of the block.
  template <class Work>
  FLITLAB_INLINE void with_tic(u32 i, Work&& work) const {
    const auto& v = items.view(i);
    using V = std::remove_cvref_t<decltype(v)>;
    const auto item = v.tics[items.index(i)];
    work(Tic<V, V::width>{v, item, items.index(i), now, item.at(v.t.fields.control)});
  }

  template <class T>
  FLITLAB_INLINE static const Message& arriving(const T& tic, u32 p) {
    return tic.item.at(tic.v.t.fields.arriving, (tic.now & tic.v.t.slot_mask) * kPorts + p);
  }
  template <class T>
  FLITLAB_INLINE Slot& slot(const T& tic, u32 i, u32 p) const {
    return tic.item.at(tic.v.t.fields.slot, lists.slot_now[p][i]);
  }
  template <class V, int W>
  FLITLAB_INLINE static Transmitter<V, W> transmitter(const Tic<V, W>& tic, u32 p) {
    return {tic, p, tic.port(p)};
  }
  template <class V, int W>
  FLITLAB_INLINE static Receiver<V, W> receiver(const Tic<V, W>& tic, u32 p) {
    return {tic, p, tic.port(p)};
  }

  /// Returns the ports with non-empty queues, as bits.
  FLITLAB_INLINE static u32 waiting_ports(u64 waiting) {
    static_assert(kQueuesOfPort == 8);
    return static_cast<u32>(lowest_bits(bytes_present(waiting) >> 7));
  }

  /// Lists the work of TIC i.
  template <class T>
  FLITLAB_INLINE void begin(const T& tic, u32 i) const {
    const auto& t = tic.v.t;
    u64& mail = tic.item.at(t.fields.mail, now & t.slot_mask);
    const u32 channels = t.channels[tic.index];
    EightPorts ports = gather(tic, i, channels, mail);
    const u64 due = ports.reply;
    const u32 expected = static_cast<u32>(ports.expected());
    const Work work = ports.work();
    const u32 comes = static_cast<u32>(work.comes) & channels;
    u32 other = t.clocks | software_active(tic) | (static_cast<u32>(work.odd) & channels);
    FLITLAB_ROLLED for (u32 left = comes; left; left &= left - 1) {
      other |= needs_single_path(t, arriving(tic, lowest_bit(left)));
    }
    lists.bits[i] = other ? u64{mail} : due;
    lists.is_general[i] = other != 0;
    lists.general.append(other, i);
    tic.control.awake = mail != 0;
    mail = 0;
    lists.requeuing.append(other || (work.failed & channels), i);
    list_hosts(tic, i, other);
    if (other) return;
    FLITLAB_ROLLED for (u32 left = channels; left; left &= left - 1) {
      const u32 p = lowest_bit(left);
      tic.port(p).heard = static_cast<u8>(ports.heard >> 8 * p);
      tic.port(p).reply = static_cast<u8>(ports.reply >> 8 * p);
    }
    FLITLAB_ROLLED for (u32 left = static_cast<u32>(work.taken | work.failed) & channels; left; left &= left - 1) {
      const u32 p = lowest_bit(left);
      settle(tic, i, p, work.taken >> p & 1);
    }
    if (const u32 known = comes & ~expected) count(*tic.v.shard, Count::kDuplicates, bit_count(known));
    FLITLAB_ROLLED for (u32 left = comes & expected; left; left &= left - 1) {
      lists.receiving[lowest_bit(left)].append(true, i);
    }
    lists.answering.add_set(i, work.due & channels);
    FLITLAB_ROLLED for (u32 left = waiting_ports(tic.control.waiting) & channels; left; left &= left - 1) {
      lists.sending[lowest_bit(left)].append(true, i);
    }
  }

  /// Lists the work of a TIC's hosts; `all`: of all hosts.
  template <class T>
  FLITLAB_INLINE void list_hosts(const T& tic, u32 i, bool all) const {
    const auto& t = tic.v.t;
    u32 creates = 0;
    FLITLAB_ROLLED for (u32 left = t.hosts[tic.index]; left; left &= left - 1) {
      const u32 p = lowest_bit(left);
      const Port& port = tic.port(p);
      const TerminalControl& c = tic.v.terminals[tic.link(p).far].at(t.terminal_fields.control);
      const u32 waiting = byte_of_port(tic.control.waiting, p),
                is_due = u32{t.mode != TrafficMode::kOpen} | u32{c.next.at <= now};
      lists.presenting[p - kSerial].append(all | waiting | (port.sending != kNoBuffer), i);
      lists.offering[p - kSerial].append(all | is_due | (c.sent ^ c.created) | port.entering, i);
      creates |= is_due;
    }
    lists.creating.append(creates, i);
  }

  /// Returns the state of a TIC's channels.
  template <class T>
  FLITLAB_INLINE EightPorts gather(const T& tic, u32 i, u32 channels, u64 mail) const {
    const auto& t = tic.v.t;
    EightPorts ports{0, 0, 0, 0, mail, 0};
    u64 holds_none = ~u64{0};
    FLITLAB_ROLLED for (u32 left = channels; left; left &= left - 1) {
      const u32 p = lowest_bit(left), shift = 8 * p;
      const Port& port = tic.port(p);
      const u32 here = t.slot_first[tic.index * kPorts + p] + now % tic.link(p).round;
      const Slot s = tic.item.at(t.fields.slot, here);
      lists.slot_now[p][i] = static_cast<u16>(here);
      const u32 busy = u32{port.doubtful != kNoBuffer} | u32{port.spoiled != kNoBuffer} |
                       u32{port.sending != kNoBuffer} | u32{port.train.parts != 0};
      ports.heard |= u64{port.heard} << shift;
      ports.reply |= u64{port.reply} << shift;
      ports.bits |= u64{s.bits} << shift;
      ports.busy |= u64{busy} << shift;
      holds_none ^= u64{static_cast<u8>(~s.buffer)} << shift;
    }
    ports.buffer = holds_none;
    return ports;
  }

  /// Frees the slot of a message that the far end has accepted (`taken`) or rejected.
  template <class T>
  FLITLAB_INLINE void settle(const T& tic, u32 i, u32 p, bool taken) const {
    Slot& s = slot(tic, i, p);
    if (taken)
      lists.releasing[p].append(true, i | u32{s.buffer} << 8);
    else
      tic.port(p).requeued = s.buffer;
    s = Slot{kNoBuffer, static_cast<u8>(s.bits ^ (taken * kSending))};
  }

  /// Begins the cycle of general TICs, and creates the due packets of hosts.
  FLITLAB_INLINE void begin_turns() const {
    lists.general.for_each_entry([&](u32 i) __attribute__((always_inline)) {
      with_tic(i, [&](const auto& tic)
                      __attribute__((always_inline)) { lists.bits[i] = Phase::begin_cycle(tic, lists.bits[i]); });
    });
    lists.creating.for_each_entry_from_last_thread([&](u32 i) __attribute__((always_inline)) {
      with_tic(i, [&](const auto& tic) __attribute__((always_inline)) { Phase::create(tic); });
    });
  }

  /// The first part of port p's turn, and both parts of channels of general TICs.
  FLITLAB_INLINE void first_part(u32 p) const {
    lists.releasing[p].for_each_entry([&](u32 entry) __attribute__((always_inline)) {
      with_tic(entry & 0xFF,
               [&](const auto& tic) __attribute__((always_inline)) { tic.release_buffer_of_single(entry >> 8); });
    });
    lists.sending[p].for_each_entry_from_last_thread([&](u32 i) __attribute__((always_inline)) {
      with_tic(i, [&](const auto& tic) __attribute__((always_inline)) {
        const auto from = transmitter(tic, p);
        const u8 bits = from.start(slot(tic, i, p), from.next_queue(from.waiting()));
        ++from.port.carried;
        count(*tic.v.shard, Count::kSlotsSent);
        count(*tic.v.shard, Total::kFlitMoves);
        const u8 due = byte_of_port(lists.bits[i], p);
        put_byte(lists.bits[i], p, due | bits);
        lists.answering.add(!due, i, p);
      });
    });
    lists.general.for_each_entry([&](u32 i) __attribute__((always_inline)) {
      with_tic(i, [&](const auto& tic) __attribute__((always_inline)) {
        if (tic.v.t.channels[tic.index] >> p & 1) Phase::work_channel(tic, p, byte_of_port(lists.bits[i], p));
      });
    });
    if (p < kSerial) return;
    lists.presenting[p - kSerial].for_each_entry([&](u32 i) __attribute__((always_inline)) {
      with_tic(i, [&](const auto& tic)
                      __attribute__((always_inline)) { Phase::host_port(tic, p, tic.link(p).far).present(); });
    });
  }

  /// The second part of port p's turn.
  FLITLAB_INLINE void second_part(u32 p) const {
    lists.receiving[p].for_each_entry([&](u32 i) __attribute__((always_inline)) {
      with_tic(i, [&](const auto& tic) __attribute__((always_inline)) {
        const Message& m = arriving(tic, p);
        const u32 q = decide_single(tic, m, p);
        if (q == kNone) return receiver(tic, p).refuse();
        take(slot(tic, i, p));
        const u64 before = tic.control.waiting;
        tic.store_single(m, p, q);
        list_port(tic, i, q / kQueuesOfPort, p, before);
      });
    });
    if (p < kSerial) return;
    lists.offering[p - kSerial].for_each_entry_from_last_thread([&](u32 i) __attribute__((always_inline)) {
      with_tic(i, [&](const auto& tic) __attribute__((always_inline)) {
        const auto from = Phase::host_port(tic, p, tic.link(p).far);
        const u64 before = tic.control.waiting;
        if (lists.is_general[i])
          from.offer();
        else
          offer(from);
        tic.control.awake |= u8{from.port.entering != 0};
        list_port(tic, i, kPorts - 1, p, before);
      });
    });
  }

  /// Offers a message of the host of a TIC that is not general.
  template <class Host>
  FLITLAB_INLINE static void offer(const Host& from) {
    const auto& t = from.tic.v.t;
    if (t.mode == TrafficMode::kOpen && !t.queues[from.p - kSerial] && !from.port.entering) {
      if (!from.queues().offers()) return;
      if (from.host.offered.flits == 1) {
        const u32 q = decide_single(from.tic, from.host.offered, from.p);
        if (from.may_enter(q)) from.enter(0, q);
        return;
      }
    }
    from.offer();
  }

  /// Lists port `to` for its turn if it comes after that of port p and a message has entered its empty queues.
  /// `before`: the TIC's non-empty queues before.
  template <class T>
  FLITLAB_INLINE void list_port(const T& tic, u32 i, u32 to, u32 p, u64 before) const {
    const bool fills = !(before >> 8 * to & 0xFF) & ((tic.control.waiting >> 8 * to & 0xFF) != 0);
    // A TIC that sends a quad to its host is already in the list.
    if (to <= p || !fills || lists.is_general[i] || tic.port(to).sending != kNoBuffer) return;
    if (tic.link(to).kind == LinkKind::kHost)
      lists.presenting[to - kSerial].append(true, i);
    else
      lists.sending[to].append(true, i);
  }

  /// Sends the slots, and routes the returned messages again.
  FLITLAB_INLINE void finish() const {
    lists.requeuing.for_each_entry([&](u32 i) __attribute__((always_inline)) {
      with_tic(i, [&](const auto& tic) __attribute__((always_inline)) {
        FLITLAB_ROLLED for (u32 p = 0; p < kPorts; ++p) {
          const u32 buffer = tic.port(p).requeued;
          if (buffer != kNoBuffer && !lists.is_general[i]) transmitter(tic, p).return_to_router(buffer);
        }
        Phase::route_again(tic);
        tic.control.awake = Phase::is_awake(tic);
      });
    });
    lists.answering.for_each_beside([&](u32 i, u32 p) __attribute__((always_inline)) {
      with_tic(i, [&](const auto& tic) __attribute__((always_inline)) {
        const u32 here = lists.slot_now[p][i], first = tic.v.t.slot_first[tic.index * kPorts + p];
        const Slot& before = tic.item.at(tic.v.t.fields.slot, (here == first ? here + tic.link(p).round : here) - 1);
        transmitter(tic, p).put_byte(sent_bits(byte_of_port(lists.bits[i], p), 0, acknowledgment_of(before)));
      });
    });
  }
};

}  // namespace flitlab::sconnect
