// A recording: frames with the changes of each cycle, and the complete state of any frame. Frame c has the state before
// cycle c and the events of cycle c - 1. recorder.py and recorder.hpp write them.

const KEY_EVERY = 16; // frames between two stored complete states, to which the changes of later frames are applied
const FIRST_REPLY = 2 ** 31;
// Names of the states of circuits. Routers do not buffer the data of circuits, and no flit requests the switch.
const CIRCUIT = ["forward", "reverse"];

function packet_name(src, id) {
  return id >= FIRST_REPLY ? `${src}#r${id - FIRST_REPLY}` : `${src}#${id}`;
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// Returns the channels between drawn routers as objects: channel, router, port, to_router, to_port.
function links_of({ links }) {
  const names = Object.keys(links);
  return links.channel.map((_, i) => Object.fromEntries(names.map((name) => [name, links[name][i]])));
}

// Returns the values of a row as an object, by the names of their columns.
function named(columns, values) {
  return Object.fromEntries(values.map((value, i) => [columns[i], value]));
}

// Returns the events of a frame as objects. Numbers that stand for words become words: kind, item, flit.
function events_of(frame, meta) {
  return frame.e.map((values) => {
    const event = named(meta.event_columns, values);
    for (const [column, words] of Object.entries(meta.event_words)) event[column] = words[event[column]];
    return event;
  });
}

// State of one frame: the virtual channels of each router, and for each virtual channel the packets behind its front
// packet, in order of arrival.
class State {
  constructor(rows, queues) {
    this.queues = queues;
    this.held = new Map(); // by router: occupancy, in the unit meta.full
    this.words = new Map(); // by router: names and notes of its ports and VCs in the machine's terms
    this.behind = new Map();
    this.set_rows(rows);
  }

  set_rows(rows) {
    this.rows = rows;
    this.of_router = new Map();
    rows.forEach((row, i) => {
      if (!this.of_router.has(row.router)) this.of_router.set(row.router, []);
      this.of_router.get(row.router).push(i);
    });
  }

  copy() {
    const copy = Object.create(State.prototype);
    return Object.assign(copy, { rows: this.rows.slice(), of_router: this.of_router, queues: new Map(this.queues),
      behind: new Map(this.behind), words: new Map(this.words), held: new Map(this.held) });
  }

  apply(frame, meta) {
    const columns = [...meta.key_columns, ...meta.columns]; // the key identifies the virtual channel: router, port and VC
    if (frame.rows) this.set_rows(frame.rows.map((values) => named(columns, values)));
    for (const [i, ...values] of frame.v ?? []) this.rows[i] = { ...this.rows[i], ...named(meta.columns, values) };
    for (let i = 0; i < frame.q.length; i += 2) this.queues.set(frame.q[i], frame.q[i + 1]);
    for (let i = 0; i < frame.f.length; i += 2) this.held.set(frame.f[i], frame.f[i + 1]);
    for (const [router, changed] of Object.entries(frame.w ?? {}))
      this.words.set(Number(router), { ...this.words.get(Number(router)), ...changed });
    for (const { kind, index, port, vc, src, id, flit, flits } of events_of(frame, meta)) {
      const key = `${index}.${port}.${vc}`, list = this.behind.get(key) ?? [];
      if (kind === "arrived") this.behind.set(key, [...list, { src, id, flits }]);
      else if (kind === "switch_granted" && flit.includes("tail"))
        this.behind.set(key, list.filter((p) => p.src !== src || p.id !== id));
    }
  }

  rows_of(router) {
    return (this.of_router.get(router) ?? []).map((i) => this.rows[i]);
  }

  occupied_in(router) {
    return this.held.get(router) ?? 0;
  }

  // Returns whether a virtual channel of a router is in one of `stages` (numbers).
  any_in(router, stages) {
    return (this.of_router.get(router) ?? []).some((i) => stages.includes(this.rows[i].stage));
  }

  // Returns the flits of an input buffer, front first, as runs of { src, id, flits }; src is -1 if the packet is
  // unknown.
  runs(row) {
    const runs = [];
    let rest = row.flits;
    const add = (src, id, flits) => {
      if (rest > 0 && flits > 0) runs.push({ src, id, flits: Math.min(flits, rest) });
      rest -= Math.min(flits, rest);
    };
    if (row.src < 0) return rest > 0 ? [{ src: -1, id: 0, flits: rest }] : [];
    const list = this.behind.get(`${row.router}.${row.port}.${row.vc}`) ?? [];
    const front = list.findIndex((p) => p.src === row.src && p.id === row.id);
    const others = list.filter((p, i) => i > front && (p.src !== row.src || p.id !== row.id));
    const alone = row.packets <= 1;
    add(row.src, row.id, alone ? rest : Math.max(1, row.left));
    for (const p of others) add(p.src, p.id, p.flits);
    add(-1, 0, rest);
    return runs;
  }
}

class Recording {
  constructor({ meta, frames }) {
    this.meta = meta;
    this.frames = [];
    this.keys = new Map(); // complete states by cycle
    this.full = []; // by frame: occupancy of all drawn routers together, in the unit meta.full
    this.places = meta.places.reduce((sum, places) => sum + places, 0);
    this.place = new Map(meta.routers.map((r, i) => [r, i]));
    this.states = new RouterStates(this);
    this.append(frames, Infinity);
  }

  get first() { return this.frames[0].c; }
  get last() { return this.frames[this.frames.length - 1].c; }

  frame(cycle) { return this.frames[cycle - this.first]; }

  append(frames, window) {
    for (const frame of frames) {
      this.frames.push(frame);
      if (!this.tip) this.tip = new State([], new Map());
      this.count(frame);
      this.tip.apply(frame, this.meta);
      if (this.frames.length === 1 || frame.c % KEY_EVERY === 0) this.keys.set(frame.c, this.tip.copy());
    }
    // Drop old frames, but only up to a complete state, because the changes of later frames refer to it.
    while (this.frames.length > window + KEY_EVERY) {
      const next = [...this.keys.keys()].find((c) => c > this.first);
      if (next === undefined || this.last - next + 1 < window) break;
      this.keys.delete(this.first);
      this.full.splice(0, next - this.first);
      this.states.drop(this.frames.splice(0, next - this.first));
    }
  }

  // Adds the total occupancy of a frame; call it before the frame is applied to `tip`.
  count(frame) {
    let sum = this.full.at(-1) ?? 0;
    for (let i = 0; i < frame.f.length; i += 2) sum += frame.f[i + 1] - this.tip.occupied_in(frame.f[i]);
    this.full.push(sum);
  }

  // Returns the occupancy of a router as a fraction of its capacity, 0 to 1.
  fill(cycle, router) {
    const places = this.meta.places[this.place.get(router)];
    return places ? this.state(cycle).occupied_in(router) / places : 0;
  }

  state(cycle) {
    if (this.shown?.cycle === cycle) return this.shown.state;
    let from = cycle;
    while (from > this.first && !this.keys.has(from)) --from;
    let state = this.keys.get(from).copy();
    if (this.shown && this.shown.cycle < cycle && this.shown.cycle >= from) {
      state = this.shown.state.copy(); // the shown state is nearer to `cycle` than the complete state
      from = this.shown.cycle;
    }
    for (let c = from + 1; c <= cycle; ++c) state.apply(this.frame(c), this.meta);
    this.shown = { cycle, state };
    return state;
  }

  // Returns the events of one cycle as objects.
  events(cycle) {
    const frame = cycle + 1 > this.first && cycle + 1 <= this.last ? this.frame(cycle + 1) : null;
    return frame ? events_of(frame, this.meta) : [];
  }

  // Returns whether the recording has the complete state and the texts of a router: if the router is inspected or the
  // network small.
  is_detailed(router, cycle) {
    return this.meta.all_detailed || !!this.frame(cycle).i?.includes(router);
  }

  // Returns the names and notes of a router's ports and VCs in the machine's terms, if they are recorded.
  words(router, cycle) {
    return this.is_detailed(router, cycle) ? this.state(cycle).words.get(router) : undefined;
  }

  // Returns the complete state of a router as a tree, if it is recorded.
  tree(router, cycle) {
    return this.is_detailed(router, cycle) ? this.states.tree(router, cycle) : undefined;
  }

  name(router) { return this.meta.names[this.place.get(router)] ?? `${router}`; }
  port_name(router, port) { return this.meta.ports[this.place.get(router)]?.[port] ?? `port ${port}`; }
  peer(router, port) {
    const i = this.place.get(router);
    return { peer: this.meta.peers[i]?.[port] ?? null, to_terminal: this.meta.to_terminal[i]?.[port] ?? false };
  }
  stage(row) { return this.meta.stages[row.stage]; }
  get has_credits() { return this.meta.facts.credits !== ""; }
  get has_circuits() { return CIRCUIT.some((stage) => this.meta.stages.includes(stage)); }

  // Cycles from the switch grant to the arrival at the next router, taken from the first such pair in the recording.
  get flight() {
    if (this.flight_) return this.flight_;
    const sent = new Map();
    for (const { c } of this.frames.slice(1))
      for (const e of this.events(c - 1)) {
        const name = packet_name(e.src, e.id);
        if (e.kind === "switch_granted" && e.flit.includes("head") && !this.peer(e.index, e.out_port).to_terminal)
          sent.set(`${name} ${this.peer(e.index, e.out_port).peer}`, c - 1);
        else if (e.kind === "arrived" && sent.has(`${name} ${e.index}`))
          return (this.flight_ = Math.min(64, Math.max(1, c - 1 - sent.get(`${name} ${e.index}`))));
      }
    return 1;
  }
}
