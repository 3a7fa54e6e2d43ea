// Positions of routers in a drawing, as in bindings/flitlab/scope/places.py: meshes and tori as grids and rings, more
// dimensions as planes, multistage networks as columns, trees as rows, groups on a circle, a Slim Fly as two rows, random
// graphs and PolarFly as rings by hops, other graphs by a force-directed layout. The unit is the distance between
// neighbours; y points up.

function coordinates_of(name) {
  const found = /\((\d+(?:,\d+)*)\)/.exec(name);
  return found && found[1].split(",").map(Number);
}

function planes_of(names, kind = "") {
  const all = names.map(coordinates_of);
  return kind !== "slim_fly" && all.every((c) => c?.length === 3) ? all.map((c) => c[2]) : names.map(() => 0);
}

// Returns positions, and a phrase for the layout. links: [router, port, router, port] of every channel; routers are
// indices of `names`. chip: routers of a chip in each dimension.
function positions_of(names, kind, links, shape = [], chip = []) {
  const nodes = names.map((name) => /^(\d+)([ab]?)$/.exec(name));
  if (kind === "mesh" && shape.length && names.length > 1 && nodes.every((n) => n))
    return node_grid(nodes.map((n) => [Number(n[1]), n[2] === "b" ? 0.3 : 0]), shape);
  const all = names.map(coordinates_of);
  if (all.every((c) => c) && names.length > 1) {
    if (kind === "slim_fly") return halves(all);
    if (["hyperx", "flattened_butterfly", "cmesh"].includes(kind)) return bent_grid(all);
    if (all[0].length === 2 && chip.length) return grid_of_chips(all, chip);
    if (all[0].length > 1) return grid(all);
    if (["ring", "torus", "chiplet_torus"].includes(kind)) return [circle(names.length), "a ring"];
    return [all.map(([x]) => [x, 0]), "a row"];
  }
  const given = names.map((name) => /\(at (-?[\d.e+-]+),(-?[\d.e+-]+)\)$/.exec(name));
  if (given.every((m) => m) && names.length > 1) return [as_given(given.map((m) => [Number(m[1]), Number(m[2])]), links), "given places"];
  const members = names.map((name) => /\((leaf, |spine, |)(?:group|supernode) (\d+)\)$/.exec(name));
  if (members.every((m) => m)) return groups(members.map((m) => [Number(m[2]), m[1]]), kind === "polarstar" ? 4 : 1.4);
  const rows = names.map((name) => /\(level (\d+)\)$/.exec(name));
  if (rows.every((m) => m)) return levels(rows.map((m) => Number(m[1])));
  if (["polarfly", "jellyfish"].includes(kind) && names.length > 1) return rings(names.length, links);
  if (kind === "full_mesh") return [circle(names.length), "a circle"];
  const stages = names.map((name) => /^(\d+)\.(\d+)(?::(\d+))?$/.exec(name));
  if (stages.every((s) => s)) return columns(stages.map((s) => [s[1], s[2], s[3] ?? 0].map(Number)));
  if (names.length === 1) return [[[0, 0]], "one switch"];
  return [springs(names.length, links), "a graph, force-directed"];
}

// Places nodes of a mesh by number, the first dimension fastest. nodes: [number, offset]; a node's second TIC is drawn
// beside its first by the offset.
function node_grid(nodes, shape) {
  const all = nodes.map(([node]) => {
    const found = [];
    let stride = 1;
    for (const k of shape) {
      if (k > 1) found.push(Math.floor(node / stride) % k);
      stride *= k;
    }
    return found;
  });
  const [places, layout] = all[0].length === 1 ? [all.map(([x]) => [x, 0]), "a row"] : grid(all);
  return [places.map(([x, y], i) => [x + nodes[i][1], y - nodes[i][1]]), layout];
}

function circle(count) {
  const radius = Math.max(1, count / (2 * Math.PI));
  return Array.from({ length: count }, (_, i) => [radius * Math.sin((2 * Math.PI * i) / count), radius * Math.cos((2 * Math.PI * i) / count)]);
}

// Draws two dimensions as a grid and three as planes. With more than three, odd dimensions put such grids side by side,
// even dimensions above one another.
function grid(all) {
  const dimensions = all[0].length;
  const extent = all[0].map((_, d) => Math.max(...all.map((c) => c[d])) + 1);
  if (dimensions === 3) {
    const across = Math.min(extent[2], Math.max(1, Math.ceil(Math.sqrt((extent[2] * extent[1]) / extent[0]))));
    const wide = extent[0] + 0.6, high = extent[1] + 0.6;
    return [all.map(([x, y, z]) => [x + (z % across) * wide, y - Math.floor(z / across) * high]), extent[2] > 1 ? `${extent[2]} planes, z = 0 first` : "a plane"];
  }
  const stride = [1, 1];
  for (let d = 2; d < dimensions; ++d) stride.push(stride[d - 2] * extent[d - 2] + 0.8);
  const along = (c, first) => c.reduce((sum, x, d) => sum + (d % 2 === first ? x * stride[d] : 0), 0);
  return [all.map((c) => [along(c, 0), along(c, 1)]), dimensions === 2 ? "a grid" : `${dimensions} dimensions as grids of grids`];
}

// Like grid(), with gaps between chips.
function grid_of_chips(all, chip) {
  const [places, layout] = grid(all), gap = (x, d) => (chip[d] ? 0.5 * Math.floor(x / chip[d]) : 0);
  return [places.map(([x, y], i) => [x + gap(all[i][0], 0), y + gap(all[i][1], 1)]), `${layout} of chips`];
}

// Like grid(), but rows and columns are bent, so that links between routers of a row do not cover one another.
function bent_grid(all) {
  const extent = all[0].map((_, d) => Math.max(...all.map((c) => c[d])) + 1);
  const bow = (c, d) => (d < c.length ? 0.12 * (c[d] - (extent[d] - 1) / 2) ** 2 : 0);
  const [places, layout] = extent.length === 1 ? [all.map(([x]) => [x, 0]), "a row"] : grid(all);
  return [places.map(([x, y], i) => [x + bow(all[i], 1), y + bow(all[i], 0)]), `${layout}, bent`];
}

// Places the two halves of a Slim Fly one above the other. A half is a row of subgroups. The routers of a subgroup are on
// an arc whose ends point away from the other half.
function halves(all) {
  const q = Math.max(...all.map((c) => c[0])) + 1, radius = (q - 1) / 2.8, pitch = 2 * radius + 1.6;
  const apart = Math.max(0.7 * pitch * (q - 1), 2 * pitch);
  const place = ([y, x, half]) => {
    const turn = 1.4 * ((2 * y) / (q - 1) - 1), up = apart / 2 - radius * Math.cos(turn);
    return [x * pitch + radius * Math.sin(turn), half ? -up : up];
  };
  return [all.map(place), `two halves of ${q} subgroups`];
}

// Places the first of the routers with the fewest links in the centre, and the others on rings by their hops from it, in
// the order of the routers through which they are reached.
function rings(routers, links) {
  const joined = Array.from({ length: routers }, () => new Set());
  for (const [a, , b] of links) {
    joined[a].add(b);
    joined[b].add(a);
  }
  const all = joined.map((_, r) => r), fewest = Math.min(...joined.map((set) => set.size));
  const centre = joined.findIndex((set) => set.size === fewest), left = new Set(all.filter((r) => r !== centre));
  const places = all.map(() => [0, 0]);
  for (let ring = [centre], radius = 0; left.size;) {
    ring = ring.flatMap((parent) => children(joined, parent, left));
    if (!ring.length) ring = [...left].sort((a, b) => a - b);  // routers that the drawn links do not reach
    ring.forEach((r) => left.delete(r));
    radius = Math.max(radius + 2, (1.2 * ring.length) / (2 * Math.PI));
    ring.forEach((router, i) => {
      const turn = (2 * Math.PI * (i + 0.5)) / ring.length;
      places[router] = [radius * Math.sin(turn), radius * Math.cos(turn)];
    });
  }
  return [places, `rings by hops from router ${centre}`];
}

// Takes the neighbours of a router out of `left` and returns them: those with few links first, and two that are joined
// one after the other.
function children(joined, parent, left) {
  const next = (r) => [...joined[r]].filter((n) => left.has(n) && joined[parent].has(n)).sort((a, b) => a - b);
  const found = [];
  for (const child of [...joined[parent]].filter((r) => left.has(r)).sort((a, b) => joined[a].size - joined[b].size || a - b)) {
    if (!left.has(child)) continue;
    const pair = [child, ...next(child).slice(0, 1)];
    pair.forEach((r) => left.delete(r));
    found.push(...pair);
  }
  return found;
}

// Places groups on a circle, and the routers of a group on a smaller circle; spine routers are nearer to the centre than
// leaf routers. routers: [group, part of the group]. room: between two groups of a circle of routers.
function groups(routers, room) {
  const members = new Map();
  routers.forEach(([group, part], router) => {
    if (!members.has(group)) members.set(group, new Map());
    const parts = members.get(group);
    parts.set(part, [...(parts.get(part) ?? []), router]);
  });
  const size = Math.max(...[...members.values()].flatMap((parts) => [...parts.values()].map((list) => list.length)));
  const inner = size > 1 ? (1.2 * size) / (2 * Math.PI) : 0;
  const one_ring = routers.every(([, part]) => part === ""), apart = one_ring ? 2 * inner + room : size + 0.8;
  const outer = Math.max((apart * members.size) / (2 * Math.PI), apart), places = [];
  for (const [group, parts] of members) {
    const angle = Math.PI / 2 - (2 * Math.PI * group) / members.size, sin = Math.sin(angle), cos = Math.cos(angle);
    for (const [part, list] of parts)
      list.forEach((router, i) => {
        const turn = (2 * Math.PI * i) / list.length;
        const [r, a] = part ? [outer + (part.startsWith("leaf") ? 0.7 : -0.7), i - (list.length - 1) / 2]
          : [outer + inner * Math.cos(turn), inner * Math.sin(turn)];
        places[router] = [r * cos + a * sin, r * sin - a * cos];
      });
  }
  return [places, `${members.size} groups on a circle`];
}

// Places the levels of a tree in rows, level 0 at the bottom, each as wide as the widest.
function levels(of) {
  const count = Array.from({ length: Math.max(...of) + 1 }, (_, level) => of.filter((l) => l === level).length);
  const widest = Math.max(...count), apart = Math.max(2, widest / (2 * count.length));
  const place = (level, router) => [((router - of.indexOf(level) + 0.5) * widest) / count[level], level * apart];
  return [of.map(place), `${count.length} levels, terminals at the lowest`];
}

// Returns positions in units of the mean length of the links.
function in_units(places, links) {
  const lengths = links.filter(([a, , b]) => a !== b).map(([a, , b]) => Math.hypot(places[a][0] - places[b][0], places[a][1] - places[b][1]));
  const unit = Math.max(lengths.reduce((sum, length) => sum + length, 0) / (lengths.length || 1), 1e-9);
  return places.map(([x, y]) => [x / unit, y / unit]);
}

// Returns positions in units of the mean length of the links; in a smaller unit if routers are much closer to one another.
function as_given(places, links) {
  const in_means = in_units(places, links), unit = Math.min(1, Math.max(1.6 * closest(in_means), 0.1));
  return in_means.map(([x, y]) => [x / unit, y / unit]);
}

// Returns the least distance of two routers that are not at the same place.
function closest(places) {
  const along = places.map(([x, y]) => [0.85 * x + 0.52 * y, x, y]).sort((a, b) => a[0] - b[0]);
  let least = Infinity;
  for (const [i, [at, x, y]] of along.entries())
    for (let j = i + 1; j < along.length && along[j][0] - at <= least; ++j)
      least = Math.min(least, Math.hypot(along[j][1] - x, along[j][2] - y) || least);
  return least;
}

// Places stages from left to right, each as tall as the tallest.
function columns(routers) {
  const most = new Map();
  for (const [stage, number] of routers) most.set(stage, Math.max(most.get(stage) ?? 0, number + 1));
  const tallest = Math.max(...most.values()), apart = Math.max(2, tallest / most.size);
  const place = ([stage, number, part]) => [stage * apart + part * 0.3, (-(number + 0.5) * tallest) / most.get(stage)];
  return [routers.map(place), `${most.size} stages as columns`];
}

// Fruchterman and Reingold, "Graph drawing by force-directed placement", 1991, started from a spiral, so that
// the result is always the same.
function springs(count, links) {
  const side = Math.sqrt(count), at = Array.from({ length: count }, (_, i) =>
    [Math.cos(i * 2.399963) * Math.sqrt(i + 0.5), Math.sin(i * 2.399963) * Math.sqrt(i + 0.5)].map((x) => (x * side) / Math.sqrt(count)));
  const rounds = Math.max(12, Math.min(200, Math.round(4e7 / (count * count + 1))));
  for (let round = 0; round < rounds; ++round) {
    const step = (side / 8) * (1 - round / rounds), force = at.map(() => [0, 0]);
    const push = (a, b, strength) => {
      const dx = at[a][0] - at[b][0], dy = at[a][1] - at[b][1], far = Math.hypot(dx, dy) || 0.01, by = strength(far) / far;
      force[a][0] += dx * by;
      force[a][1] += dy * by;
      force[b][0] -= dx * by;
      force[b][1] -= dy * by;
    };
    for (let a = 0; a < count; ++a) for (let b = 0; b < a; ++b) push(a, b, (far) => 1 / far);
    for (const [a, , b] of links) if (a < b) push(a, b, (far) => -far * far);
    force.forEach(([x, y], i) => {
      const far = Math.hypot(x, y) || 1, by = Math.min(step, far) / far;
      at[i] = [at[i][0] + x * by, at[i][1] + y * by];
    });
  }
  return at;
}
