// Legend of the drawing: one sample for each element that occurs in the network.

// Returns the full scale of the routers' fill, as text: slots of a router, or the range over the routers.
function full_scale(meta) {
  const places = meta.places.filter((n) => n), [least, most] = [Math.min(...places), Math.max(...places)];
  return least === most ? `${most}` : `${least} to ${most}, the router's capacity`;
}

function make_legend(recording, overlay) {
  const { meta } = recording, list = make("ul", { class: "scope-legend scope-scale", "aria-label": "legend" });
  const item = (sample, text) => list.append(make("li", {}, sample, text));
  if (meta.places.some((n) => n)) item(fill_sample(), `${meta.full}: empty to full (${full_scale(meta)})`);
  if (meta.links.channel.length) {
    const use = meta.facts.whole_packets ? "occupied by packets" : "with a flit";
    item(width_sample(), `share of the last ${USE_WINDOW} cycles ${recording.has_circuits ? "in which the channel carried words" : use}: 0 to 1`);
  }
  if (meta.facts.datelines) item(dateline_sample(), "dateline: packets change to the other class of virtual channels");
  if (recording.has_circuits) {
    item(line_sample(PALETTE[1]), "connection, coloured by its source; arrow: direction of its data");
    item(line_sample("var(--scope-alarm)", "4 3"), "connection that is being closed; cross: blocked here");
    item(dot_sample("currentColor"), "word of data on a wire (hollow: DATA-IDLE); other words have a letter: T for TURN, S for STATUS, D for DROP");
  } else if (meta.links.channel.length || meta.routers.length === 1) {
    item(dot_sample(PALETTE[1], true), "head flit, coloured by its packet");
    if (!meta.facts.whole_packets) item(dot_sample(PALETTE[1]), "other flit");
  }
  if (overlay !== "none")
    for (const [cause, [name, colour, help]] of Object.entries(CAUSES))
      if (overlay === "all" || overlay === cause) item(box_sample(colour), `${name}: ${help}`);
  return list;
}

function sample(wide, ...parts) {
  const svg = svg_of(wide, 14, "");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("width", wide);
  svg.setAttribute("height", 14);
  svg.append(...parts);
  return svg;
}

function fill_sample() {
  const boxes = [0, 1 / 3, 2 / 3, 1].flatMap((full, i) => [
    svg_part("rect", { x: 1 + 15 * i, y: 1 + 12 * (1 - full), width: 12, height: 12 * full, fill: "var(--scope-used)" }),
    svg_part("rect", { x: 1 + 15 * i, y: 1, width: 12, height: 12, fill: "none", stroke: "currentColor" })]);
  return sample(62, ...boxes);
}

function width_sample() {
  return sample(62, svg_part("path", { d: "M1 6.5L60 4V10L1 7.5Z", fill: "var(--scope-used)" }));
}

function line_sample(colour, dashes = "") {
  return sample(30, svg_part("path", { d: "M1 7H28", stroke: colour, "stroke-width": 3, "stroke-dasharray": dashes }));
}

function dateline_sample() {
  return sample(30, svg_part("path", { d: "M1 7H28", stroke: "var(--scope-quiet)" }), svg_part("path", { d: "M12 1V13M16 1V13", stroke: "currentColor", "stroke-width": 1.5 }));
}

function dot_sample(colour, edge = false) {
  return sample(14, svg_part("circle", { cx: 7, cy: 7, r: edge ? 5 : 4, fill: colour, stroke: edge ? "currentColor" : "none" }));
}

function box_sample(colour) {
  return sample(14, svg_part("rect", { x: 2, y: 2, width: 10, height: 10, fill: colour }));
}
