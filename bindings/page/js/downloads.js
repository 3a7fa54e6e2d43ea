// Downloads: points of curves as CSV, the chart as SVG and PNG, files of a configuration.

// Columns of a sweep's table in Python (bindings/flitlab/curve_rows.py): name, and place in a result.
const COLUMNS = [["offered"], ["accepted"], ["verdict"], ["saturated"],
  ...["mean", "ci95", "p50", "p95", "p99", "max"].map((part) => [`latency_${part}`, "latency_cycles", part]),
  ["network_latency_mean", "network_latency_cycles", "mean"], ["hops_mean"], ["channel_use_mean", "channel_utilization", "mean"],
  ["channel_use_max", "channel_utilization", "max"], ["packets_delivered", "packets", "delivered"], ["warmup_steady"],
  ["window_capped"], ["cycles"], ["state_hash"]];
const PNG_SCALE = 3; // pixels of a PNG per unit of the drawing

function save_as(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// Returns the parts of a result that the page uses: the columns of the table, the load and the seed.
function kept_point(result) {
  const point = { load: result.load, seed: result.seed };
  for (const [name, place = name, part] of COLUMNS) {
    if (part) point[place] = { ...point[place], [part]: result[place][part] };
    else point[place] = result[place];
  }
  return point;
}

// Returns the points of curves as the table of a sweep, which Curve.read() in Python reads. Parameters in which curves
// differ come first; the other parameters, and the network's name, follow the results.
function csv_of(curves, differ) {
  const varied = ["traffic.load", ...differ.filter((p) => p !== "traffic.load" && p !== "run.seed"), "run.seed"];
  const all = [...new Set(curves.flatMap((c) => Object.keys(c.config)))].filter((p) => !varied.includes(p));
  const lines = [[...varied, ...COLUMNS.map(([name]) => name), "network", ...all]];
  for (const { name, config, points } of curves)
    for (const p of points) {
      const given = { ...config, "traffic.load": p.load, "run.seed": p.seed };
      lines.push([...varied.map((path) => given[path]), ...COLUMNS.map(([column, place = column, part]) => (part ? p[place][part] : p[place])),
        name, ...all.map((path) => config[path])]);
    }
  return `${lines.map((line) => line.map(cell_of).join(",")).join("\n")}\n`;
}

const SPECIAL = /[",\n]/; // a cell with such a character has quotes

function cell_of(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "boolean" ? (value ? "True" : "False") : Array.isArray(value) ? JSON.stringify(value).replace(/,/g, ", ") : `${value}`;
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Styles of the chart outside the page.
const CHART_STYLE = `text { font: 10px sans-serif; fill: #1b1b1b; } .scope-axis { stroke: #1b1b1b; } .page-grid { stroke: #b9b9b9; opacity: 0.5; }`;

// Returns the chart as the text of an SVG file, with a line of legend for each curve.
function svg_file(curves, { labels, version, panel }) {
  const svg = chart_of(curves, { panel }), high = CHART.high + 16 * curves.length;
  curves.forEach((_, i) => {
    const y = CHART.high + 16 * i + 8;
    svg.append(svg_part("path", { ...line_style(i), d: `M${CHART.left} ${y}h34` }), svg_part("text", { x: CHART.left + 42, y: y + 3 }, labels[i]));
  });
  svg.prepend(svg_part("desc", {}, `flitlab ${version}`), svg_part("style", {}, CHART_STYLE),
    svg_part("rect", { width: CHART.wide, height: high, fill: "#ffffff" }));
  for (const [name, value] of Object.entries({ viewBox: `0 0 ${CHART.wide} ${high}`, width: CHART.wide, height: high })) svg.setAttribute(name, value);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(svg)}\n`;
}

// Returns an SVG file as a PNG file.
async function png_of(text) {
  const image = new Image(), url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  image.src = url;
  await image.decode();
  const canvas = make("canvas", { width: PNG_SCALE * image.naturalWidth, height: PNG_SCALE * image.naturalHeight });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// Saves a configuration as TOML, and the files that it names.
function save_configuration({ name, config, texts }) {
  save_as(`${name.replace(/\s/g, "-")}.toml`, toml_text(config), "application/toml");
  for (const [path, text] of Object.entries(texts)) if (config[path]) save_as(config[path].split("/").at(-1), text, "text/csv");
}
