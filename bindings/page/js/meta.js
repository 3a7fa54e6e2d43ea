// Constant data of a network in the scope's format (`_meta` of bindings/flitlab/scope/recorder.py), from the core's
// answer to "begin".

// Parameters that have a control in the page; the others are changed in the text of the configuration.
const SETTINGS = ["topology.kind", "topology.shape", "router.vcs", "router.buffer_flits", "routing.algorithm", "traffic.pattern",
  "traffic.load"];

function meta_of(name, begun) {
  const { parameters, network, warnings, stages, deadlock, deadlocked } = begun;
  const values = Object.fromEntries(parameters.map((p) => [p.path, p.value]));
  const place = new Map(network.routers.map((r, i) => [r, i])), { links } = network;
  const [places, layout] = positions_of(network.names, values["topology.kind"] ?? "",
    links.channel.map((_, i) => [place.get(links.router[i]), links.port[i], place.get(links.to_router[i]), links.to_port[i]]),
    values["topology.shape"] ?? [], values["topology.chip_shape"] ?? []);
  const drawn = network.routers.length;
  const note = drawn === network.all ? "" : `${drawn} of ${network.all} routers are drawn (0 to ${drawn - 1}); the others run but are not shown.`;
  const settings = {};
  const unused = values["traffic.class_pattern"] ? "traffic.pattern" : "";  // classes of packets have patterns of their own
  for (const p of parameters) if (SETTINGS.includes(p.path) && p.path !== unused) settings[p.path] = p;
  return { ...network, name, kind: values["router.kind"], about: about(name, values), seed: values["run.seed"],
    note: [note, ...warnings].filter((t) => t).join(" "), layout, stages, deadlock, deadlocked, settings,
    x: places.map((p) => p[0]), y: places.map((p) => p[1]), planes: planes_of(network.names, values["topology.kind"]) };
}

// Returns the same text as Python's repr(experiment).
function about(name, values) {
  const shape = values["topology.shape"]?.join("x") ?? "", mode = values["traffic.mode"];
  const file = { trace: "traffic.trace_file", program: "traffic.program_file" }[mode];
  const pattern = values["traffic.class_pattern"] || (values[file ?? "traffic.pattern"] ?? ""), traffic = mode === "open" ? pattern : `${mode} ${pattern}`.trim();
  const load = values["traffic.load"] === undefined ? "" : ` at ${values["traffic.load"]}`, routing = values["routing.algorithm"];
  const network = `${`${shape} ${values["topology.kind"] ?? ""}`.trim()}, ${values["router.kind"]} router`;
  return `Experiment ${name}: ${network}, ${routing ? `${routing}, ` : ""}${traffic}${load}`;
}
