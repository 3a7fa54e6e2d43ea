// Drawing of curves, and tables of their points.

const CHART = { wide: 640, high: 300, left: 46, right: 12, low: 34, top: 12 };
// Colours of curves; the first four are the colours of flitlab.plot.
const CURVE_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8C6BB1", "#997A00", "#3A92C4"];
const DASHES = ["", "6 3", "2 3", "8 3 2 3", "4 4", "1 3", "10 4"]; // in addition to colours, for colour-blind readers

function ticks(most) {
  const rough = most / 5, unit = 10 ** Math.floor(Math.log10(rough)), step = unit * [1, 2, 5, 10].find((k) => k * unit >= rough);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(6)));
}

// What a chart shows against the offered load: title, smallest range, and for a point its value (null: none), half
// interval and text.
const PANELS = {
  latency: { title: "latency (cycles)", least: 10, of: (p) => (p.saturated ? Infinity : p.latency_cycles.mean),
    interval: (p) => (p.saturated ? 0 : p.latency_cycles.ci95 ?? 0), text: latency_text },
  accepted: { title: "accepted load (flits/cycle/terminal)", least: 0.1, of: (p) => p.accepted, interval: () => 0,
    text: (p) => `load ${p.load}: accepted ${p.accepted.toFixed(3)} flits/cycle/terminal${p.saturated ? ", saturated" : ""}` },
};

// link(curve, point): address of a point; without it, points are no links.
function chart_of(curves, { link = null, panel = "latency" } = {}) {
  const { title, least, of, interval } = PANELS[panel];
  const { wide, high, left, right, low, top } = CHART, svg = svg_of(wide, high, `${panel === "latency" ? "latency" : "accepted load"} by offered load`);
  const points = curves.flatMap((c) => c.points), shown = points.filter((p) => of(p) !== null && of(p) < Infinity);
  const x_most = Math.max(0.1, ...points.map((p) => p.offered)) * 1.04;
  const y_most = Math.max(least, ...shown.map((p) => of(p) + interval(p))) * 1.15;
  const x = (load) => left + (load / x_most) * (wide - left - right);
  const y = (cycles) => high - low - (Math.min(cycles, y_most) / y_most) * (high - low - top);
  for (const t of ticks(x_most)) svg.append(svg_part("path", { class: "scope-axis", d: `M${x(t)} ${high - low}v4` }),
    svg_part("text", { x: x(t), y: high - low + 14, "text-anchor": "middle" }, `${t}`));
  for (const t of ticks(y_most)) svg.append(svg_part("path", { class: "page-grid", d: `M${left} ${y(t)}H${wide - right}` }),
    svg_part("text", { x: left - 5, y: y(t) + 3, "text-anchor": "end" }, `${t}`));
  svg.append(svg_part("path", { class: "scope-axis", fill: "none", d: `M${left} ${top}V${high - low}H${wide - right}` }),
    svg_part("text", { x: (left + wide) / 2, y: high - 4, "text-anchor": "middle" }, "offered load (flits/cycle/terminal)"),
    svg_part("text", { x: 11, y: high / 2, "text-anchor": "middle", transform: `rotate(-90 11 ${high / 2})` }, title));
  curves.forEach((curve, i) => draw_curve(svg, curve.points, i, x, y, PANELS[panel], link && ((p) => link(curve, p))));
  return svg;
}

// Returns the attributes of the line of curve i.
function line_style(i) {
  return { fill: "none", stroke: CURVE_COLOURS[i % CURVE_COLOURS.length], "stroke-width": 1.6,
    "stroke-dasharray": DASHES[i % DASHES.length] };
}

function svg_part_in_link(href, mark) {
  const link = svg_part("a", { href });
  link.append(mark);
  return link;
}

function draw_curve(svg, points, i, x, y, { of, interval, text }, link) {
  const colour = CURVE_COLOURS[i % CURVE_COLOURS.length];
  points = points.filter((p) => of(p) !== null); // at load 0 there are no packets
  const way = points.map((p) => `${x(p.offered).toFixed(1)},${y(of(p)).toFixed(1)}`).join(" ");
  svg.append(svg_part("polyline", { ...line_style(i), points: way }));
  for (const p of points) {
    const [cx, cy] = [x(p.offered), y(of(p))], ci = interval(p);
    if (ci) svg.append(svg_part("path", { stroke: colour, "stroke-width": 1.4, fill: "none",
      d: `M${cx - 3} ${y(of(p) - ci)}h6m-3 0V${y(of(p) + ci)}m-3 0h6` }));
    const mark = p.saturated ? svg_part("path", { d: `M${cx - 5} ${cy + 7}L${cx} ${cy}L${cx + 5} ${cy + 7}Z`, fill: "none", stroke: colour, "stroke-width": 1.6 })
      : svg_part("circle", { cx, cy, r: 3, fill: colour });
    mark.append(svg_part("title", {}, text(p)));
    const href = link?.(p);
    svg.append(href ? svg_part_in_link(href, mark) : mark);
  }
}

function latency_text(p) {
  if (p.saturated) return `load ${p.load}: saturated; accepted ${p.accepted.toFixed(3)} flits/cycle/terminal`;
  return `load ${p.load}: ${p.latency_cycles.mean?.toFixed(2)} ± ${p.latency_cycles.ci95?.toFixed(2) ?? "?"} cycles`;
}

// open: whether the points are shown, not only the label.
function table_of_points(label, points, i, { link, open }) {
  const cell = (tag, text) => make(tag, {}, text), table = make("table", { class: "scope-ports" });
  table.append(make("tr", {}, ...["load", "offered", "accepted", "latency (cycles)"].map((t) => cell("th", t)),
    make("th", { title: "latency that 99 % of the packets do not exceed, in cycles" }, "p99"), cell("th", "")));
  for (const p of points) {
    const { mean, ci95, p99 } = p.latency_cycles;
    table.append(make("tr", { "data-load": p.load, "data-hash": p.state_hash, "data-mean": mean ?? "", "data-saturated": String(p.saturated) },
      make("td", {}, make("a", { href: link(p), title: "open the network at the end of this run" }, `${p.load}`)),
      ...[p.offered.toFixed(4), p.accepted.toFixed(4), mean === null ? "" : `${mean.toFixed(2)}${ci95 === null ? "" : ` ± ${ci95.toFixed(2)}`}`,
        p99 === null ? "" : `${p99}`, p.saturated ? "saturated" : ""].map((t) => cell("td", t))));
  }
  const key = svg_of(34, 8, "");
  key.append(svg_part("path", { ...line_style(i), d: "M1 4H33" }));
  return make("details", { open }, make("summary", {}, key, ` ${label}`), table);
}
