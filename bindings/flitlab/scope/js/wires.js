// Lines of the channels: straight, or curved if a straight line would cross other routers. A channel between planes or
// around the end of a row (the wrap-around channel of a torus) is drawn as two stubs, one at each of its routers.

const CLEARANCE = 0.3; // least distance of a straight line from the centres of other routers, in units of the layout
const STUB = 0.42; // length of a stub, in units of the layout

// Returns the shape of every channel in meta.links, in the same order: { stub, curved, nth, dateline }. stub: direction
// in which the channel leaves its first router, or null; nth: number of channels before it between the same two routers;
// dateline: whether packets change their class of virtual channels on it.
function shapes_of(meta) {
  const place = new Map(meta.routers.map((r, i) => [r, i])), seen = new Map(), rows = ends_of_rows(meta);
  return links_of(meta).map(({ router, to_router }) => {
    const [a, b] = [place.get(router), place.get(to_router)], pair = `${a}.${b}`, nth = seen.get(pair) ?? 0;
    seen.set(pair, nth + 1);
    const stub = stub_direction(meta, rows, a, b);
    const around = stub && (meta.planes[a] === meta.planes[b] || Math.abs(meta.planes[a] - meta.planes[b]) > 1);
    return { stub, nth, curved: !stub && crosses_routers(meta, a, b), dateline: !!(meta.facts.datelines && around) };
  });
}

// Returns the first and the last place of each row and column of routers, and the number of its routers, by `row_key`.
function ends_of_rows({ x, y, planes }) {
  const ends = new Map();
  planes.forEach((plane, i) => {
    for (const [axis, along, across] of [["x", x[i], y[i]], ["y", y[i], x[i]]]) {
      const key = row_key(axis, plane, across), [low, high, count] = ends.get(key) ?? [Infinity, -Infinity, 0];
      ends.set(key, [Math.min(low, along), Math.max(high, along), count + 1]);
    }
  });
  return ends;
}

function row_key(axis, plane, across) {
  return `${axis} ${plane} ${across.toFixed(4)}`;
}

function stub_direction({ x, y, planes }, rows, a, b) {
  if (planes[a] !== planes[b]) return planes[b] > planes[a] ? [1, 1] : [-1, -1];
  const [dx, dy] = [x[b] - x[a], y[b] - y[a]];
  const is_end = (axis, from, to, across) => {
    const [low, high, count] = rows.get(row_key(axis, planes[a], across));
    return count > 2 && Math.abs(to - from) > 1.6 && Math.min(from, to) === low && Math.max(from, to) === high;
  };
  if (Math.abs(dy) < 1e-6 && is_end("x", x[a], x[b], y[a])) return [-Math.sign(dx), 0];
  if (Math.abs(dx) < 1e-6 && is_end("y", y[a], y[b], x[a])) return [0, -Math.sign(dy)];
  return null;
}

function crosses_routers({ x, y }, a, b) {
  const [dx, dy] = [x[b] - x[a], y[b] - y[a]], length = Math.hypot(dx, dy);
  if (length < 1.2) return false;
  return x.some((_, i) => {
    if (i === a || i === b) return false;
    const [px, py] = [x[i] - x[a], y[i] - y[a]], along = (px * dx + py * dy) / length;
    return along > 0 && along < length && Math.abs(px * dy - py * dx) / length < CLEARANCE;
  });
}

// Line of one channel in CSS pixels. `link`: channel, router, port, to_router, to_port, cycles.
class Wire {
  constructor(link, shape, from, to, unit, size) {
    Object.assign(this, { channel: link.channel, cycles: link.cycles, a: link.router, p: link.port, b: link.to_router,
      q: link.to_port, faint: shape.curved, dateline: shape.dateline });
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]], length = Math.hypot(dx, dy) || 1;
    const side = [-dy / length, dx / length]; // one direction of a link on each side
    const aside = Math.max(1.5, size * 0.16) * (1 + 2 * shape.nth);
    const shift = ([x, y], by) => [x + side[0] * by, y + side[1] * by];
    [this.start, this.end] = [shift(from, aside), shift(to, aside)];
    if (shape.stub) {
      const [sx, sy] = shape.stub.map((s) => s * unit * STUB), diagonal = shape.stub[0] && shape.stub[1];
      if (diagonal) [this.start, this.end] = [from, to];
      this.out = [this.start[0] + sx, this.start[1] - sy];
      this.back = [this.end[0] - sx, this.end[1] + sy];
      return;
    }
    const bow = shape.curved ? 2 * Math.min(unit * 0.55, length * 0.15) : 0;
    this.bend = shift([(from[0] + to[0]) / 2, (from[1] + to[1]) / 2], aside + bow);
  }

  // Returns the position after the fraction t of the way.
  point(t) {
    if (this.out) {
      const [from, to, u] = t < 0.5 ? [this.start, this.out, 2 * t] : [this.back, this.end, 2 * t - 1];
      return [0, 1].map((k) => from[k] + (to[k] - from[k]) * u);
    }
    const u = 1 - t;
    return [0, 1].map((k) => u * u * this.start[k] + 2 * u * t * this.bend[k] + t * t * this.end[k]);
  }

  trace(draw) {
    draw.beginPath();
    draw.moveTo(...this.start);
    if (this.out) {
      draw.lineTo(...this.out);
      draw.moveTo(...this.back);
      draw.lineTo(...this.end);
    } else draw.quadraticCurveTo(...this.bend, ...this.end);
  }

  // Draws two short lines across the beginning of the channel, which mark a dateline.
  mark(draw, size) {
    for (const t of [0.26, 0.32]) {
      const [x, y] = this.point(t), [fx, fy] = this.point(t - 0.02), turn = Math.atan2(y - fy, x - fx) + Math.PI / 2;
      draw.beginPath();
      draw.moveTo(x - size * Math.cos(turn), y - size * Math.sin(turn));
      draw.lineTo(x + size * Math.cos(turn), y + size * Math.sin(turn));
      draw.stroke();
    }
  }

  // Fills an arrow head at the fraction t of the way; `back`: against the direction of the channel.
  arrow(draw, t, size, back = false) {
    const [x, y] = this.point(t), [fx, fy] = this.point(t - 0.02), turn = Math.atan2(y - fy, x - fx) + (back ? Math.PI : 0);
    draw.beginPath();
    for (const [r, angle] of [[size, 0], [size, 2.5], [size, -2.5]])
      draw.lineTo(x + r * Math.cos(turn + angle), y + r * Math.sin(turn + angle));
    draw.fill();
  }
}
