// A recording: frames with the changes of each cycle, and the complete state of any frame. Frame c has the state before
// cycle c and the events of cycle c - 1. recorder.py and recorder.hpp write them.
//
// A running network sends frames as JSON, with these members:
//   c         cycle
//   rows      every virtual channel: router, port, VC, then meta.columns; -1: none
//   v         changed virtual channels, if there are no rows: index of the row, then meta.columns
//   e         events: meta.event_columns, without the last one if it has no value
//   u, q, f   pairs: channel and flits carried, terminal and packets queued, router and occupancy
//   s         changed words of state, by router: pairs of distance from the word before and difference (state.js)
//   w         changed texts in the machine's terms, by router
//   t, l, i   flits created and delivered, latencies of delivered packets, inspected routers
// u, q and f have only the changed values; in the first frame, all values that are not 0.
//
// Saved recordings are packed: the gzip of a line of JSON, { format, meta, frames }, and of binary tables of rows, q,
// f, u, s and e. The frames of the JSON have the other members. recorder.hpp describes the tables' keys and columns,
// change_table.hpp their bytes. unpack() returns frames as a running network sends them.

const KEY_EVERY = 16; // frames between two stored complete states, to which the changes of later frames are applied
const FIRST_REPLY = 2 ** 31;
// Names of the states of circuits. Routers do not buffer the data of circuits, and no flit requests the switch.
const CIRCUIT = ["forward", "reverse"];

function packet_name(src, id) {
  return id >= FIRST_REPLY ? `${src}#r${id - FIRST_REPLY}` : `${src}#${id}`;
}

async function unpack(text) {
  const zipped = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer()), end = bytes.indexOf(10); // end of the line
  const recording = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  add_tables(recording, new Numbers(bytes, end + 1));
  return recording;
}

// Reads numbers in groups of seven bits. They have up to 53 bits, more than JavaScript's bit operations support.
class Numbers {
  constructor(bytes, at, end) { Object.assign(this, { bytes, at, end }); }

  next() {
    let byte = this.bytes[this.at++], number = byte & 127;
    for (let unit = 128; byte > 127; unit *= 128) {
      byte = this.bytes[this.at++];
      number += (byte & 127) * unit;
    }
    return number;
  }

  // Skips a stream and returns its reader. A stream begins with its length in bytes.
  stream() {
    const length = this.next();
    return new Numbers(this.bytes, this.at, (this.at += length));
  }
}

// Reads a table of `width` columns. Calls act(frame, key, values) for each record, in the order of the keys.
function each_record(table, width, act) {
  const keys = table.stream(), frames = table.stream(), changes = table.stream();
  const columns = Array.from({ length: width }, () => table.stream());
  for (let key = 0; keys.at < keys.end;) {
    key += keys.next();
    const values = new Array(width).fill(0);
    for (let count = keys.next(), frame = 0; count > 0; --count) {
      frame += frames.next();
      const changed = changes.next();
      for (let k = 0; k < width; ++k) if (changed & (1 << k)) values[k] = columns[k].next();
      act(frame, key, values);
    }
  }
}

// Adds the values of the tables to the frames.
function add_tables({ meta, frames }, table) {
  for (const frame of frames) Object.assign(frame, { u: [], q: [], f: [] });
  add_rows(frames, table, meta.columns.length);
  for (const member of ["q", "f", "u"]) each_record(table, 1, (i, key, [value]) => frames[i][member].push(key, value));
  add_state(frames, table, meta.routers);
  add_events(frames, table, meta.event_columns.length);
}

// Returns the parts of a key: router or terminal, port, VC.
function place_of(key) {
  return [Math.floor(key / 2 ** 20), Math.floor(key / 2 ** 10) % 2 ** 10, key % 2 ** 10];
}

function add_rows(frames, table, width) {
  const rows = frames.map(() => []); // by frame: lists of the key and the values
  each_record(table, width, (i, key, values) => {
    const row = [key];
    for (const value of values) row.push(value - 1);
    rows[i].push(row);
  });
  let index = new Map(); // of the row, by key
  frames.forEach((frame, i) => {
    if (frame.whole) {
      index = new Map(rows[i].map(([key], k) => [key, k]));
      frame.rows = rows[i].map(([key, ...values]) => [...place_of(key), ...values]);
    } else {
      for (const row of rows[i]) row[0] = index.get(row[0]);
      frame.v = rows[i];
    }
    delete frame.whole;
  });
}

// A record has the eight bytes of two words. The frames have the differences of the words that have changed.
function add_state(frames, table, routers) {
  const last = frames.map(() => new Map()); // by frame and router: place of the last word
  let known = null, words = [0, 0];
  each_record(table, 8, (i, key, values) => {
    if (key !== known) [known, words] = [key, [0, 0]];
    const router = routers[key % routers.length], place = 2 * Math.floor(key / routers.length);
    for (let k = 0; k < 2; ++k) {
      const at = 4 * k, word = values[at] | (values[at + 1] << 8) | (values[at + 2] << 16) | (values[at + 3] << 24);
      if (word === words[k]) continue;
      const changes = ((frames[i].s ??= {})[router] ??= []);
      changes.push(place + k - (last[i].get(router) ?? 0), (word - words[k]) | 0);
      last[i].set(router, place + k);
      words[k] = word;
    }
  });
}

// The key of an event has its columns item, index, port and VC. The first value is its number in the frame.
function add_events(frames, table, width) {
  for (const frame of frames) frame.e = [];
  each_record(table, width - 3, (i, key, values) => {
    const [place, port, vc] = place_of(key), item = place < 2 ** 32 ? 0 : 1;
    const event = [values[1], item, place - item * 2 ** 32, port, vc];
    for (let k = 2; k < values.length; ++k) event.push(values[k]);
    event.push(values[0]); // until the events are sorted
    frames[i].e.push(event);
  });
  for (const { e } of frames) {
    e.sort((a, b) => a[1] - b[1] || a[2] - b[2] || a[width] - b[width]);
    for (const event of e) {
      event.pop();
      const dst = event.pop();
      if (dst) event.push(dst - 1);
    }
  }
}

// Returns the channels between drawn routers as objects: channel, router, port, to_router, to_port.
function links_of({ links }) {
  const names = Object.keys(links);
  return links.channel.map((_, i) => Object.fromEntries(names.map((name) => [name, links[name][i]])));
}

// Returns the values of a row as an object, by the names of their columns. A frame of a large network has thousands of
// rows, and a loop is several times as fast as Object.fromEntries.
function named(columns, values) {
  const row = {};
  for (let i = 0; i < values.length; ++i) row[columns[i]] = values[i];
  return row;
}

const decoded = new Map(); // the last DECODED frames whose events were needed, with these events
const DECODED = 16;

// Returns the events of a frame as objects. Numbers that stand for words become words: kind, item, flit.
function events_of(frame, meta) {
  if (decoded.has(frame)) return decoded.get(frame);
  const worded = Object.entries(meta.event_words);
  const events = frame.e.map((values) => {
    const event = named(meta.event_columns, values);
    for (const [column, words] of worded) event[column] = words[event[column]];
    return event;
  });
  if (decoded.size >= DECODED) decoded.delete(decoded.keys().next().value);
  decoded.set(frame, events);
  return events;
}

// State of one frame: the virtual channels of each router, and for each virtual channel the packets behind its front
// packet, in order of arrival.
class State {
  constructor(meta) {
    this.meta = meta;
    this.queues = new Map(); // by terminal: packets in the source queue
    this.held = new Map(); // by router: occupancy, in the unit meta.full
    this.words = new Map(); // by router: names and notes of its ports and VCs in the machine's terms
    this.behind = new Map();
    this.set_rows([]);
  }

  // `rows`: lists of router, port, VC and meta.columns. They stay lists, which are copied and changed fast; rows_of()
  // makes objects of the few that are shown.
  set_rows(rows) {
    this.keys = rows.map(([router, port, vc]) => ({ router, port, vc }));
    this.values = rows.map((row) => row.slice(2)); // as in frame.v: the values begin at index 1
    this.of_router = new Map();
    rows.forEach(([router], i) => {
      if (!this.of_router.has(router)) this.of_router.set(router, []);
      this.of_router.get(router).push(i);
    });
  }

  copy() {
    const copy = Object.create(State.prototype);
    return Object.assign(copy, this, { values: this.values.slice(), queues: new Map(this.queues),
      behind: new Map(this.behind), words: new Map(this.words), held: new Map(this.held) });
  }

  apply(frame) {
    if (frame.rows) this.set_rows(frame.rows);
    for (const changed of frame.v ?? []) this.values[changed[0]] = changed;
    for (let i = 0; i < frame.q.length; i += 2) this.queues.set(frame.q[i], frame.q[i + 1]);
    for (let i = 0; i < frame.f.length; i += 2) this.held.set(frame.f[i], frame.f[i + 1]);
    for (const [router, changed] of Object.entries(frame.w ?? {}))
      this.words.set(Number(router), { ...this.words.get(Number(router)), ...changed });
    for (const { kind, index, port, vc, src, id, flit, flits } of events_of(frame, this.meta)) {
      const leaves = kind === "switch_granted" && flit.includes("tail");
      if (kind !== "arrived" && !leaves) continue;
      const key = `${index}.${port}.${vc}`, list = this.behind.get(key) ?? [];
      const rest = leaves ? list.filter((p) => p.src !== src || p.id !== id) : [...list, { src, id, flits }];
      rest.length ? this.behind.set(key, rest) : this.behind.delete(key);
    }
  }

  row(i) {
    return { ...this.keys[i], ...named(this.meta.columns, this.values[i].slice(1)) };
  }

  get rows() {
    return this.keys.map((_, i) => this.row(i));
  }

  rows_of(router) {
    return (this.of_router.get(router) ?? []).map((i) => this.row(i));
  }

  occupied_in(router) {
    return this.held.get(router) ?? 0;
  }

  // Returns whether a virtual channel of a router is in one of `stages` (numbers).
  any_in(router, stages) {
    const column = 1 + this.meta.columns.indexOf("stage");
    return (this.of_router.get(router) ?? []).some((i) => stages.includes(this.values[i][column]));
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
    this.begun = frames[0].c; // first cycle, also after its frame has been dropped
    this.sums = []; // by frame: packets delivered since the recording began
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
      if (!this.tip) this.tip = new State(this.meta);
      this.count(frame);
      this.tip.apply(frame);
      if (this.frames.length === 1 || frame.c % KEY_EVERY === 0) this.keys.set(frame.c, this.tip.copy());
    }
    // Drop old frames, but only up to a complete state, because the changes of later frames refer to it.
    while (this.frames.length > window + KEY_EVERY) {
      const next = [...this.keys.keys()].find((c) => c > this.first);
      if (next === undefined || this.last - next + 1 < window) break;
      this.keys.delete(this.first);
      for (const list of [this.full, this.sums]) list.splice(0, next - this.first);
      this.states.drop(this.frames.splice(0, next - this.first));
    }
  }

  // Adds the total occupancy and the delivered packets of a frame; call it before the frame is applied to `tip`.
  count(frame) {
    this.sums.push(this.sums.length ? this.sums.at(-1) + frame.l.length : 0);
    let sum = this.full.at(-1) ?? 0;
    for (let i = 0; i < frame.f.length; i += 2) sum += frame.f[i + 1] - this.tip.occupied_in(frame.f[i]);
    this.full.push(sum);
  }

  // Returns the number of packets delivered since the recording began, up to a cycle.
  delivered(cycle) { return this.sums[cycle - this.first]; }

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
    for (let c = from + 1; c <= cycle; ++c) state.apply(this.frame(c));
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
