#pragma once
/// What a replica has beside its canonical state: its mail, who has something to do though nothing comes, and what just
/// flows.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/metro/lanes/streams.hpp"

namespace flitlab::metro::lanes {

/// Forward ports of a router that are not idle.
struct BusyPorts {
  u32 streaming;  ///< those in Streams
  u32 other;
  u8 special;    ///< 1: the router is visited in every cycle, and nothing flows, since it is dead or has ports that are
                 ///< off
  u8 disagrees;  ///< 1: with those that it is cascaded with, in this cycle
  u8 pad[2];
};

struct Memory {
  Word* mail;       ///< [slot][Places::slot_words]
  BusyPorts* busy;  ///< [router]
  Cycle* wake;      ///< [endpoint] the first cycle in which it has something to do though nothing comes
  Stream* stream;   ///< [block][kBlock I]
  u32* streams;     ///< [block] how many there are

  template <class T>
  static u32 blocks(const T& t) {
    return (t.routers + kBlock - 1) / kBlock;
  }
  template <class T>
  static std::size_t bytes(const T& t) {
    return sizeof(Word) * (t.slot_mask + 1) * Places(t).slot_words + sizeof(BusyPorts) * t.routers +
           sizeof(Cycle) * t.terminals + (sizeof(Stream) * kBlock * t.inputs + sizeof(u32)) * blocks(t);
  }
  template <class T>
  Memory(const T& t, std::byte* memory)
      : mail(reinterpret_cast<Word*>(memory)),
        busy(reinterpret_cast<BusyPorts*>(mail + (t.slot_mask + 1) * std::size_t{Places(t).slot_words})),
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
