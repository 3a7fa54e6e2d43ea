// Who has won which arbitration of a router in a cycle, and why the others have not: out of the state after that cycle
// and its events. Credits of a channel that has not sent are those that its packet saw.

const BUSY = { leaving: "leaves; its head has gone ahead", entering: "enters", arriving: "arrives", stored: "stored",
  off: "switched off", none: "not wired", "in use": "carries a circuit", setup: "reads its header",
  forward: "circuit open, words go forward", reverse: "circuit open, words come back", answer: "sends its status",
  discard: "given up: blocked here or further on", blocked: "blocked: all outputs of its direction are taken" };

// Stages of circuits: nothing of theirs is buffered, and no flit crosses a switch of its own.
const CIRCUIT = ["forward", "reverse"], REFUSED = ["blocked", "discard"];

// fates: by "port.vc" { won, lost, why }; wins: what crossed the switch, by output port. called(port, vc): a virtual channel in
// the machine's words; said(port, vc): what the machine says of the packet at its head, if it does.
function arbitration(recording, router, cycle, called, said) {
  const events = recording.events(cycle).filter((e) => !e.at_terminal && e.index === router);
  const wins = events.filter((e) => e.kind === "switch_granted").sort((a, b) => a.out_port - b.out_port);
  const vc_grants = events.filter((e) => e.kind === "vc_granted");
  const rows = recording.state(cycle + 1).rows_of(router);
  const look = { recording, router, rows, wins, vc_grants, called, said };
  const fates = new Map();
  for (const row of rows) {
    const fate = fate_of(look, row);
    if (fate) fates.set(`${row[PORT]}.${row[VC]}`, fate);
  }
  for (const e of wins) { // those whose last flit has gone, too
    const to = `${recording.port_name(router, e.out_port)} ${called(e.out_port, e.out_vc)}`;
    fates.set(`${e.port}.${e.vc}`, { won: true, why: `won: ${flit_name(e)} of ${packet_name(e.src, e.id)} to ${to}` });
  }
  return { wins, vc_grants, fates };
}

function flit_name({ flit, flits }) {
  if ((flit & (HEAD | TAIL)) === (HEAD | TAIL) && flits > 1) return "all"; // packets that are switched as a whole
  return ["body flit", "head", "tail", "only flit"][flit & 3];
}

function fate_of({ recording, router, rows, wins, vc_grants, called, said }, row) {
  const stage = recording.stage(row), port = (p) => recording.port_name(router, p);
  const told = said(row[PORT], row[VC]);
  if (told) return { lost: stage === "waiting", why: told };
  if (recording.meta.kind === "bgl" && stage === "waiting") return { lost: true, why: "waits for a link, tokens or its turn" };
  if (BUSY[stage] !== undefined) return { lost: REFUSED.includes(stage), why: BUSY[stage] };
  if (row[SRC] < 0 && !row[FLITS]) return stage === "idle" ? null : { why: "waits for its next flit" };
  if (stage === "routing") return { why: "its route is computed" };
  if (row[OUT_PORT] < 0) return { why: `${stage}: no output yet` };
  const to = port(row[OUT_PORT]), outputs = rows.filter((r) => r[PORT] === row[OUT_PORT]);
  const taker = wins.find((e) => e.out_port === row[OUT_PORT]);
  const taken = taker && `output ${to} taken by ${port(taker.port)} ${called(taker.port, taker.vc)} (${packet_name(taker.src, taker.id)})`;
  if (row[OUT_VC] < 0) {
    if (stage !== "waiting") return { lost: true, why: taken ?? `asks for ${to}: not granted` };
    const rivals = vc_grants.filter((e) => e.out_port === row[OUT_PORT]);
    if (rivals.length) return { lost: true, why: `VC not granted: ${rivals.map((e) =>
      `${called(e.out_port, e.out_vc)} of ${to} went to ${port(e.port)} ${called(e.port, e.vc)} (${packet_name(e.src, e.id)})`).join(", ")}` };
    const held = outputs.every((r) => r[OWNER_PORT] >= 0);
    return { lost: true, why: held ? `VC not granted: all VCs of ${to} are held by other packets`
      : `VC not granted: ${to} has none free that it may take` };
  }
  if (vc_grants.some((e) => e.port === row[PORT] && e.vc === row[VC]))
    return { won: true, why: `${called(row[OUT_PORT], row[OUT_VC])} of ${to} granted; asks for the switch next` };
  if (!row[FLITS]) return { why: "waits for its next flit" };
  const output = outputs.find((r) => r[VC] === row[OUT_VC]);
  if (recording.has_credits && output && output[CREDITS] === 0) return { lost: true, why: `no credit for ${to} ${called(row[OUT_PORT], row[OUT_VC])}` };
  const mine = wins.find((e) => e.port === row[PORT]);
  if (mine) return { lost: true, why: `its input port sent ${called(mine.port, mine.vc)} (${packet_name(mine.src, mine.id)})` };
  if (taken) return { lost: true, why: taken };
  const rival = rows.find((r) => r[PORT] === row[PORT] && r[VC] !== row[VC] && r[FLITS] > 0 && r[OUT_VC] >= 0);
  if (rival) return { lost: true, why: `its input port put ${called(rival[PORT], rival[VC])} forward, which lost` };
  return { why: "has just come; asks for the switch next" };
}
