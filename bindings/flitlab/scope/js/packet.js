// Panel of a followed packet: its path, and its time per step as a Gantt chart.

const STEP_COLOURS = { queue: "#999999", inject: "#CC79A7", circuit: "#56B4E9", "behind others": "#F0E442", route: "#56B4E9",
  "VC allocation": "#E69F00", "switch allocation": "#D55E00", router: "#E69F00", "retransmission": "#D55E00", link: "#009E73",
  tail: "#0072B2", reception: "#8C6BB1", "under way": "#BBBBBB" };

// choose(router), follow(packet): select a router or another packet.
function draw_packet(el, recording, way, cycle, { choose, follow }) {
  const name = packet_name(way.src, way.id), past = way.spans.filter((s) => s.from < cycle);
  const from = way.created ?? past[0]?.from ?? cycle, to = Math.max(from + 1, Math.min(cycle, way.delivered ?? cycle));
  const facts = make("p", { "data-latency": way.latency !== null && cycle > way.delivered ? way.latency : "" });
  const since = way.created === null ? "created before the recording" : `created in cycle ${way.created}`;
  const done = way.delivered !== null && cycle > way.delivered;
  facts.append(`${since}; ${done ? `tail delivered in cycle ${way.delivered}` : "not delivered yet"}` +
    (done && way.latency !== null ? `: latency ${counted(way.latency, "cycle")}` : ""));
  // The length comes from events; it is unknown if the packet has not moved since the recording began.
  el.replaceChildren(make("h3", {}, "Packet ", packet_button(way.src, way.id, () => {}),
    way.length ? ` of ${counted(way.length, "flit")}` : "", way.dst === null ? "" : ` to terminal ${way.dst}`), facts);
  if (done && way.latency !== null) {
    // The recording does not have the paths of circuits.
    const sums = cycles_by_step(way), channels = way.hops.length - 1;
    el.append(make("p", { class: "scope-sum" }, (sums.map(([s, n]) => `${s} ${n}`).join(" + ") || "0") +
      ` = ${counted(way.latency, "cycle")}` + (channels < 0 ? "" : `, over ${counted(channels, "channel")} between routers`)));
  }
  el.append(...waits_of(recording, way, cycle).map((wait) => wait_text(recording, wait, choose, follow)),
    gantt(recording, way, past, from, to, cycle), legend(past), steps(recording, way, cycle, choose));
  el.dataset.packet = name;
  el.dataset.done = done;
}

function wait_text(recording, { row, why, holders }, choose, follow) {
  const { router, port, vc } = row;
  const here = make("button", { type: "button", onclick: () => choose(router) }, recording.name(router));
  const held = holders.flatMap(({ src, id, what }, i) =>
    [i ? ", " : " Held by ", packet_button(src, id, follow), ` (${what})`]);
  return make("p", { class: "scope-waits", "data-vc": `${router}.${port}.${vc}` }, "Waits in router ", here,
    ` ${recording.port_name(router, port)} VC ${vc}: ${why}.`, ...held, held.length ? "." : "");
}

// Draws the time line: a line for the source, then one for each router, with its name.
function gantt(recording, way, spans, from, to, cycle) {
  const lines = Math.max(1, ...spans.map((s) => s.hop + 2)), high = 14, wide = 560, left = 70;
  const x = (c) => left + ((c - from) / (to - from)) * (wide - left - 5);
  const svg = svg_of(wide, lines * high + 18, `time of the packet per step, cycles ${from} to ${to}`);
  for (const { stage, from: begin, to: end, hop } of spans) {
    const bar = svg_part("rect", { x: x(begin), y: (hop + 1) * high + 1, width: Math.max(1, x(Math.min(end, cycle)) - x(begin)),
      height: high - 2, fill: STEP_COLOURS[stage], "data-stage": stage, "data-cycles": end - begin });
    bar.append(svg_part("title", {}, `${stage}: ${counted(end - begin, "cycle")} (${begin} to ${end - 1})`));
    svg.append(bar);
  }
  for (let line = 0; line < lines; ++line) {
    const hop = way.hops[line - 1], name = line ? hop && recording.name(hop.router) : `terminal ${way.src}`;
    svg.append(svg_part("text", { x: left - 5, y: line * high + 11, "text-anchor": "end", "data-line": line }, name ?? ""));
  }
  svg.append(svg_part("text", { x: left, y: lines * high + 13 }, `cycle ${from}`),
    svg_part("text", { x: wide - 5, y: lines * high + 13, "text-anchor": "end" }, `${to}`));
  return svg;
}

function legend(spans) {
  const stages = STEPS.filter((s) => spans.some((span) => span.stage === s));
  return make("p", { class: "scope-legend" }, ...stages.map((s) =>
    make("span", {}, make("i", { style: `background: ${STEP_COLOURS[s]}` }), s)));
}

function steps(recording, way, cycle, choose) {
  const list = make("ol", { class: "scope-way" });
  const router_button = (r) => make("button", { type: "button", onclick: () => choose(r) }, recording.name(r));
  for (const hop of way.hops) {
    if ((hop.arrived ?? hop.granted) >= cycle) break;
    const out = hop.granted == null || hop.granted >= cycle ? "is here"
      : `→ ${recording.port_name(hop.router, hop.out_port)} VC ${hop.out_vc} in cycle ${hop.granted}`;
    list.append(make("li", { "data-router": hop.router }, router_button(hop.router), ` ${recording.port_name(hop.router, hop.port)} VC ${hop.vc}` +
      `${hop.arrived == null ? "" : `, arrived in cycle ${hop.arrived}`}, ${out}`));
  }
  if (!way.hops.length)
    for (const row of rows_with(recording, way, cycle))
      list.append(make("li", { "data-router": row.router }, router_button(row.router),
        ` ${recording.port_name(row.router, row.port)} VC ${row.vc}, since before the recording begins`));
  return list;
}

// Returns the rows of virtual channels whose front packet is this one.
function rows_with(recording, { src, id }, cycle) {
  return recording.state(cycle).rows.filter((row) => row.src === src && row.id === id);
}
