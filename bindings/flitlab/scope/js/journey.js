// Path of a packet through the network, from its events in the recording, and the time that it spends in each step. The
// steps follow one another without gaps from creation to delivery, on every machine. A period without events is the
// step "under way".

const STEPS = ["queue", "inject", "circuit", "behind others", "route", "VC allocation", "switch allocation", "router",
  "retransmission", "link", "tail", "reception", "under way"];

// Returns the path of a packet. hops: routers that the head visits, { router, port, vc, out_port, out_vc, ... }; spans:
// consecutive times, { stage, from, to, hop }, in cycles; hop -1: before the first router.
function journey(recording, src, id) {
  const way = { src, id, hops: [], spans: [], created: null, dst: null, injected: null, delivered: null, length: 0 };
  const units = new Units(recording), in_line = recording.meta.facts.in_order;
  for (const frame of recording.frames.slice(1)) {
    const cycle = frame.c - 1;
    for (const e of recording.events(cycle)) {
      if (e.src !== src || e.id !== id) {
        const hop = units.head?.[units.head.length - 1];
        if (hop && in_line && departs_ahead(e, hop)) hop.front = cycle + 1;
        continue;
      }
      way.length = Math.max(way.length, e.flits);
      if (e.kind === "created") Object.assign(way, { created: cycle, dst: e.dst ?? null });
      else if (e.kind === "delivered") {
        way.delivered = cycle;
        if (e.item === "terminal") way.dst ??= e.index;
      }
      else if (e.kind === "injected") {
        way.injected ??= cycle;
        if (e.item === "router") units.leave(e, cycle); // the packet leaves its router directly from the source queue
      } else if (e.item === "terminal") continue;
      else if (e.kind === "arrived") units.arrive(e, cycle);
      else if (e.kind === "switch_granted") {
        if (e.flit.includes("head")) units.leave(e, cycle);
        if (e.flit.includes("tail") && recording.peer(e.index, e.out_port).to_terminal) way.tail_left = cycle;
      } else {
        const hop = units.head?.[units.head.length - 1];
        if (!hop || hop.router !== e.index || hop.port !== e.port || hop.granted != null) continue;
        if (e.kind === "routed") hop.routed ??= cycle;
        else if (e.kind === "vc_granted") hop.vc_granted = cycle;
      }
    }
  }
  way.hops = units.head ?? [];
  measure(way, recording);
  return way;
}

// Returns whether an event is the departure of the tail of a packet that was ahead in the same buffer.
function departs_ahead(e, hop) {
  return e.kind === "switch_granted" && e.flit.includes("tail") && hop.routed == null && hop.granted == null && e.index === hop.router &&
    e.port === hop.port && e.vc === hop.vc;
}

// Hops of the units of a packet that move independently. A unit is the whole packet, which follows its head, or in
// networks with deflection each flit; the first flit then counts as the head. Channels preserve order, so the first
// departure on a channel belongs to the first arrival at its far end.
class Units {
  constructor(recording) {
    this.recording = recording;
    this.head = null;
    this.at = new Map(); // lists of hops by position: "router.port" at an input, "> router.port" on the channel to it
    this.left = new Map(); // by input: hops of the last unit that left it
  }

  put(place, hops) { this.at.set(place, [...(this.at.get(place) ?? []), hops]); }
  take(place) { return this.at.get(place)?.shift(); }

  arrive({ index, port, vc }, cycle) {
    const input = `${index}.${port}`, { peer, to_terminal: from_terminal } = this.recording.peer(index, port);
    const drawn = this.recording.place.has(peer);
    const hops = (from_terminal ? null : this.take(drawn ? `> ${input}` : "> elsewhere")) ?? [];
    this.head ??= hops;
    hops.push({ router: index, arrived: cycle, port, vc });
    this.put(input, hops);
  }

  leave({ index, port, vc, out_port, out_vc }, cycle) {
    const input = `${index}.${port}`;
    const hops = this.take(input) ?? this.back(input, index, port) ?? [{ router: index, port, vc }];
    this.head ??= hops;
    const hop = hops[hops.length - 1];
    Object.assign(hop, { granted: cycle, out_port, out_vc, first_granted: hop.first_granted ?? cycle });
    this.left.set(input, hops);
    const { peer, to_terminal } = this.recording.peer(index, out_port);
    if (!to_terminal) this.put(`> ${this.recording.place.has(peer) ? this.far_end(index, out_port) : "elsewhere"}`, hops);
  }

  // Returns the hops of a unit that leaves the same input again, because it must be sent again; null if there is no
  // such unit. Its later hops are removed.
  back(input, router, port) {
    const hops = this.left.get(input), i = hops?.findLastIndex((hop) => hop.router === router && hop.port === port) ?? -1;
    if (i < 0) return null;
    for (const [place, there] of this.at) this.at.set(place, there.filter((other) => other !== hops));
    hops.length = i + 1;
    return hops;
  }

  far_end(router, port) {
    this.ends ??= new Map(links_of(this.recording.meta).map((link) => [`${link.router}.${link.port}`, `${link.to_router}.${link.to_port}`]));
    return this.ends.get(`${router}.${port}`);
  }
}

// Divides the time of a packet into spans, one per step. Cycles that the recording does not have are null. A packet
// that has not been delivered is measured up to the last frame.
function measure(way, recording) {
  const end = way.delivered ?? recording.last;
  let now = way.created;
  const go_to = (stage, to, hop) => {
    const until = Math.min(to, end);
    if (until > now) way.spans.push({ stage, from: now, to: until, hop });
    now = Math.max(now, until);
  };
  const add = (stage, from, to, hop = -1) => {
    if (from == null || to == null) return;
    now ??= Math.min(from, end);
    go_to("under way", from, hop);
    go_to(stage, to, hop);
  };
  const { hops } = way, entered = Math.min(way.injected ?? Infinity, hops[0]?.arrived ?? Infinity);
  add("queue", way.created, Math.min(entered, end));
  if (!hops.length && recording.has_circuits) add("circuit", way.injected, end);
  else if (hops[0]?.arrived > way.injected) add("inject", way.injected, hops[0].arrived);
  hops.forEach((hop, i) => {
    const sent = hop.granted == null ? null : hop.granted + 1; // a step ends when the next cycle begins
    const front = hop.front ?? hop.arrived ?? (i ? null : way.injected);
    add("behind others", hop.arrived, front, i);
    if (hop.routed != null || hop.vc_granted != null) {
      const routed = hop.routed ?? front;
      add("route", front, routed, i);
      const allocated = hop.vc_granted == null ? sent ?? end : Math.min(hop.vc_granted + 1, sent ?? Infinity);
      add("VC allocation", routed, allocated, i);
      add("switch allocation", allocated, sent ?? end, i);
    } else add("router", front, sent === null ? null : hop.first_granted + 1, i);
    if (sent === null) return way.delivered == null || i + 1 < hops.length ? null : add("reception", front, way.delivered, i);
    add("retransmission", hop.first_granted + 1, sent, i);
    const next = hops[i + 1]?.arrived ?? (i + 1 < hops.length ? null : head_arrival(way, sent));
    const { peer, to_terminal } = recording.peer(hop.router, hop.out_port), seen = to_terminal || recording.place.has(peer);
    add(seen ? "link" : "under way", sent, next ?? (i + 1 < hops.length ? null : end), i);
    if (i + 1 === hops.length && way.delivered != null) add("tail", next, way.delivered, i);
  });
  if (now != null) go_to("under way", end, hops.length - 1);
  way.latency = way.created != null && way.delivered != null ? way.delivered - way.created : null;
}

// Returns the cycle in which the head reaches the destination. On the last channel the head takes as long as the tail,
// whose arrival is the delivery. If the packet was sent as a whole, its flits arrive one per cycle, the last one in the
// cycle of the delivery.
function head_arrival(way, sent) {
  if (way.delivered == null) return null;
  const { granted } = way.hops[way.hops.length - 1];
  return Math.max(sent, way.tail_left > granted ? way.delivered - (way.tail_left - granted) : way.delivered - (way.length - 1));
}

// Returns pairs [step, cycles that the packet has spent in it].
function cycles_by_step(way) {
  const sums = new Map();
  for (const { stage, from, to } of way.spans) sums.set(stage, (sums.get(stage) ?? 0) + to - from);
  return STEPS.filter((s) => sums.has(s)).map((s) => [s, sums.get(s)]);
}
