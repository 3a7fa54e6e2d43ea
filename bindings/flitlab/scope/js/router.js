// Panel of a router: its ports, virtual channels with their buffers and credits, and the results of arbitration.

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}

function packet_button(src, id, follow) {
  const name = packet_name(src, id);
  return make("button", { class: "scope-packet", type: "button", "data-packet": name, title: `follow packet ${name}`,
    style: `--packet: ${packet_colour(src, id)}`, onclick: () => follow({ src, id }) }, name);
}

// Draws a buffer as cells; the front is on the right, where packets leave. The flits of a packet are one button.
function buffer_cells(runs, places, follow) {
  const parts = [], flits = runs.reduce((sum, run) => sum + run.flits, 0);
  let room = flits > 16 ? 14 : flits;
  for (const { src, id, flits: count } of runs) {
    const shown = Math.min(count, room), title = src < 0 ? "a flit" : `flit of ${packet_name(src, id)}`;
    const cell = () => make("span", { class: "scope-cell scope-full", style: `--packet: ${packet_colour(src, id)}`, title });
    room -= shown;
    if (!shown) continue;
    const cells = Array.from({ length: shown }, cell);
    parts.unshift(src < 0 ? make("span", {}, ...cells) : make("button", { class: "scope-run", type: "button",
      "aria-label": `follow packet ${packet_name(src, id)}, ${counted(count, "flit")}`, onclick: () => follow({ src, id }) }, ...cells));
  }
  if (flits > 16) return make("span", { class: "scope-buffer" }, ...parts, ` ${flits} flits`);
  const empty = Array.from({ length: Math.max(0, Math.min(16, places ?? 0) - flits) }, () => make("span", { class: "scope-cell" }));
  return make("span", { class: "scope-buffer" }, ...empty, ...parts);
}

// words: the names and notes of its ports and VCs in the machine's terms, as texts_of (bindings/frames/json.hpp)
// gives them; or null.
function draw_router(el, recording, router, cycle, follow, words) {
  el.unfolded ??= new Set(); // ports whose idle virtual channels are shown one by one
  const i = recording.place.get(router), state = recording.state(cycle), rows = state.rows_of(router);
  const { name_of, notes } = texts_of(words);
  const past = cycle > recording.first ? arbitration(recording, router, cycle - 1, name_of, (port, vc) => notes(port, vc)[1])
    : { wins: [], vc_grants: [], fates: new Map() };
  const table = make("table", { class: "scope-ports" });
  const credits = recording.has_credits ? [`${recording.meta.facts.credits} out`] : [];
  const columns = ["input VC", "buffer (front on the right)", "packet", "state", "output", ...credits, `in cycle ${cycle - 1}`];
  const about = (text) => (text === credits[0] ? "Credits of the output VC with the same port and VC number; the packet may request another output." : null);
  table.append(make("tr", {}, ...columns.map((text) => make("th", { title: about(text) }, text))));
  recording.meta.ports[i].forEach((name, port) => {
    const { peer, to_terminal } = recording.peer(router, port);
    const where = peer === null ? "not wired" : to_terminal ? `terminal ${peer}` : `router ${recording.name(peer)}`;
    const queued = to_terminal && peer !== null ? state.queues.get(peer) : 0;
    const waiting = queued ? `, ${queued} packets in its source queue` : "";
    const reason = words?.port_notes[port] ?? "";
    table.append(make("tr", { class: "scope-port", "data-note": reason || null }, make("td", { colspan: columns.length }, make("b", {}, name),
      ` — ${where}${waiting}`, reason ? make("span", { class: "scope-said" }, ` — ${reason}`) : null)));
    const mine = rows.filter((r) => r.port === port), idle = mine.filter((row) => is_idle(recording, row, past, notes));
    const folded = idle.length > 1 && !el.unfolded.has(`${router}.${port}`);
    for (const row of mine) {
      const line = channel_row(recording, state, row, past, follow, name_of, notes(port, row.vc)[0]);
      if (idle.length > 1 && idle.includes(row)) line.dataset.idle = `${router}.${port}`;
      line.hidden = folded && idle.includes(row);
      table.append(line);
    }
    if (idle.length > 1) table.append(idle_line(el, table, `${router}.${port}`, idle.map((row) => name_of(port, row.vc)), columns.length));
  });
  el.replaceChildren(
    make("h3", {}, `Router ${recording.name(router)} at cycle ${cycle}: ${contents(recording, rows)}`),
    winners(recording, router, cycle, past, follow, name_of), table);
}

// Returns whether a virtual channel has nothing to show: no flit, no packet, no note, and no packet that uses it as output.
function is_idle(recording, row, { fates }, notes) {
  return !row.flits && row.src < 0 && row.owner_port < 0 && recording.stage(row) === "idle" && !fates.has(`${row.port}.${row.vc}`)
    && !notes(row.port, row.vc)[0];
}

// Returns the line that stands for the idle virtual channels of a port; a click shows or hides their lines.
function idle_line(el, table, key, names, columns) {
  const text = () => (el.unfolded.has(key) ? "hide the idle ones" : `${names.length} idle: ${names.join(", ")}`);
  const button = make("button", { type: "button", class: "scope-fold", "aria-expanded": el.unfolded.has(key), onclick: () => {
    el.unfolded.has(key) ? el.unfolded.delete(key) : el.unfolded.add(key);
    for (const line of table.querySelectorAll(`[data-idle="${key}"]`)) line.hidden = !el.unfolded.has(key);
    button.textContent = text();
    button.setAttribute("aria-expanded", el.unfolded.has(key));
  } }, text());
  return make("tr", { class: "scope-idle" }, make("td", { colspan: columns }, button));
}

function counted(n, what) {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}

// Returns the contents of a router as text: flits in buffers, messages in queues, or open circuits, which buffer no
// data.
function contents(recording, rows) {
  if (recording.meta.facts.message_queues)
    return `${counted(rows.reduce((sum, row) => sum + row.packets, 0), "message")} in its queues`;
  const circuits = rows.filter((row) => CIRCUIT.includes(recording.stage(row))).length;
  return circuits ? counted(circuits, "open circuit") : counted(rows.reduce((sum, row) => sum + row.flits, 0), "flit");
}

function channel_row(recording, state, row, { fates }, follow, name_of, note) {
  const key = `${row.port}.${row.vc}`, fate = fates.get(key), stage = recording.stage(row);
  const to = row.out_port < 0 ? "" : recording.port_name(row.router, row.out_port) + (row.out_vc < 0 ? "" : ` ${name_of(row.out_port, row.out_vc)}`);
  const mark = fate?.won ? "✓ " : fate?.lost ? "✗ " : "";
  return make("tr", { class: fate?.won ? "scope-won" : fate?.lost ? "scope-lost" : "", "data-vc": key, "data-flits": row.flits,
    "data-stage": stage, "data-credits": row.credits, "data-front": row.src < 0 ? "" : packet_name(row.src, row.id) },
  make("td", { class: "scope-name" }, name_of(row.port, row.vc), note ? make("div", { class: "scope-said" }, note) : null),
  make("td", {}, buffer_cells(state.runs(row), row.capacity, follow)),
  make("td", {}, row.src < 0 ? "" : packet_button(row.src, row.id, follow)),
  make("td", {}, stage), make("td", {}, to), recording.has_credits ? make("td", { class: "scope-credits" }, `${row.credits}`) : null,
  make("td", { class: "scope-why" }, mark + (fate?.why ?? "")));
}

function winners(recording, router, cycle, { wins, fates }, follow, name_of) {
  const list = make("ul", { class: "scope-winners" });
  for (const e of wins) {
    const from = `${recording.port_name(router, e.port)} ${name_of(e.port, e.vc)}`, to = `${recording.port_name(router, e.out_port)} ${name_of(e.out_port, e.out_vc)}`;
    list.append(make("li", { "data-win": `${e.port}.${e.vc}>${e.out_port}.${e.out_vc} ${packet_name(e.src, e.id)}` },
      `${from} → ${to}: ${flit_name(e)} of `, packet_button(e.src, e.id, follow)));
  }
  const lost = [...fates.values()].filter((f) => f.lost).length;
  const text = cycle <= recording.first ? "The recording begins here."
    : recording.has_circuits ? `${counted(lost, "connection")} blocked or released.`
    : `Cycle ${cycle - 1}: ${counted(wins.length, recording.meta.facts.whole_packets ? "packet" : "flit")} crossed the switch; ${counted(lost, "virtual channel")} waited without a grant.`;
  return make("div", {}, make("p", {}, text), list);
}

function text_of(value) {
  return Array.isArray(value) ? value.slice(0, 32).join(", ") + (value.length > 32 ? " …" : "") : `${value}`;
}

// Draws the complete state of a router as a tree, in the machine's terms. It is closed until the reader opens it.
function draw_tree(el, tree, cycle) {
  if (!tree) return el.replaceChildren();
  const part = ({ kind, name, values, parts }, place, open) => make("details", { open },
    make("summary", {}, `${kind} ${name || place}`),
    make("dl", {}, ...values.flatMap(({ name: label, value, unit, help }) => [make("dt", { title: help }, label),
      make("dd", {}, `${text_of(value)} ${unit}`)])),
    ...parts.map((p, i) => part(p, i, false)));
  const open = el.querySelector("details")?.open ?? false, whole = part(tree, "", open);
  whole.querySelector("summary").textContent = `complete state at cycle ${cycle}: ${tree.kind} ${tree.name}`;
  el.replaceChildren(whole);
}
