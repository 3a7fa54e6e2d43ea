// Curves of latency against load, which grow point by point. Their runs execute in separate workers.

const MOST_WORKERS = 4;
const CURVE_TERMS = {
  "a point": "a run of the network at one load: warm-up, measurement and drain. It is a link, which opens the " +
    "network at the end of the run.",
  "bars, ±": "95 % confidence interval of the mean latency",
  "a triangle": "a load at which the network is saturated: it delivers less than it is offered, and latencies grow " +
    "without bound",
  "offered, accepted": "flits per cycle and terminal that the terminals create, and that the network delivers",
  "p99": "99 % of the packets have at most this latency, in cycles",
  "workers": "runs that the browser executes at the same time, each on a processor core. Their number changes the " +
    "time that the curve takes, not its points.",
};

class Curves {
  // given(): returns name, config and texts of the shown network; worker(): starts a worker with the core; configs: the
  // page's configurations; version(): of flitlab; changed(): is called after each change that a reload must keep.
  constructor(el, { given, worker, configs, version, changed }) {
    Object.assign(this, { el, given, worker, configs, version, changed, curves: [], queue: [], panel: "latency" });
    const number = (id, label, value, step, min = 0, max = 1) => make("label", { title: CURVE_TERMS[label] },
      `${label} `,
      make("input", { type: "number", min, max, step, value, "data-curve": id, onchange: () => this.changed() }));
    const button = (what, label, act) => make("button", { type: "button", "data-do": what, onclick: act }, label);
    const workers = Math.min(MOST_WORKERS, Math.max(1, (navigator.hardwareConcurrency ?? 2) - 1));
    this.status = make("span", { role: "status", class: "page-status" });
    this.chart = make("div", { class: "page-chart" });
    this.table = make("div", { class: "page-points" });
    this.downloads = make("div", { class: "scope-settings", hidden: true }, "download ", button("csv", "points (CSV)", () => this.save_csv()),
      button("svg", "chart (SVG)", () => this.save_svg()), button("png", "chart (PNG)", () => this.save_png()));
    el.replaceChildren(make("h2", {}, "Load and latency"),
      make("details", { class: "page-words" }, make("summary", {}, "What points, triangles, p99 and workers mean"),
        make("dl", {}, ...Object.entries(CURVE_TERMS).flatMap(([term, meaning]) =>
          [make("dt", {}, term), make("dd", {}, meaning)]))),
      make("div", { class: "scope-settings" }, number("from", "load from", 0.05, 0.01), number("to", "to", 0.6, 0.01),
        number("step", "in steps of", 0.05, 0.01), number("workers", "workers", workers, 1, 1, MOST_WORKERS),
        button("curve", "draw the curve", () => (this.running ? this.stop() : this.start())), button("clear", "clear", () => this.clear())),
      this.status, this.chart, this.downloads, this.table);
    this.button = el.querySelector("[data-do=curve]");
    this.draw();
  }

  input(id) {
    return this.el.querySelector(`[data-curve=${id}]`);
  }

  loads() {
    const [from, to, step] = ["from", "to", "step"].map((id) => Number(this.input(id).value));
    if (!(step > 0 && from >= 0 && to >= from && (to - from) / step < 200))
      throw new Error(`loads from ${from} to ${to} in steps of ${step}: the loads must increase, in at most 200 steps.`);
    return Array.from({ length: Math.floor((to - from) / step + 1e-9) + 1 }, (_, i) => Number((from + i * step).toFixed(6)));
  }

  start() {
    try {
      const loads = this.loads();
      this.count = this.number_of_workers();
      this.queue = [];
      this.set_panel("latency");
      this.begin({ ...this.given(), loads });
    } catch (error) {
      this.set_status(error.message);
    }
  }

  // Draws the curves of a figure, one after the other, in place of the present ones. wanted: name, config, texts, label,
  // loads and figure (as for link_to) of each. panel: "latency" or "accepted".
  draw_all(wanted, panel) {
    try {
      this.count = this.number_of_workers();
      this.clear();
      this.set_panel(panel);
      this.queue = [...wanted];
      this.begin(this.queue.shift());
    } catch (error) {
      this.set_status(error.message);
    }
  }

  // Removes the curves of all figures but one; null: of all figures.
  keep_figure(name) {
    const other = ({ figure }) => figure && figure.name !== name;
    if (this.running && other(this.running.curve)) this.stop();
    if (!this.curves.some(other)) return;
    this.curves = this.curves.filter((curve) => !other(curve));
    this.set_status("");
    this.draw();
  }

  // A chart has one panel, so another one begins without curves.
  set_panel(panel) {
    if (panel !== this.panel) this.curves = [];
    this.panel = panel;
  }

  begin({ name, config, texts, label, loads, figure }) {
    const count = Math.min(loads.length, this.count), curve = { name, config: { ...config }, label, figure, coded: {}, points: [] };
    this.running = { curve, loads, texts, next: 0, end: loads.length, results: [], cycles: new Map(), workers: [] };
    this.curves.push(curve);
    coded_texts({ name, config, texts }, this.configs).then((coded) => {
      curve.coded = coded;
      this.draw();
    });
    this.button.textContent = "stop";
    for (let i = 0; i < count; ++i) this.add_worker(this.running);
    this.draw();
  }

  number_of_workers() {
    const number = Math.floor(Number(this.input("workers").value));
    if (!(number >= 1 && number <= MOST_WORKERS)) throw new Error(`workers = ${this.input("workers").value}: it must be 1 to ${MOST_WORKERS}.`);
    return number;
  }

  add_worker(run) {
    const worker = this.worker();
    run.workers.push(worker);
    worker.onmessage = ({ data }) => this.running === run && this.receive(worker, data);
    worker.onerror = (event) => this.running === run && this.fail(`the emulator has stopped: ${event.message}`);
  }

  // Returns the label of a curve: the network's name, and the parameters in which curves of that network differ.
  label({ name, config, label }) {
    if (label !== undefined) return label || name;
    const others = this.curves.filter((c) => c.name === name);
    const parts = differing(others).map((p) => `${p} = ${config[p] === undefined ? "default" : JSON.stringify(config[p])}`);
    return [others.length === this.curves.length && parts.length ? "" : name, ...parts].filter((t) => t).join(", ");
  }

  receive(worker, data) {
    const run = this.running;
    if (data.error || data.point?.error) return this.fail(data.error ?? data.point.error);
    if (data.progress) {
      run.cycles.set(data.progress.load, data.progress.cycle);
      return this.set_status([...run.cycles].sort(([a], [b]) => a - b).map(([load, cycle]) => `load ${load}: cycle ${cycle}`).join("; "));
    }
    if (data.point) this.add(run, kept_point(data.point));
    if (!Array.from({ length: run.end }, (_, i) => run.results[i]).includes(undefined)) {
      const { queue } = this;
      this.stop();
      if (queue.length) {
        const [next, ...rest] = queue;
        this.queue = rest;
        return this.begin(next);
      }
      this.set_status(run.end < run.loads.length ? "saturated; higher loads are skipped" : "done");
    } else if (run.next < run.end) {
      const load = run.loads[run.next++];
      worker.postMessage({ do: "point", load, config: run.curve.config, texts: run.texts });
    }
  }

  // Two saturated points, one after the other, end a curve of latencies. Workers may have computed points beyond them,
  // which are left out: the points do not depend on the number of workers.
  add(run, point) {
    run.cycles.delete(point.load);
    run.results[run.loads.indexOf(point.load)] = point;
    const second = run.results.findIndex((p, i) => p?.saturated && run.results[i - 1]?.saturated);
    if (second >= 0 && this.panel === "latency") run.end = second + 1;
    run.curve.points = run.results.slice(0, run.end).filter((p) => p);
    this.draw();
    this.changed();
  }

  fail(text) {
    this.stop();
    this.set_status(text);
  }

  stop() {
    for (const worker of this.running?.workers ?? []) worker.terminate();
    this.running = null;
    this.queue = [];
    this.curves = this.curves.filter((c) => c.points.length);
    this.button.textContent = "draw the curve";
    this.set_status("stopped");
    this.draw();
  }

  clear() {
    if (this.running) this.stop();
    this.curves = [];
    this.set_status("");
    this.draw();
    this.changed();
  }

  set_status(text) {
    this.status.textContent = text;
  }

  // What a reload keeps, and its return.
  kept() {
    const inputs = ["from", "to", "step", "workers"].map((id) => [id, this.input(id).value]);
    return { inputs: Object.fromEntries(inputs), curves: this.curves.filter((c) => c.points.length), panel: this.panel };
  }

  restore({ inputs = {}, curves = [], panel = "latency" }) {
    this.panel = panel in PANELS ? panel : "latency";
    for (const [id, value] of Object.entries(inputs)) this.input(id).value = value;
    this.curves = curves;
    this.draw();
  }

  // Returns the link to the end of the run of a point; null if it would be too long.
  link(curve, { load, cycles, state_hash }) {
    const link = link_to({ ...curve, config: { ...curve.config, "traffic.load": load } }, curve.coded,
      { cycle: cycles, hash: state_hash, flitlab: this.version() }, this.configs, curve.figure);
    return link.length > LONGEST_LINK ? null : link;
  }

  draw() {
    const drawn = this.curves.some((c) => c.points.length);
    this.chart.replaceChildren(...(drawn ? [chart_of(this.curves, { link: (curve, p) => this.link(curve, p), panel: this.panel })] : []));
    this.table.replaceChildren(...this.curves.filter((c) => c.points.length).map((curve) =>
      table_of_points(this.label(curve), curve.points, this.curves.indexOf(curve), { link: (p) => this.link(curve, p), open: curve.label === undefined })));
    this.downloads.hidden = !drawn;
  }

  save_csv() {
    save_as("curves.csv", csv_of(this.curves, differing(this.curves)), "text/csv");
  }

  svg() {
    return svg_file(this.curves, { labels: this.curves.map((c) => this.label(c)), version: this.version(), panel: this.panel });
  }

  save_svg() {
    save_as("curves.svg", this.svg(), "image/svg+xml");
  }

  async save_png() {
    save_as("curves.png", await png_of(this.svg()));
  }
}

// Returns the parameters, without the load, in which curves differ.
function differing(curves) {
  const paths = [...new Set(curves.flatMap((c) => Object.keys(c.config)))];
  return paths.filter((p) => p !== "traffic.load" && new Set(curves.map((c) => JSON.stringify(c.config[p]))).size > 1);
}
