#pragma once
/// An event as people and scripts see it: Python's `net.events()`, `flitlab trace`, and the frames of the scope.
#include "host/plan/columns.hpp"
#include "host/run/stepped.hpp"
#include "kernels/common/choices.hpp"

namespace flitlab {

FLITLAB_CHOICES(EventPlace, (kRouter, "router"), (kTerminal, "terminal"))

/// The choices have the values of Event::flit: kHeadFlit and kTailFlit.
FLITLAB_CHOICES(EventFlit, (kBody, "body"), (kHead, "head"), (kTail, "tail"), (kHeadAndTail, "head+tail"))

struct EventRow {
  FLITLAB_COLUMNS(
      (u64, cycle, 0, "cycle", "cycle of the event"),
      (EventKind, kind, EventKind::kCreated, "",
       "created: a source creates a packet; injected: its head leaves the source queue; arrived: a head enters an "
       "input buffer; routed: a head has its output port; vc_granted: a head has its output virtual channel; "
       "switch_granted: a flit leaves its input buffer; delivered: a tail arrives at its terminal; a model may have "
       "one kind of its own"),
      (EventPlace, item, EventPlace::kRouter, "", "kind of the place of the event: router or terminal"),
      (u64, index, 0, "", "number of that router or terminal"), (u8, port, 0, "", "input port"),
      (u8, vc, 0, "", "input virtual channel"), (u8, out_port, 0, "", "output port"),
      (u8, out_vc, 0, "", "output virtual channel"), (u64, src, 0, "", "terminal that created the packet"),
      (u64, id, 0, "", "number of the packet at that terminal"),
      (EventFlit, flit, EventFlit::kBody, "", "head, body, tail, or head+tail for a packet of one flit"),
      (u16, flits, 0, "flits", "length of the packet"),
      (u32, dst, kNone, "", "created: terminal that the packet goes to; other kinds do not have this column"))

  EventRow() = default;
  explicit EventRow(const TimedEvent& e)
      : cycle(e.cycle),
        kind(e.event.kind),
        item(e.terminal ? EventPlace::kTerminal : EventPlace::kRouter),
        index(e.index),
        port(e.event.port),
        vc(e.event.vc),
        out_port(e.event.out_port),
        out_vc(e.event.out_vc),
        src(e.event.src),
        id(e.event.id),
        flit(static_cast<EventFlit>(e.event.flit & (kHeadFlit | kTailFlit))),
        flits(e.event.flits),
        dst(e.event.kind == EventKind::kCreated ? e.event.dst : kNone) {}
};

}  // namespace flitlab
