// Causes for which flits wait, over the whole network: the overlay that shows them, and the search for the next one;
// and the routers and virtual channels that the description of a deadlock names.

// Causes in the order of their drawing: name, colour, and what the front flit of a virtual channel waits for.
const CAUSES = {
  credit: ["no credit", "#DE6A08", "the buffer behind the output is full"],
  vc: ["VC not granted", "#68A11B", "all suitable virtual channels of the output are allocated"],
  output: ["output taken", "#8D5E6B", "another input sends over the output"],
  input: ["input port busy", "#2AA3A1", "another virtual channel of its input port sends"],
  other: ["another reason", "#C5854F", "the reason is shown beside the virtual channel"],
  line: ["head-of-line", "#959671", "packets behind a packet that waits"],
};

// Returns the waiting virtual channels of a router in the cycle before `cycle`: { router, port, vc, out_port, cause,
// behind }, behind: packets that wait behind its front packet.
function blocked_in(recording, router, cycle) {
  if (cycle <= recording.first) return [];
  const { notes } = texts_of(recording.words(router, cycle));
  const { fates } = arbitration(recording, router, cycle - 1, (_, vc) => `VC ${vc}`, (port, vc) => notes(port, vc)[1]);
  const found = [];
  for (const row of recording.state(cycle).rows_of(router)) {
    const fate = fates.get(`${row.port}.${row.vc}`);
    if (fate?.lost) found.push({ router, port: row.port, vc: row.vc, out_port: row.out_port, cause: fate.cause ?? "other",
      behind: Math.max(0, row.packets - 1) });
  }
  return found;
}

// Returns by router the number of waiting virtual channels per cause, and of packets in line behind them. only: the
// cause to count, or "all".
function counts_of_blocked(recording, cycle, only) {
  const counts = new Map();
  for (const router of recording.meta.routers) {
    const sums = {};
    for (const { cause, behind } of blocked_in(recording, router, cycle)) {
      if (only === "all" || only === cause) sums[cause] = (sums[cause] ?? 0) + 1;
      if (behind && (only === "all" || only === "line")) sums.line = (sums.line ?? 0) + behind;
    }
    if (Object.keys(sums).length) counts.set(router, sums);
  }
  return counts;
}

// Returns the first router after `router` (null: the first of all) with a virtual channel that waits for `only`.
function next_blocked(recording, cycle, router, only) {
  const { routers } = recording.meta, start = router === null || router === undefined ? -1 : routers.indexOf(router);
  for (let i = 1; i <= routers.length; ++i) {
    const next = routers[(start + i) % routers.length];
    const found = blocked_in(recording, next, cycle).filter((b) => only === "all" || b.cause === only || (only === "line" && b.behind));
    if (found.length) return next;
  }
  return null;
}

// Draws one bar per cause on the right of a router's box; the bar of the largest count, `most`, is as tall as the box.
function draw_causes(draw, [x, y], size, sums, most) {
  const wide = Math.max(2, size * 0.16);
  let left = x + size / 2 + 2;
  for (const [cause, [, colour]] of Object.entries(CAUSES)) {
    if (!sums[cause]) continue;
    const high = Math.max(3, (size * sums[cause]) / most);
    draw.fillStyle = colour;
    draw.fillRect(left, y + size / 2 - high, wide, high);
    left += wide + 1;
  }
}

// Returns a predicate: whether the description of a deadlock names the virtual channel of a row. A description that is
// shortened or names no inputs selects all rows.
function waits_in(text, recording) {
  if (/ more$/.test(text.trim()) || !/ input .* VC \d+ waits for/.test(text)) return () => true;
  const input = ({ router, port }) => `router ${recording.name(router)} input ${recording.port_name(router, port)}`;
  return (row) => text.includes(`${input(row)} VC ${row.vc} waits`);
}

// Returns the routers that a description of a deadlock names.
function routers_in(text, meta) {
  return new Set(meta.routers.filter((r, i) => text.includes(`router ${meta.names[i]} `)));
}
