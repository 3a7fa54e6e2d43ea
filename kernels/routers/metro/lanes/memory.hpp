#pragma once
/// Memory of a replica in addition to its scalar state: inboxes, active ports and endpoints, streams.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/metro/lanes/streams.hpp"

namespace flitlab::metro::lanes {

/// Forward ports of a router that are not idle.
struct BusyPorts {
  u32 streaming;  ///< ports whose connection is in Streams
  u32 other;      ///< all other forward ports that are not idle
  u8 special;     ///< 1: the router is dead or has ports that are off; it runs in every cycle, without streams
  u8 disagrees;   ///< 1: the router's backward ports in use differ from another slice's in this cycle
  u8 pad[2];
};

struct Memory {
  Word* inbox;      ///< [slot][InboxLayout::slot_words]
  BusyPorts* busy;  ///< [router]
  Cycle* wake;      ///< [endpoint] first cycle in which the endpoint must run even if no word arrives
  Stream* stream;   ///< [block][kBlock * number of forward ports of a router]
  u32* streams;     ///< [block] number of streams

  template <class T>
  static u32 blocks(const T& t) {
    return (t.routers + kBlock - 1) / kBlock;
  }
  template <class T>
  static std::size_t bytes(const T& t) {
    return sizeof(Word) * (t.slot_mask + 1) * InboxLayout(t).slot_words + sizeof(BusyPorts) * t.routers +
           sizeof(Cycle) * t.terminals + (sizeof(Stream) * kBlock * t.inputs + sizeof(u32)) * blocks(t);
  }
  template <class T>
  Memory(const T& t, std::byte* memory)
      : inbox(reinterpret_cast<Word*>(memory)),
        busy(reinterpret_cast<BusyPorts*>(inbox + (t.slot_mask + 1) * std::size_t{InboxLayout(t).slot_words})),
        wake(reinterpret_cast<Cycle*>(busy + t.routers)),
        stream(reinterpret_cast<Stream*>(wake + t.terminals)),
        streams(reinterpret_cast<u32*>(stream + std::size_t{blocks(t)} * kBlock * t.inputs)) {}

  template <class T>
  FLITLAB_INLINE Streams of_block(const T& t, u32 block) const {
    return {stream + std::size_t{block} * kBlock * t.inputs, streams + block};
  }
};
static_assert(alignof(Stream) <= alignof(Word));

}  // namespace flitlab::metro::lanes
