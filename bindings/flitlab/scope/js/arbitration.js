// Arbitration of a router in one cycle: which virtual channels won, and why the others did not. It is derived from the
// state after that cycle and the events of the cycle. If a virtual channel has not sent a flit in the cycle, its
// credits still have the value with which its packet requested the switch.

const BUSY = { leaving: "is being sent; its head has left", entering: "its head cannot request yet", arriving: "arrives",
  stored: "stored in a buffer", off: "port switched off", none: "not wired", "in use": "carries a circuit",
  setup: "reads the routing header", forward: "circuit open; data flow forward", reverse: "circuit open; data flow backward",
  answer: "blocked: sends STATUS to the source", discard: "released: blocked in this router or in a later one",
  blocked: "blocked: no backward port of its direction is free" };

const BLOCKED_STATES = ["blocked", "discard"];

// Returns the names and notes of a router's virtual channels, from its recorded words (texts_of in
// bindings/frames/json.hpp) or null: name_of(port, vc); notes(port, vc): [note of the channel, reason why its front
// packet waits].
function texts_of(words) {
  return { name_of: (port, vc) => words?.vc_names[port]?.[vc] || `VC ${vc}`,
    notes: (port, vc) => (words?.vc_notes[port]?.[vc] ?? "").split("\n") };
}

// Returns { wins, vc_grants, fates }. wins: switch grants by output port. fates: outcome for each input virtual
// channel, by "port.vc": { won, lost, why, cause }, cause: a key of CAUSES (blocked.js). name_of(port, vc): name of a
// virtual channel in the machine's terms; reason_of(port, vc): the machine's reason why its front packet waits, if it gives one.
function arbitration(recording, router, cycle, name_of, reason_of) {
  const events = events_in(recording, cycle, router);
  const wins = events.filter((e) => e.kind === "switch_granted").sort((a, b) => a.out_port - b.out_port);
  const vc_grants = events.filter((e) => e.kind === "vc_granted");
  const rows = recording.state(cycle + 1).rows_of(router);
  const context = { recording, router, rows, wins, vc_grants, name_of, reason_of };
  const fates = new Map();
  for (const row of rows) {
    const fate = fate_of(context, row);
    if (fate) fates.set(`${row.port}.${row.vc}`, fate);
  }
  for (const e of wins) { // wins also include virtual channels whose last flit has left, which have no row any more
    const to = `${recording.port_name(router, e.out_port)} ${name_of(e.out_port, e.out_vc)}`;
    fates.set(`${e.port}.${e.vc}`, { won: true, why: `won: ${flit_name(e)} of ${packet_name(e.src, e.id)} to ${to}` });
  }
  return { wins, vc_grants, fates };
}

// Returns the events of one router in a cycle. The events of the cycle are kept, sorted by router, because an overlay
// visits all routers.
function events_in(recording, cycle, router) {
  if (recording.grouped?.cycle !== cycle) {
    const of_router = new Map();
    for (const e of recording.events(cycle))
      if (e.item === "router") of_router.has(e.index) ? of_router.get(e.index).push(e) : of_router.set(e.index, [e]);
    recording.grouped = { cycle, of_router };
  }
  return recording.grouped.of_router.get(router) ?? [];
}

function flit_name({ flit, flits }) {
  // The packet crosses the switch as a whole, so all of its flits are sent.
  if (flit === "head+tail") return flits > 1 ? "all" : "only flit";
  return flit === "body" ? "body flit" : flit;
}

function fate_of({ recording, router, rows, wins, vc_grants, name_of, reason_of }, row) {
  const stage = recording.stage(row), port = (p) => recording.port_name(router, p);
  const reason = reason_of(row.port, row.vc);
  if (reason) return { lost: stage === "waiting", why: reason };
  if (stage === "waiting" && recording.meta.facts.waiting) return { lost: true, why: recording.meta.facts.waiting };
  if (BUSY[stage] !== undefined) return { lost: BLOCKED_STATES.includes(stage), why: BUSY[stage] };
  if (row.src < 0 && !row.flits) return stage === "idle" ? null : { why: "waits for its next flit" };
  if (stage === "routing") return { why: "its route is computed" };
  if (row.out_port < 0) return { why: `${stage}: no output yet` };
  const to = port(row.out_port), outputs = rows.filter((r) => r.port === row.out_port);
  const taker = wins.find((e) => e.out_port === row.out_port);
  const taken = taker && `output ${to} taken by ${port(taker.port)} ${name_of(taker.port, taker.vc)} (${packet_name(taker.src, taker.id)})`;
  if (row.out_vc < 0) {
    if (stage !== "waiting") return { lost: true, why: taken ?? `requests ${to}: not granted`, cause: "output" };
    const rivals = vc_grants.filter((e) => e.out_port === row.out_port);
    if (rivals.length) return { lost: true, cause: "vc", why: `VC not granted: ${rivals.map((e) =>
      `${name_of(e.out_port, e.out_vc)} of ${to} went to ${port(e.port)} ${name_of(e.port, e.vc)} (${packet_name(e.src, e.id)})`).join(", ")}` };
    const held = outputs.every((r) => r.owner_port >= 0);
    return { lost: true, cause: "vc", why: held ? `VC not granted: all VCs of ${to} are allocated to other packets`
      : `VC not granted: no VC of ${to} that its routing permits is free` };
  }
  if (vc_grants.some((e) => e.port === row.port && e.vc === row.vc))
    return { won: true, why: `${name_of(row.out_port, row.out_vc)} of ${to} granted; requests the switch next` };
  if (!row.flits) return { why: "waits for its next flit" };
  const output = outputs.find((r) => r.vc === row.out_vc);
  if (recording.has_credits && output && output.credits === 0)
    return { lost: true, cause: "credit", why: `no credit for ${to} ${name_of(row.out_port, row.out_vc)}` };
  const sent = wins.find((e) => e.port === row.port);
  if (sent) return { lost: true, cause: "input", why: `its input port sent ${name_of(sent.port, sent.vc)} (${packet_name(sent.src, sent.id)})` };
  if (taken) return { lost: true, cause: "output", why: taken };
  const rival = rows.find((r) => r.port === row.port && r.vc !== row.vc && r.flits > 0 && r.out_vc >= 0);
  if (rival) return { lost: true, cause: "input", why: `its input port requested the switch for ${name_of(rival.port, rival.vc)}, which was denied` };
  return { why: "has just arrived; requests the switch next" };
}
