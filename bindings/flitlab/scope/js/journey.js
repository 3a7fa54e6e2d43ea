// A packet's way: its events in the recording, and the time that it spends in each stage, which add up to its latency.

const STAGES = ["queue", "inject", "behind others", "route", "VC allocation", "switch allocation", "router", "link", "tail"];

// hops: { router, port, vc, out_port, out_vc, ... }; spans: { stage, from, to, hop }, one after the other.
function journey(recording, src, id) {
  const way = { src, id, hops: [], spans: [], created: null, injected: null, delivered: null, length: 0 };
  for (const frame of recording.frames.slice(1)) {
    const cycle = frame.c - 1;
    for (const e of recording.events(cycle)) {
      const hop = way.hops[way.hops.length - 1];
      if (e.src !== src || e.id !== id) {
        if (hop && leaves_before(e, hop)) hop.front = cycle + 1;
        continue;
      }
      way.length = Math.max(way.length, e.flits);
      if (e.kind === "created") way.created = cycle;
      else if (e.kind === "injected") way.injected ??= cycle;
      else if (e.kind === "delivered") way.delivered = cycle;
      else if (e.kind === "arrived") way.hops.push({ router: e.index, arrived: cycle, port: e.port, vc: e.vc });
      else if (e.at_terminal) continue;
      else if (!hop || hop.router !== e.index) {
        if (e.kind === "switch_granted" && e.flit & HEAD)
          way.hops.push({ router: e.index, port: e.port, vc: e.vc, granted: cycle, out_port: e.out_port, out_vc: e.out_vc });
      } else if (e.kind === "routed") hop.routed ??= cycle;
      else if (e.kind === "vc_granted") hop.vc_granted = cycle;
      else if (e.kind === "switch_granted" && e.flit & HEAD)
        Object.assign(hop, { granted: cycle, out_port: e.out_port, out_vc: e.out_vc });
    }
  }
  measure(way);
  return way;
}

// Whether an event is the last of a packet that was ahead in the same buffer.
function leaves_before(e, hop) {
  return e.kind === "switch_granted" && e.flit & TAIL && hop.routed == null && hop.granted == null && e.index === hop.router &&
    e.port === hop.port && e.vc === hop.vc;
}

function measure(way) {
  const add = (stage, from, to, hop = -1) => {
    if (from != null && to != null && to > from) way.spans.push({ stage, from, to, hop });
  };
  add("queue", way.created, way.injected);
  add("inject", way.injected, way.hops[0]?.arrived);
  way.hops.forEach((hop, i) => {
    const sent = hop.granted == null ? null : hop.granted + 1; // a stage's cycle is over when the next one begins
    const front = hop.front ?? hop.arrived;
    add("behind others", hop.arrived, front, i);
    if (hop.routed != null || hop.vc_granted != null) {
      const routed = hop.routed ?? front;
      add("route", front, routed, i);
      const allocated = hop.vc_granted == null ? null : Math.min(hop.vc_granted + 1, sent ?? Infinity);
      add("VC allocation", routed, allocated, i);
      add("switch allocation", allocated, sent, i);
    } else add("router", front, sent, i);
    const next = way.hops[i + 1]?.arrived;
    if (next != null) return add("link", sent, next, i);
    if (way.delivered == null || sent == null) return;
    const tail = Math.max(sent, way.delivered - (way.length - 1)); // the head is there; the tail comes flits later
    add("link", sent, tail, i);
    add("tail", tail, way.delivered, i);
  });
  way.latency = way.created != null && way.delivered != null ? way.delivered - way.created : null;
}

// Cycles by stage.
function totals_by_stage(way) {
  const sums = new Map();
  for (const { stage, from, to } of way.spans) sums.set(stage, (sums.get(stage) ?? 0) + to - from);
  return STAGES.filter((s) => sums.has(s)).map((s) => [s, sums.get(s)]);
}
