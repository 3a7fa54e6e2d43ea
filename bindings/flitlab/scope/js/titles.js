// Titles of the parts of a layout: planes, stages, levels and groups. The names of routers say which part they are in.
// Stages and levels are schematic: their drawing is stretched to fill the canvas.

const PARTS = [
  [/^(\d+)\.\d+(?::\d+)?$/, (k) => `stage ${k}`, "above", true],
  [/\(level (\d+)\)$/, (k) => (k === "0" ? "level 0: terminals" : `level ${k}`), "left", true],
  [/\((?:leaf |spine |)group (\d+)\)$/, (k) => `group ${k}`, "inside", false],
];

// Returns the titles: { text, where, stretched, named, routers }. where: "above", "left" or "inside" the part; named:
// whether the names of routers repeat the title in parentheses; routers: their indices.
function titles_of({ names, planes }) {
  if (new Set(planes).size > 1) return grouped(planes.map((z) => `z = ${z}`), "above", false);
  for (const [pattern, text, where, stretched] of PARTS) {
    const found = names.map((name) => pattern.exec(name));
    if (names.length > 1 && found.every((m) => m)) return grouped(found.map((m) => text(m[1])), where, stretched);
  }
  return [];
}

function grouped(texts, where, stretched) {
  const parts = new Map();
  texts.forEach((text, i) => parts.set(text, [...(parts.get(text) ?? []), i]));
  return [...parts].map(([text, routers]) => ({ text, where, stretched, named: where !== "above", routers }));
}

// Returns the position of a title's text and its alignment. places: of all routers; size: of a router, both in pixels.
function title_place({ where, routers }, places, size) {
  const [xs, ys] = [0, 1].map((k) => routers.map((i) => places[i][k]));
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  if (where === "above") return [(left + right) / 2, top - size - 4, "center"];
  if (where === "left") return [left - size / 2 - 2, top - size / 2 - 5, "left"];
  return [(left + right) / 2, (top + bottom) / 2 + 4, "center"];
}
