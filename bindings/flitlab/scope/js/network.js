// Drawing of the network on a canvas: routers with their occupancy, channels with their utilisation, and flits on
// channels.

// Similar to Okabe & Ito, for colour-blind readers.
const PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1"];
const USE_WINDOW = 32; // cycles over which channel utilisation is averaged
const USE_THICKEST = 5; // extra line width of a channel in use in every cycle, pixels
const LONGEST = 300; // longest time that a whole packet occupies a channel, cycles

// Returns the legend of the drawing. Both scales are linear and start at 0.
function scales(meta) {
  const places = meta.places.filter((n) => n), [least, most] = [Math.min(...places), Math.max(...places)];
  const full = least === most ? `${most}` : `the router's capacity (${least} to ${most})`;
  const routers = places.length ? `The fill of a router shows the number of ${meta.full}; a full box means ${full}. ` : "";
  if (!meta.links.channel.length) return routers;
  const use = meta.facts.whole_packets ? "the longer packets occupied it" : "the more flits it carried";
  return `${routers}A channel is drawn wider and bluer ${use} in the last ${USE_WINDOW} cycles: grey if unused, widest if ` +
    (meta.facts.whole_packets ? "it was occupied in all of them." : "it carried a flit in each of them.");
}

function packet_colour(src, id) {
  return src < 0 ? "#999999" : PALETTE[(src * 31 + (id % FIRST_REPLY) * 7) % PALETTE.length];
}

class NetworkView {
  constructor(canvas) {
    this.canvas = canvas;
  }

  // Computes the positions of routers and channels on the canvas, in CSS pixels.
  fit(recording) {
    const { x, y, routers } = recording.meta;
    this.recording = recording;
    this.width = this.canvas.clientWidth || 640;
    this.height = this.canvas.clientHeight || 480;
    const scale = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = this.width * scale;
    this.canvas.height = this.height * scale;
    this.pixels = scale;
    const [left, right, low, high] = [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)];
    const unit = Math.min(90, (this.width - 80) / Math.max(1, right - left), (this.height - 90) / Math.max(1, high - low));
    const at = (i) => [this.width / 2 + (x[i] - (left + right) / 2) * unit, this.height / 2 - (y[i] - (low + high) / 2) * unit];
    this.unit = unit;
    this.places = routers.map((_, i) => at(i));
    this.size = Math.max(4, Math.min(30, unit * 0.42));
    this.wires = links_of(recording.meta).map((link) => ({ cycles: link.cycles,
      ...this.wire(link.channel, link.router, link.port, link.to_router, link.to_port) }));
    this.longest = this.wires.reduce((most, wire) => Math.max(most, wire.cycles ?? 0), 0);
    this.by_port = new Map(this.wires.map((w) => [`${w.a}.${w.p}`, w]));
  }

  // Returns the line of a channel: straight between neighbours, curved between distant routers, one line per direction.
  wire(channel, a, p, b, q) {
    const [from, to] = [this.places[this.recording.place.get(a)], this.places[this.recording.place.get(b)]];
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]], length = Math.hypot(dx, dy) || 1;
    const aside = Math.max(1.5, this.size * 0.16), far = length > this.unit * 1.6;
    const [ox, oy] = [(-dy / length) * aside, (dx / length) * aside];
    const plane = (r) => this.recording.meta.planes[this.recording.place.get(r)];
    if (plane(a) !== plane(b)) return this.stubs({ channel, a, p, b, q, far }, from, to);
    const bow = far ? Math.min(this.unit * 0.55, length * 0.15) : 0;
    const start = [from[0] + ox, from[1] + oy], end = [to[0] + ox, to[1] + oy];
    const bend = [(start[0] + end[0]) / 2 + (ox / aside) * 2 * bow, (start[1] + end[1]) / 2 + (oy / aside) * 2 * bow];
    return { channel, a, p, b, q, start, end, bend, far };
  }

  // A channel between planes is drawn as two short ends, one at each router.
  stubs(wire, from, to) {
    const along = this.recording.place.get(wire.b) > this.recording.place.get(wire.a) ? 1 : -1;
    const [dx, dy] = [along * this.unit * 0.36, -along * this.unit * 0.36];
    const start = from, out = [from[0] + dx, from[1] + dy], end = to, back = [to[0] - dx, to[1] - dy];
    return { ...wire, start, end, out, back };
  }

  point(wire, t) {
    if (wire.out) {
      const [from, to, u] = t < 0.5 ? [wire.start, wire.out, 2 * t] : [wire.back, wire.end, 2 * t - 1];
      return [0, 1].map((k) => from[k] + (to[k] - from[k]) * u);
    }
    const u = 1 - t;
    return [0, 1].map((k) => u * u * wire.start[k] + 2 * u * t * wire.bend[k] + t * t * wire.end[k]);
  }

  terminal_place(router) {
    const [x, y] = this.places[this.recording.place.get(router)];
    return [x + this.size * 0.95, y - this.size * 0.95];
  }

  // Returns the flits on channels at `cycle` plus a fraction `part` of a cycle: { src, id, at, head }.
  flits(cycle, part) {
    return this.under_way(cycle).map(({ sent, place, flight, src, id, head }) => ({ src, id, head,
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
        const [from, to] = [this.places[recording.place.get(e.index)], this.terminal_place(e.index)];
        const place = wire ? (t) => this.point(wire, t) : (t) => [0, 1].map((k) => from[k] + (to[k] - from[k]) * t);
        found.push({ sent, place, flight, src: e.src, id: e.id, head: e.flit.includes("head") });
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

  // Draws a frame. Routers and channels do not change within a cycle and are drawn once, by draw_still().
  draw(cycle, part, selected) {
    const css = getComputedStyle(this.canvas);
    const [ink, quiet, used, paper, alarm] = ["ink", "quiet", "used", "paper", "alarm"].map((name) =>
      css.getPropertyValue(`--scope-${name}`).trim());
    const { router, packet, way, deadlock } = selected, last = this.still;
    const now = [this.places, this.recording.last, cycle, router, packet, way, deadlock, ink, paper];
    if (!last || now.some((x, i) => x !== last.now[i])) this.still = this.draw_still(now, { ink, quiet, used, paper, alarm }, selected);
    const draw = this.canvas.getContext("2d");
    draw.setTransform(1, 0, 0, 1, 0, 0);
    draw.clearRect(0, 0, this.canvas.width, this.canvas.height);
    draw.drawImage(this.still.canvas, 0, 0);
    draw.setTransform(this.pixels, 0, 0, this.pixels, 0, 0);
    const radius = Math.max(1.6, this.size * 0.13);
    for (const flit of this.flits(cycle, part)) {
      const followed = packet && flit.src === packet.src && flit.id === packet.id;
      draw.beginPath();
      draw.arc(...flit.at, radius * (followed ? 1.8 : flit.head ? 1.25 : 1), 0, 7);
      draw.fillStyle = packet_colour(flit.src, flit.id);
      draw.fill();
      if (followed || flit.head) {
        draw.strokeStyle = ink;
        draw.lineWidth = followed ? 2 : 0.7;
        draw.stroke();
      }
    }
  }

  // Draws channels and routers on a separate canvas.
  draw_still(now, { ink, quiet, used, paper, alarm }, { router, packet, way, deadlock }) {
    const canvas = this.still?.canvas ?? document.createElement("canvas"), cycle = now[2];
    // Setting the size also clears the canvas.
    Object.assign(canvas, { width: this.canvas.width, height: this.canvas.height });
    const draw = canvas.getContext("2d");
    draw.setTransform(this.pixels, 0, 0, this.pixels, 0, 0);
    const use = this.use(cycle), state = this.recording.state(cycle), { meta } = this.recording;
    const stroke = (wire) => {
      draw.beginPath();
      draw.moveTo(...wire.start);
      if (wire.out) {
        draw.lineTo(...wire.out);
        draw.moveTo(...wire.back);
        draw.lineTo(...wire.end);
      } else draw.quadraticCurveTo(...wire.bend, ...wire.end);
      draw.stroke();
    };
    for (const wire of this.wires) {
      const share = use.get(wire.channel) ?? 0;
      draw.strokeStyle = share ? used : quiet;
      draw.globalAlpha = share ? 0.35 + 0.65 * share : wire.far ? 0.35 : 0.8;
      draw.lineWidth = share ? 1 + share * Math.min(USE_THICKEST, this.size * 0.22) : 1;
      stroke(wire);
    }
    draw.globalAlpha = 1;
    for (const hop of way?.hops ?? []) {
      const wire = this.by_port.get(`${hop.router}.${hop.out_port}`);
      if (!wire || hop.granted >= cycle) continue;
      draw.strokeStyle = packet_colour(packet.src, packet.id);
      draw.lineWidth = Math.max(3, this.size * 0.3);
      stroke(wire);
    }
    const half = this.size / 2;
    const blocked_states = BLOCKED_STATES.map((stage) => meta.stages.indexOf(stage));
    meta.routers.forEach((r, i) => {
      const [x, y] = this.places[i], full = this.recording.fill(cycle, r);
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
      if (r === router) {
        draw.strokeStyle = ink;
        draw.lineWidth = 3;
        draw.strokeRect(x - half - 4, y - half - 4, this.size + 8, this.size + 8);
      }
      if (this.size >= 22) {
        draw.fillStyle = ink;
        draw.font = "9px sans-serif";
        draw.textAlign = "left"; // the label is to the right of the channels that lead to the router below
        draw.strokeStyle = paper;
        draw.lineWidth = 3;
        const left = x + this.size * 0.34, below = y + half + 10;
        draw.strokeText(meta.names[i], left, below);
        draw.fillText(meta.names[i], left, below);
      }
    });
    return { now, canvas };
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

  // Returns the router or the packet at a position of the canvas: a router whose box it hits, else a near flit, else a
  // near router.
  hit(x, y, cycle, part) {
    const near = (at) => Math.hypot(at[0] - x, at[1] - y);
    const flit = this.flits(cycle, part).map((f) => [near(f.at), f]).sort((a, b) => a[0] - b[0])[0];
    const routers = this.places.map((at, i) => [near(at), this.recording.meta.routers[i]]);
    const [far, router] = routers.reduce((best, one) => (one[0] < best[0] ? one : best), [Infinity, null]);
    if (far <= this.size * 0.55) return { router };
    if (flit && flit[0] <= 7) return { packet: { src: flit[1].src, id: flit[1].id } };
    return far <= Math.max(this.size, 10) ? { router } : {};
  }
}
