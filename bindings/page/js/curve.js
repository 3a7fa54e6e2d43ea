// Curves of latency against load, which grow point by point. Their runs execute in a separate worker.

const CHART = { wide: 640, high: 300, left: 46, right: 12, low: 34, top: 12 };
const DASHES = ["", "6 3", "2 3", "8 3 2 3", "4 4", "1 3", "10 4"]; // in addition to colours, for colour-blind readers

class Curves {
  // given(): returns name, config and texts of the shown network; worker(): starts a worker with the core.
  constructor(el, given, worker) {
    Object.assign(this, { el, given, worker, curves: [] });
    const number = (id, label, value, step) => make("label", {}, `${label} `,
      make("input", { type: "number", min: 0, max: 1, step, value, "data-curve": id }));
    this.status = make("span", { role: "status", class: "page-status" });
    this.chart = make("div", { class: "page-chart" });
    this.table = make("div", { class: "page-points" });
    el.replaceChildren(make("h2", {}, "Load and latency"),
      make("p", {}, "Runs of the configuration above over a range of loads, each with warm-up, measurement and drain. " +
        "Bars are 95 % confidence intervals of the mean latency; a triangle marks a load at which the network is saturated."),
      make("div", { class: "scope-settings" }, number("from", "load from", 0.05, 0.01), number("to", "to", 0.6, 0.01),
        number("step", "in steps of", 0.05, 0.01),
        make("button", { type: "button", "data-do": "curve", onclick: () => (this.running ? this.stop() : this.start()) }, "draw the curve"),
        make("button", { type: "button", "data-do": "clear", onclick: () => this.clear() }, "clear"), this.status),
      this.chart, this.table);
    this.button = el.querySelector("[data-do=curve]");
    this.draw();
  }

  loads() {
    const [from, to, step] = ["from", "to", "step"].map((id) => Number(this.el.querySelector(`[data-curve=${id}]`).value));
    if (!(step > 0 && from >= 0 && to >= from && (to - from) / step < 200))
      throw new Error(`loads from ${from} to ${to} in steps of ${step}: the loads must increase, in at most 200 steps.`);
    return Array.from({ length: Math.floor((to - from) / step + 1e-9) + 1 }, (_, i) => Number((from + i * step).toFixed(6)));
  }

  start() {
    try {
      const loads = this.loads(), { name, config, texts } = this.given();
      this.running = { loads, next: 0, saturated: 0, config: { ...config }, texts, points: [], worker: this.worker() };
      this.curves.push({ name, config: { ...config }, points: this.running.points });
      this.running.worker.onmessage = ({ data }) => this.receive(data);
      this.button.textContent = "stop";
      this.draw();
    } catch (error) {
      this.set_status(error.message);
    }
  }

  // Returns the label of a curve: the network's name, and the parameters in which curves of that network differ.
  label({ name, config }) {
    const others = this.curves.filter((c) => c.name === name), paths = new Set(others.flatMap((c) => Object.keys(c.config)));
    const differ = (p) => new Set(others.map((c) => JSON.stringify(c.config[p]))).size > 1;
    const parts = [...paths].filter((p) => p !== "traffic.load" && differ(p))
      .map((p) => `${p} = ${config[p] === undefined ? "default" : JSON.stringify(config[p])}`);
    return [others.length === this.curves.length && parts.length ? "" : name, ...parts].filter((t) => t).join(", ");
  }

  receive(data) {
    const run = this.running;
    if (!run) return;
    if (data.error || data.point?.error) {
      this.stop();
      return this.set_status(data.error ?? data.point.error);
    }
    if (data.cycle !== undefined) return this.set_status(`load ${data.load}: cycle ${data.cycle}`);
    if (data.point) {
      run.points.push(data.point);
      run.saturated = data.point.saturated ? run.saturated + 1 : 0;
      this.draw();
    }
    if (run.next === run.loads.length || run.saturated === 2) { // two saturated points end the curve
      this.stop();
      return this.set_status(run.saturated === 2 ? "saturated; higher loads are skipped" : "done");
    }
    run.worker.postMessage({ do: "point", load: run.loads[run.next++], config: run.config, texts: run.texts });
  }

  stop() {
    this.running?.worker.terminate();
    this.running = null;
    this.button.textContent = "draw the curve";
    this.set_status("stopped");
  }

  clear() {
    if (this.running) this.stop();
    this.curves = [];
    this.set_status("");
    this.draw();
  }

  set_status(text) {
    this.status.textContent = text;
  }

  draw() {
    const all = this.curves.flatMap((c) => c.points);
    this.chart.replaceChildren(...(all.length ? [chart_of(this.curves)] : []));
    this.table.replaceChildren(...this.curves.filter((c) => c.points.length).map((curve) =>
      table_of_points(this.label(curve), curve.points, this.curves.indexOf(curve))));
  }
}

function ticks(most) {
  const rough = most / 5, unit = 10 ** Math.floor(Math.log10(rough)), step = unit * [1, 2, 5, 10].find((k) => k * unit >= rough);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(6)));
}

function chart_of(curves) {
  const { wide, high, left, right, low, top } = CHART, svg = svg_of(wide, high, "latency by offered load");
  const points = curves.flatMap((c) => c.points), steady = points.filter((p) => !p.saturated && p.latency_cycles.mean !== null);
  const x_most = Math.max(0.1, ...points.map((p) => p.offered)) * 1.04;
  const y_most = Math.max(10, ...steady.map((p) => p.latency_cycles.mean + (p.latency_cycles.ci95 ?? 0))) * 1.15;
  const x = (load) => left + (load / x_most) * (wide - left - right);
  const y = (cycles) => high - low - (Math.min(cycles, y_most) / y_most) * (high - low - top);
  for (const t of ticks(x_most)) svg.append(svg_part("path", { class: "scope-axis", d: `M${x(t)} ${high - low}v4` }),
    svg_part("text", { x: x(t), y: high - low + 14, "text-anchor": "middle" }, `${t}`));
  for (const t of ticks(y_most)) svg.append(svg_part("path", { class: "page-grid", d: `M${left} ${y(t)}H${wide - right}` }),
    svg_part("text", { x: left - 5, y: y(t) + 3, "text-anchor": "end" }, `${t}`));
  svg.append(svg_part("path", { class: "scope-axis", fill: "none", d: `M${left} ${top}V${high - low}H${wide - right}` }),
    svg_part("text", { x: (left + wide) / 2, y: high - 4, "text-anchor": "middle" }, "offered load (flits/cycle/terminal)"),
    svg_part("text", { x: 11, y: high / 2, "text-anchor": "middle", transform: `rotate(-90 11 ${high / 2})` }, "latency (cycles)"));
  curves.forEach(({ points: of_curve }, i) => draw_curve(svg, of_curve, i, x, y, y_most));
  return svg;
}

function draw_curve(svg, points, i, x, y, y_most) {
  const colour = PALETTE[i % PALETTE.length], latency = (p) => (p.saturated ? y_most : p.latency_cycles.mean);
  points = points.filter((p) => p.saturated || p.latency_cycles.mean !== null); // at load 0 there are no packets
  const way = points.map((p) => `${x(p.offered).toFixed(1)},${y(latency(p)).toFixed(1)}`).join(" ");
  svg.append(svg_part("polyline", { points: way, fill: "none", stroke: colour, "stroke-width": 1.6, "stroke-dasharray": DASHES[i % DASHES.length] }));
  for (const p of points) {
    const [cx, cy] = [x(p.offered), y(latency(p))], ci = p.saturated ? 0 : p.latency_cycles.ci95 ?? 0;
    if (ci) svg.append(svg_part("path", { stroke: colour, "stroke-width": 1.4, fill: "none",
      d: `M${cx - 3} ${y(latency(p) - ci)}h6m-3 0V${y(latency(p) + ci)}m-3 0h6` }));
    const mark = p.saturated ? svg_part("path", { d: `M${cx - 5} ${cy + 7}L${cx} ${cy}L${cx + 5} ${cy + 7}Z`, fill: "none", stroke: colour, "stroke-width": 1.6 })
      : svg_part("circle", { cx, cy, r: 3, fill: colour });
    mark.append(svg_part("title", {}, point_text(p)));
    svg.append(mark);
  }
}

function point_text(p) {
  if (p.saturated) return `load ${p.load}: saturated; accepted ${p.accepted.toFixed(3)} flits/cycle/terminal`;
  return `load ${p.load}: ${p.latency_cycles.mean?.toFixed(2)} ± ${p.latency_cycles.ci95?.toFixed(2) ?? "?"} cycles`;
}

function table_of_points(label, points, i) {
  const cell = (tag, text) => make(tag, {}, text), table = make("table", { class: "scope-ports" });
  table.append(make("tr", {}, ...["load", "offered", "accepted", "latency (cycles)", "p99", ""].map((t) => cell("th", t))));
  for (const p of points) {
    const { mean, ci95, p99 } = p.latency_cycles;
    table.append(make("tr", { "data-load": p.load, "data-hash": p.state_hash, "data-mean": mean ?? "", "data-saturated": String(p.saturated) },
      ...[`${p.load}`, p.offered.toFixed(4), p.accepted.toFixed(4), mean === null ? "" : `${mean.toFixed(2)}${ci95 === null ? "" : ` ± ${ci95.toFixed(2)}`}`,
        p99 === null ? "" : `${p99}`, p.saturated ? "saturated" : ""].map((t) => cell("td", t))));
  }
  const key = svg_of(34, 8, "");
  key.append(svg_part("path", { d: "M1 4H33", stroke: PALETTE[i % PALETTE.length], "stroke-width": 2.4, "stroke-dasharray": DASHES[i % DASHES.length] }));
  return make("details", { open: true }, make("summary", {}, key, ` ${label}`), table);
}
