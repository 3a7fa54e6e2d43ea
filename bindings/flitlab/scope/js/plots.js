// Plots up to the shown cycle: latencies, load, and the occupancy of all routers.

function svg_part(tag, attributes = {}, text = "") {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text) node.append(text);
  return node;
}

function svg_of(width, height, label) {
  return svg_part("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
}

const PLOT = { wide: 270, high: 110, left: 34, low: 18, top: 16 };

function plot_frame(title, x_text, y_most) {
  const { wide, high, left, low, top } = PLOT, svg = svg_of(wide, high, title);
  svg.append(svg_part("text", { x: left, y: 11 }, title), svg_part("path", { class: "scope-axis", fill: "none",
    d: `M${left} ${top}V${high - low}H${wide - 4}` }),
  svg_part("text", { x: wide - 4, y: high - 5, "text-anchor": "end" }, x_text),
  svg_part("text", { x: left - 3, y: top + 6, "text-anchor": "end" }, y_most), svg_part("text", { x: left - 3, y: high - low, "text-anchor": "end" }, "0"));
  return svg;
}

function line_of(svg, values, most, class_name) {
  const { wide, high, left, low, top } = PLOT, step = (wide - 4 - left) / Math.max(1, values.length - 1);
  const points = values.map((v, i) => `${(left + i * step).toFixed(1)},${(high - low - (v / most) * (high - low - top)).toFixed(1)}`);
  svg.append(svg_part("polyline", { points: points.join(" "), class: class_name, fill: "none" }));
}

function smooth(values, window) {
  let sum = 0;
  return values.map((v, i) => {
    sum += v - (i >= window ? values[i - window] : 0);
    return sum / Math.min(i + 1, window);
  });
}

const ENOUGH = 100; // delivered packets, from which on a mean latency is shown
const BATCHES = 10;
const STUDENT = 2.262; // 97.5 % quantile of Student's t with BATCHES - 1 degrees of freedom

// Returns the mean of a series and the half width of its 95 % confidence interval, from the means of BATCHES batches.
function mean_of(values) {
  const mean = values.reduce((a, b) => a + b, 0) / values.length, size = Math.floor(values.length / BATCHES);
  const means = Array.from({ length: BATCHES }, (_, i) => values.slice(i * size, (i + 1) * size).reduce((a, b) => a + b, 0) / size);
  const centre = means.reduce((a, b) => a + b, 0) / BATCHES;
  const variance = means.reduce((sum, m) => sum + (m - centre) ** 2, 0) / (BATCHES - 1);
  return { mean, half: STUDENT * Math.sqrt(variance / BATCHES) };
}

// Returns latency and load in the recorded cycles up to `cycle`, in words. If too few packets were delivered in them:
// the number since the recording began, which does not fall when a long recording loses its oldest cycles.
function numbers_of_recorded(recording, cycle) {
  const shown = recording.frames.slice(1, cycle - recording.first + 1), latencies = shown.flatMap((f) => f.l);
  if (latencies.length < ENOUGH)
    return `${counted(recording.delivered(cycle), "packet")} delivered since cycle ${recording.begun}`;
  const { mean, half } = mean_of(latencies), area = shown.length * Math.max(1, recording.meta.terminals);
  const [offered, accepted] = [0, 1].map((k) => (shown.reduce((sum, f) => sum + f.t[k], 0) / area).toFixed(3));
  return `latency ${mean.toFixed(1)} ± ${half.toFixed(1)} cycles (95 %; ${counted(latencies.length, "packet")} of ` +
    `the last ${counted(shown.length, "cycle")}); offered ${offered}, accepted ${accepted} flits/cycle/terminal`;
}

function largest(values, least) {
  return values.reduce((most, value) => Math.max(most, value), least);
}

function draw_plots(el, recording, cycle) {
  const shown = recording.frames.slice(1, cycle - recording.first + 1), terminals = Math.max(1, recording.meta.terminals);
  const cycles = shown.length ? `cycles ${shown[0].c - 1} to ${cycle - 1}` : "";
  // Latency.
  const latencies = shown.flatMap((f) => f.l), longest = largest(latencies, 10), bins = new Array(24).fill(0);
  for (const l of latencies) ++bins[Math.min(23, Math.floor((l / (longest + 1)) * 24))];
  const tallest = largest(bins, 1), { wide, high, left, low, top } = PLOT, width = (wide - 4 - left) / 24;
  const histogram = plot_frame("packet latency (cycles)", `${longest}`, `${tallest}`);
  bins.forEach((n, i) => n && histogram.append(svg_part("rect", { class: "scope-bar", x: left + i * width, width: width - 1,
    y: high - low - (n / tallest) * (high - low - top), height: (n / tallest) * (high - low - top) })));
  const mean = latencies.length ? latencies.reduce((a, b) => a + b, 0) / latencies.length : null;
  if (mean !== null) histogram.append(svg_part("text", { x: wide - 4, y: 11, "text-anchor": "end", "data-mean": mean },
    latencies.length < ENOUGH ? counted(latencies.length, "packet")
      : `mean ${mean.toFixed(1)} of ${latencies.length}`));
  histogram.append(svg_part("text", { x: left + 2, y: high - 5 }, cycles && `delivered in ${cycles}`));
  // Load.
  const loads = [0, 1].map((k) => smooth(shown.map((f) => f.t[k] / terminals), 32));
  const most = largest(loads.flat(), 0.05), load = plot_frame("load: — accepted, - - offered (flits/cycle/terminal)", cycles, most.toFixed(2));
  line_of(load, loads[0], most, "scope-line scope-dashed");
  line_of(load, loads[1], most, "scope-line");
  // Routers.
  const held = recording.full.slice(0, cycle - recording.first + 1), fullest = largest(held, 10);
  const routers = plot_frame(`${recording.meta.full}: ${held.at(-1)} of ${recording.places}`, cycles, `${fullest}`);
  line_of(routers, held, fullest, "scope-line");
  el.replaceChildren(histogram, load, routers);
}
