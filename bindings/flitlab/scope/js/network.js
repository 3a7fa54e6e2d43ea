// Drawing of the network on a canvas: routers with their occupancy, channels with their utilisation, flits on channels,
// and overlays: connections, the path of a packet, and causes for which flits wait.

// Colours of packets. Together with the colours of CAUSES (blocked.js) they differ for colour-blind readers, too, and
// have a contrast of at least 3:1 with the paper of both themes (tests/bindings/scope/test_colours.py).
const PALETTE = ["#0091FF", "#0A7B44", "#CA2A3E", "#B580C5", "#6F56CF", "#FD529A", "#B52FA7"];
const UNKNOWN_PACKET = "#888888";
const USE_WINDOW = 32; // cycles over which channel utilisation is averaged
const USE_THICKEST = 5; // extra line width of a channel in use in every cycle, pixels
const SMALL_DOT = 1.8; // radius below which a flit is drawn as a square, pixels
const LONGEST = 300; // longest time that a whole packet occupies a channel, cycles

function packet_colour(src, id) {
  return src < 0 ? UNKNOWN_PACKET : PALETTE[(src * 31 + (id % FIRST_REPLY) * 5) % PALETTE.length];
}

// Returns the colour of a flit: of its packet, or of the virtual channel that it uses.
function flit_colour({ src, id, vc }, by) {
  return by === "vc" ? PALETTE[vc % PALETTE.length] : packet_colour(src, id);
}

class NetworkView {
  constructor(canvas) {
    Object.assign(this, { canvas, zoom: 1, pan: [0, 0], colour_by: "packet" });
  }

  // Computes the positions of routers and channels on the canvas, in CSS pixels.
  fit(recording) {
    const { meta } = recording, { x, y, routers } = meta;
    if (this.recording?.meta !== meta) Object.assign(this, { shapes: shapes_of(meta), titles: titles_of(meta) });
    this.recording = recording;
    this.width = this.canvas.clientWidth || 640;
    this.height = this.canvas.clientHeight || 480;
    const scale = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = this.width * scale;
    this.canvas.height = this.height * scale;
    this.pixels = scale;
    this.font = parseFloat(getComputedStyle(this.canvas).fontSize) || 13;
    const [left, right, low, high] = [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)];
    const aside = recording.has_circuits ? 6 : 0; // for the numbers of the terminals
    const wide = Math.max(60, this.width - (4 + aside) * this.font), tall = Math.max(60, this.height - 4 * this.font);
    const units = [wide / (right - left + 1.1), tall / (high - low + 1.1)], unit = Math.min(130, ...units) * this.zoom;
    const [ux, uy] = this.titles[0]?.stretched ? units.map((u) => Math.min(130, u) * this.zoom) : [unit, unit];
    const [cx, cy] = [this.width / 2 + this.pan[0], this.height / 2 + this.pan[1]];
    this.unit = unit;
    this.places = routers.map((_, i) => [cx + (x[i] - (left + right) / 2) * ux, cy - (y[i] - (low + high) / 2) * uy]);
    this.size = routers.length === 1 ? Math.min(wide, tall) * 0.55 * this.zoom : Math.max(4, Math.min(46 * this.zoom, unit * 0.42));
    const place = (router) => this.places[recording.place.get(router)];
    this.wires = links_of(meta).map((link, i) =>
      new Wire(link, this.shapes[i], place(link.router), place(link.to_router), unit, this.size));
    this.longest = this.wires.reduce((most, wire) => Math.max(most, wire.cycles ?? 0), 0);
    this.by_port = new Map(this.wires.map((w) => [`${w.a}.${w.p}`, w]));
  }

  // Zooms by a factor around a position on the canvas, which stays where it is.
  zoom_by(factor, [x, y] = [this.width / 2, this.height / 2]) {
    const zoom = Math.max(1, Math.min(40, this.zoom * factor)), by = zoom / this.zoom;
    const [dx, dy] = [x - this.width / 2, y - this.height / 2];
    this.pan = zoom === 1 ? [0, 0] : [dx + (this.pan[0] - dx) * by, dy + (this.pan[1] - dy) * by];
    this.zoom = zoom;
    // One finger scrolls the page while the whole network is shown, and moves the drawing while it is enlarged.
    this.canvas.style.touchAction = zoom > 1 ? "none" : "";
    this.fit(this.recording);
  }

  // Moves the drawing, at most by half of its size.
  pan_by(dx, dy) {
    const within = (at, most) => Math.max(-most, Math.min(most, at));
    if (this.zoom > 1) this.pan = [within(this.pan[0] + dx, (this.width * this.zoom) / 2), within(this.pan[1] + dy, (this.height * this.zoom) / 2)];
    this.fit(this.recording);
  }

  // Returns the place to which flits for the terminals of a router move.
  terminal_place(router) {
    const [x, y] = this.places[this.recording.place.get(router)];
    return [x + this.size * 0.95, y - this.size * 0.95];
  }

  // Returns the place of a port of the only router. side: -1 for inputs, on the left; 1 for outputs, on the right.
  port_place(port, side) {
    const [x, y] = this.places[0], count = this.recording.meta.ports[0].length;
    return [x + side * this.size * 0.5, y + this.size * ((port + 0.5) / count - 0.5)];
  }

  // Returns the flits on channels at `cycle` plus a fraction `part` of a cycle: { src, id, vc, at, head }.
  flits(cycle, part) {
    return this.under_way(cycle).map(({ sent, place, flight, src, id, vc, head }) => ({ src, id, vc, head,
      at: place(Math.min(1, (cycle - sent - 1 + part) / flight)) }));
  }

  // Returns the flits that are on channels during `cycle`: { sent, place, flight, src, id, head }. `sent`: cycle of the
  // switch grant; `place(t)`: position after the fraction t of the flit's time on the channel, `flight` cycles.
  under_way(cycle) {
    if (this.moving?.cycle === cycle && this.moving.places === this.places) return this.moving.found;
    const recording = this.recording, found = [];
    for (let sent = Math.max(recording.first, cycle - Math.max(recording.flight, this.longest)); sent < cycle; ++sent)
      for (const e of recording.events(sent)) {
        if (e.kind !== "switch_granted" || e.item === "terminal") continue;
        const wire = this.by_port.get(`${e.index}.${e.out_port}`);
        if (!wire && !recording.peer(e.index, e.out_port).to_terminal) continue;
        const flight = wire?.cycles ?? recording.flight;
        if (sent < cycle - flight) continue;
        const [from, to] = recording.meta.routers.length === 1 ? [this.port_place(e.port, -1), this.port_place(e.out_port, 1)]
          : [this.places[recording.place.get(e.index)], this.terminal_place(e.index)];
        const place = wire ? (t) => wire.point(t) : (t) => [0, 1].map((k) => from[k] + (to[k] - from[k]) * t);
        found.push({ sent, place, flight, src: e.src, id: e.id, vc: e.out_vc, head: e.flit.includes("head") });
      }
    this.moving = { cycle, places: this.places, found };
    return found;
  }

  use(cycle) {
    if (this.recording.meta.facts.whole_packets) return this.occupation(cycle);
    const sums = new Map(), from = Math.max(this.recording.first + 1, cycle - USE_WINDOW + 1);
    for (let c = from; c <= cycle; ++c) {
      const { u } = this.recording.frame(c);
      for (let i = 0; i < u.length; i += 2) sums.set(u[i], (sums.get(u[i]) ?? 0) + u[i + 1]);
    }
    const cycles = Math.max(1, cycle - from + 1);
    for (const [channel, sum] of sums) sums.set(channel, Math.min(1, sum / cycles));
    return sums;
  }

  // Returns the utilisation of channels that whole packets occupy, by channel. The frame in which a packet starts counts all cycles
  // for which it will occupy the channel; this function spreads the count over these cycles.
  occupation(cycle) {
    const sums = new Map(), first = this.recording.first, from = Math.max(first, cycle - USE_WINDOW);
    for (let c = Math.max(first + 1, from - LONGEST); c <= cycle; ++c) {
      const { u } = this.recording.frame(c);
      for (let i = 0; i < u.length; i += 2) {
        const taken = Math.min(cycle, c - 1 + u[i + 1]) - Math.max(from, c - 1);
        if (taken > 0) sums.set(u[i], Math.min(1, (sums.get(u[i]) ?? 0) + taken / Math.max(1, cycle - from)));
      }
    }
    return sums;
  }

  // Draws a frame. Routers and channels do not change within a cycle and are drawn once, by draw_still(). selected:
  // { router, packet, way, deadlock, overlay, other }; other: hops of another path, as [router, output port].
  draw(cycle, part, selected) {
    const css = getComputedStyle(this.canvas), colours = {};
    for (const name of ["ink", "quiet", "used", "paper", "alarm"]) colours[name] = css.getPropertyValue(`--scope-${name}`).trim();
    const { router, packet, way, deadlock, overlay, other } = selected, last = this.still;
    const now = [this.places, this.recording.last, cycle, router, packet, way, deadlock, overlay, other, colours.ink, colours.paper, this.font];
    if (!last || now.some((x, i) => x !== last.now[i])) this.still = this.draw_still(now, cycle, colours, selected);
    const draw = this.canvas.getContext("2d");
    draw.setTransform(1, 0, 0, 1, 0, 0);
    draw.clearRect(0, 0, this.canvas.width, this.canvas.height);
    draw.drawImage(this.still.canvas, 0, 0);
    draw.setTransform(this.pixels, 0, 0, this.pixels, 0, 0);
    const radius = Math.max(1.6, Math.min(9, this.size * 0.13));
    this.draw_flits(draw, cycle, part, { packet, radius, ink: colours.ink });
    if (this.recording.has_circuits) this.draw_words(draw, cycle, part, radius, colours);
  }

  // Draws the flits. Flits of the same colour and size are one path, because a path of many circles is drawn faster than
  // many paths; small ones are squares.
  draw_flits(draw, cycle, part, { packet, radius, ink }) {
    const groups = new Map();
    for (const flit of this.flits(cycle, part)) {
      const followed = packet && flit.src === packet.src && flit.id === packet.id, kind = followed ? 2 : flit.head ? 1 : 0;
      const key = `${kind}${flit_colour(flit, this.colour_by)}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(flit.at);
    }
    draw.strokeStyle = ink;
    for (const [key, places] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const [edge, grown] = [[0, 1], [0.7, 1.25], [2, 1.8]][key[0]], r = radius * grown;
      draw.beginPath();
      for (const [x, y] of places) {
        if (r < SMALL_DOT) draw.rect(x - r, y - r, 2 * r, 2 * r);
        else {
          draw.moveTo(x + r, y);
          draw.arc(x, y, r, 0, 7);
        }
      }
      draw.fillStyle = key.slice(1);
      draw.fill();
      if (!edge) continue;
      draw.lineWidth = edge;
      draw.stroke();
    }
  }

  // Draws channels and routers on a separate canvas.
  draw_still(now, cycle, colours, selected) {
    const canvas = this.still?.canvas ?? document.createElement("canvas");
    // Setting the size also clears the canvas.
    Object.assign(canvas, { width: this.canvas.width, height: this.canvas.height });
    const draw = canvas.getContext("2d");
    draw.setTransform(this.pixels, 0, 0, this.pixels, 0, 0);
    this.draw_channels(draw, cycle, colours);
    if (this.recording.has_circuits) this.draw_connections(draw, cycle, colours);
    this.draw_way(draw, cycle, selected);
    this.draw_other(draw, selected.other ?? [], colours);
    if (selected.deadlock) this.draw_waits(draw, cycle, selected, colours);
    this.draw_routers(draw, cycle, colours, selected);
    this.draw_titles(draw, colours);
    if (selected.router !== undefined) this.draw_wanted(draw, cycle, selected.router);
    return { now, canvas };
  }

  draw_channels(draw, cycle, { ink, quiet, used }) {
    const use = this.use(cycle), arrows = this.wires.length <= 800 && this.size >= 12;
    for (const wire of this.wires) {
      const share = use.get(wire.channel) ?? 0;
      draw.strokeStyle = draw.fillStyle = share ? used : quiet;
      draw.globalAlpha = share ? 0.35 + 0.65 * share : wire.faint ? 0.35 : 0.8;
      draw.lineWidth = share ? 1 + share * Math.min(USE_THICKEST, this.size * 0.22) : 1;
      wire.trace(draw);
      draw.stroke();
      if (arrows) wire.arrow(draw, wire.out ? 0.44 : 0.64, Math.min(7, 3.2 + this.size * 0.07));
    }
    draw.globalAlpha = 1;
    draw.strokeStyle = ink;
    draw.lineWidth = 1.5;
    for (const wire of this.wires) if (wire.dateline && this.size >= 8) wire.mark(draw, this.size * 0.2);
  }

  // Draws the path of the followed packet up to the shown cycle.
  draw_way(draw, cycle, { packet, way }) {
    for (const hop of way?.hops ?? []) {
      const wire = this.by_port.get(`${hop.router}.${hop.out_port}`);
      if (!wire || hop.granted >= cycle) continue;
      draw.strokeStyle = packet_colour(packet.src, packet.id);
      draw.lineWidth = Math.max(3, this.size * 0.3);
      wire.trace(draw);
      draw.stroke();
    }
  }

  // Draws the path that another routing algorithm would take.
  draw_other(draw, hops, { ink }) {
    draw.strokeStyle = draw.fillStyle = ink;
    draw.lineWidth = 2.5;
    for (const [router, port] of hops) {
      const wire = this.by_port.get(`${router}.${port}`);
      if (!wire) continue; // the last hop leads to the terminal
      draw.setLineDash([6, 4]);
      wire.trace(draw);
      draw.stroke();
      draw.setLineDash([]);
      wire.arrow(draw, 0.6, Math.max(8, this.size * 0.25));
    }
  }

  // Draws each connection as a line in the colour of its source. The line is dashed while the connection is being closed.
  // Arrows show the direction of the data; the last one is the front of a connection that is being opened.
  draw_connections(draw, cycle, { alarm }) {
    const wide = Math.max(2, this.size * 0.28), all = connections(this.recording, cycle);
    this.draw_terminals(draw, all, wide, alarm);
    for (const { src, spans } of all)
      spans.forEach(({ router, out_port, stage }, i) => {
        const wire = this.by_port.get(`${router}.${out_port}`);
        if (!wire) return;
        const closing = BLOCKED_STATES.includes(stage);
        draw.strokeStyle = draw.fillStyle = closing ? alarm : packet_colour(src, 0);
        draw.lineWidth = wide;
        draw.setLineDash(closing ? [2 * wide, 2 * wide] : []);
        wire.trace(draw);
        draw.stroke();
        draw.setLineDash([]);
        wire.arrow(draw, 0.55, 2.2 * wide + (i === spans.length - 1 ? 2 : 0), stage === "reverse");
      });
  }

  // Draws the ends of connections: short lines to their sources, on the left, and to their sinks, on the right, with the
  // numbers of the terminals.
  draw_terminals(draw, all, wide, alarm) {
    const long = this.size * 1.5 + 4, numbers = new Map();
    draw.textBaseline = "middle";
    draw.font = `${this.font * 0.8}px sans-serif`;
    for (const { src, spans } of all) {
      const { router: last, out_port, stage } = spans.at(-1), sink = this.recording.peer(last, out_port);
      const ends = [src >= 0 && [spans[0].router, -1, src], sink.to_terminal && [last, 1, sink.peer]];
      for (const [router, side, terminal] of ends.filter((end) => end)) {
        const [x, y] = this.places[this.recording.place.get(router)], from = x + (side * this.size) / 2, key = `${router} ${side}`;
        draw.fillStyle = BLOCKED_STATES.includes(stage) ? alarm : packet_colour(src, 0);
        draw.fillRect(Math.min(from, from + side * long), y - wide / 2, long, wide);
        numbers.set(key, [...(numbers.get(key) ?? []), terminal]);
        const before = draw.measureText(numbers.get(key).slice(0, -1).join(" ") + (numbers.get(key).length > 1 ? " " : "")).width;
        draw.textAlign = side < 0 ? "right" : "left";
        draw.fillText(`${terminal}`, from + side * (long + 3 + before), y);
      }
    }
    draw.textBaseline = "alphabetic";
  }

  // Draws the words of circuits on their way to the routers where they arrive in this cycle.
  draw_words(draw, cycle, part, radius, { ink, paper }) {
    this.into ??= new Map();
    if (this.into.of !== this.wires) {
      this.into = new Map(this.wires.flatMap((w) => [[`${w.b}.${w.q}`, [w, false]], [`${w.a}.${w.p}`, [w, true]]]));
      this.into.of = this.wires;
    }
    for (const { router, port, word } of arriving_words(this.recording, cycle)) {
      const [wire, back] = this.into.get(`${router}.${port}`) ?? [];
      if (!wire) continue;
      const at = wire.point(back ? 1 - part : part), control = !word.startsWith("DATA"), empty = word === "DATA-IDLE", r = control ? radius * 2.2 + 2 : radius + 1;
      draw.beginPath();
      draw.arc(...at, r, 0, 7);
      draw.fillStyle = control || empty ? paper : ink;
      draw.fill();
      draw.strokeStyle = ink;
      draw.lineWidth = 1;
      draw.stroke();
      if (!control) continue;
      this.write(draw, word[0], at[0], at[1] + r * 0.55, { ink, paper: null }, "center", Math.max(8, r * 1.5));
    }
  }

  // Draws arrows along the channels of a deadlock: from a router whose front packet waits to the router that it waits for.
  draw_waits(draw, cycle, { deadlock: stuck, is_wait }, { alarm }) {
    draw.strokeStyle = draw.fillStyle = alarm;
    for (const row of this.recording.state(cycle).rows) {
      if (row.out_port < 0 || row.src < 0 || !stuck.has(row.router) || !is_wait(row)) continue;
      const wire = this.by_port.get(`${row.router}.${row.out_port}`);
      if (!wire || !stuck.has(wire.b)) continue;
      draw.lineWidth = Math.max(2.5, this.size * 0.14);
      wire.trace(draw);
      draw.stroke();
      wire.arrow(draw, wire.out ? 0.44 : 0.6, Math.max(8, this.size * 0.34));
    }
  }

  // Draws, for the inspected router, arrows along the outputs for which its packets wait, in the colours of the causes.
  draw_wanted(draw, cycle, router) {
    for (const { out_port, cause } of blocked_in(this.recording, router, cycle)) {
      const wire = this.by_port.get(`${router}.${out_port}`);
      if (!wire) continue;
      draw.strokeStyle = draw.fillStyle = CAUSES[cause][1];
      draw.lineWidth = 3;
      draw.setLineDash([5, 4]);
      wire.trace(draw);
      draw.stroke();
      draw.setLineDash([]);
      wire.arrow(draw, wire.out ? 0.4 : 0.8, Math.max(8, this.size * 0.3));
    }
  }

  draw_routers(draw, cycle, colours, { router, deadlock, overlay }) {
    const { ink, paper, used, alarm } = colours, { meta } = this.recording, half = this.size / 2;
    const state = this.recording.state(cycle), blocked_states = BLOCKED_STATES.map((stage) => meta.stages.indexOf(stage));
    const counts = overlay && overlay !== "none" ? counts_of_blocked(this.recording, cycle, overlay) : new Map();
    const most = Math.max(1, ...[...counts.values()].flatMap((sums) => Object.values(sums)));
    meta.routers.forEach((r, i) => {
      const [x, y] = this.places[i], full = this.recording.fill(cycle, r);
      if (x < -this.size || y < -this.size || x > this.width + this.size || y > this.height + this.size) return;
      draw.fillStyle = paper;
      draw.fillRect(x - half, y - half, this.size, this.size);
      draw.globalAlpha = 0.85;
      draw.fillStyle = used;
      draw.fillRect(x - half, y + half - this.size * full, this.size, this.size * full);
      draw.globalAlpha = 1;
      const stuck = deadlock?.has(r);
      draw.strokeStyle = stuck ? alarm : ink;
      draw.lineWidth = stuck ? 4 : 1;
      draw.strokeRect(x - half, y - half, this.size, this.size);
      if (state.any_in(r, blocked_states)) this.cross(draw, x, y, alarm);
      if (counts.has(r)) draw_causes(draw, [x, y], this.size, counts.get(r), most);
      if (r === router) {
        draw.strokeStyle = ink;
        draw.lineWidth = 3;
        draw.strokeRect(x - half - 4, y - half - 4, this.size + 8, this.size + 8);
      }
      const font = this.font * 0.72; // the label is to the right of the channels that lead to the router below
      if (this.size >= 1.6 * font) this.write(draw, this.label(i, font), x + this.size * 0.34, y + half + font + 1, colours, "left", font);
    });
    if (meta.routers.length === 1) this.draw_ports(draw, state, colours);
  }

  // Draws the ports of the only router: names and the queues of the inputs on the left, names of the outputs on the right.
  draw_ports(draw, state, colours) {
    const { meta } = this.recording, font = Math.min(this.font, (this.size / meta.ports[0].length) * 0.7);
    const rows = state.rows_of(meta.routers[0]), held = Math.max(1, ...rows.map((row) => Math.max(row.flits, row.packets, row.capacity)));
    meta.ports[0].forEach((name, port) => {
      const [left, y] = this.port_place(port, -1), [right] = this.port_place(port, 1), mine = rows.filter((row) => row.port === port);
      const queued = mine.reduce((sum, row) => sum + Math.max(row.flits, row.packets), 0), wide = this.size * 0.4;
      draw.fillStyle = colours.used;
      draw.fillRect(left - wide * Math.min(1, queued / held), y - font * 0.3, wide * Math.min(1, queued / held), font * 0.6);
      draw.strokeStyle = colours.quiet;
      draw.lineWidth = 1;
      draw.strokeRect(left - wide, y - font * 0.3, wide, font * 0.6);
      this.write(draw, `in ${port}`, left - wide - 6, y + font * 0.35, colours, "right", font);
      this.write(draw, `out ${port}`, right + 6, y + font * 0.35, colours, "left", font);
    });
  }

  // Returns the label of a router: its name, or as much of it as fits between two routers.
  label(i, font) {
    const name = this.recording.meta.names[i], short = name.split(" ")[0];
    return this.titles.some((t) => t.named) || name.length * font * 0.55 > this.unit ? short : name;
  }

  draw_titles(draw, colours) {
    const font = Math.max(9, this.font * 0.9);
    for (const title of this.titles) {
      const [x, y, align] = title_place(title, this.places, this.size);
      this.write(draw, title.text, x, y, colours, align, font, "bold");
    }
  }

  // Writes a text on the canvas, with an edge in the colour of the paper if there is one.
  write(draw, text, x, y, { ink, paper }, align, font, weight = "") {
    draw.font = `${weight} ${font}px sans-serif`;
    draw.textAlign = align;
    if (paper) {
      draw.strokeStyle = paper;
      draw.lineWidth = 3;
      draw.strokeText(text, x, y);
    }
    draw.fillStyle = ink;
    draw.fillText(text, x, y);
  }

  // Marks a router in which a connection is blocked or released.
  cross(draw, x, y, colour) {
    const arm = Math.max(4, this.size * 0.5);
    draw.strokeStyle = colour;
    draw.lineWidth = 2.5;
    draw.beginPath();
    for (const way of [1, -1]) {
      draw.moveTo(x - arm, y - way * arm);
      draw.lineTo(x + arm, y + way * arm);
    }
    draw.stroke();
  }
}
