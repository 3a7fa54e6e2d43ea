// Buttons, sliders and keys. They pass the user's commands to scope.js, which executes them.

const SPEEDS = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 240];

// Returns the longest time that a recorded packet occupies a channel, in cycles; 0 if channels carry single flits.
function packet_time({ meta, frames }) {
  if (!meta.facts.whole_packets) return 0;
  return Math.max(0, ...frames.map(({ u }) => Math.max(0, ...u.filter((_, i) => i % 2))));
}

// speed: first speed, cycles/s; packet: duration of a packet on a channel, cycles, or 0.
function make_controls(command, live, first_speed, packet) {
  const button = (label, title, action, key) => make("button", { type: "button", title: `${title}${key ? ` (${key})` : ""}`,
    "aria-label": title, "data-do": action, onclick: () => command(action) }, label);
  const bar = make("div", { class: "scope-bar-of-controls", role: "toolbar", "aria-label": "cycles" },
    button("|◀", "first recorded cycle", "first", "Home"), button("◀ 100", "back by 100", "back100", "PageUp"), button("◀ 10", "back by 10", "back10", "Shift+←"),
    button("◀ 1", "back by 1", "back1", "←"), button("▶ play", "play", "play", "Space"), button("1 ▶", "step by 1", "step1", "→"),
    button("10 ▶", "step by 10", "step10", "Shift+→"), button("100 ▶", "step by 100", "step100", "PageDown"),
    button("▶|", "last recorded cycle", "last", "End"),
    button("↺ reset", live ? "reset: back to cycle 0" : "reset: first recorded cycle", "reset", "R"));
  const speed = make("input", { type: "range", min: 0, max: SPEEDS.length - 1, value: SPEEDS.indexOf(first_speed), "aria-label": "speed", "data-do": "speed" });
  const said = (cycles) => `${cycles} cycles/s` + (packet ? ` (${(cycles / packet).toFixed(2)} packet times/s)` : "");
  const speed_text = make("output", {}, said(first_speed));
  speed.addEventListener("input", () => {
    command("speed", SPEEDS[speed.value]);
  });
  const when = make("input", { type: "range", class: "scope-when", "aria-label": "cycle", "data-do": "seek" });
  when.addEventListener("input", () => command("seek", Number(when.value)));
  when.addEventListener("change", () => command("drop", Number(when.value)));
  for (const action of ["back100", "back10", "step10", "step100"]) bar.querySelector(`[data-do=${action}]`).classList.add("scope-by-many");
  bar.append(make("label", {}, "speed ", speed, speed_text));
  const show_speed = (cycles) => { speed.value = SPEEDS.indexOf(cycles); speed_text.textContent = said(cycles); };
  return { bar, when, show_speed, play: bar.querySelector("[data-do=play]") };
}

// Controls of the display: overlay, colours, size of text, full screen.
function make_display_controls(command) {
  const select = (label, what, title, choices) => make("label", { title }, `${label} `, make("select", { "data-do": what,
    onchange: (e) => command(what, e.target.value) }, ...choices.map(([value, text]) => make("option", { value }, text))));
  const button = (label, title, action) => make("button", { type: "button", title, "aria-label": title, "data-do": action,
    onclick: () => command(action) }, label);
  const font = make("input", { type: "range", min: 10, max: 26, value: 13, "aria-label": "size of text", "data-do": "font",
    oninput: (e) => command("font", Number(e.target.value)) });
  return make("div", { class: "scope-settings", role: "toolbar", "aria-label": "display" },
    select("waiting flits", "overlay", "bars beside the routers: virtual channels that wait, by cause",
      [["none", "not shown"], ["all", "all causes"], ...Object.entries(CAUSES).map(([cause, [name]]) => [cause, name])]),
    make("button", { type: "button", "data-do": "next_blocked", title: "select the next router with a waiting flit (B)",
      onclick: () => command("next_blocked") }, "next waiting"),
    select("colour", "colour_by", "what the colour of a flit shows", [["packet", "packet"], ["vc", "virtual channel"]]),
    make("span", {}, "zoom ", button("+", "zoom in (+)", "larger"), button("−", "zoom out (-)", "smaller"), button("all", "whole network (0)", "whole")),
    make("label", {}, "text ", font),
    make("button", { type: "button", "data-do": "full_screen", title: "full screen (F)", onclick: () => command("full_screen") }, "full screen"));
}

const TITLES = { "topology.kind": "topology", "router.vcs": "VCs", "router.buffer_flits": "buffer", "routing.algorithm": "routing" };

// Settings of a live network that can be changed (load, pattern, routing, ...), and the control that advances it by
// many cycles.
function make_settings(meta, command) {
  const bar = make("div", { class: "scope-settings" });
  for (const [path, setting] of Object.entries(meta.settings)) {
    const input = setting_input(path, setting, command), shown = input.type === "range" ? make("output") : null;
    if (shown) input.addEventListener("input", () => (shown.textContent = input.value));
    bar.append(make("label", { title: setting.help }, `${TITLES[path] ?? path.split(".").pop()} `, input, shown));
  }
  const routing = meta.settings["routing.algorithm"];
  if (routing) bar.append(make("label", { title: "path of the selected packet in an empty network, with another routing algorithm" }, "path with ",
    make("select", { "data-do": "other_path", onchange: (e) => command("other_path", e.target.value) },
      ...["", ...routing.choices].map((c) => make("option", { value: c }, c)))));
  const many = make("input", { type: "number", min: 1, max: 1e9, value: 10000, "aria-label": "cycles to advance", "data-do": "cycles" });
  bar.append(make("span", {}, many, make("button", { type: "button", "data-do": "run", title: "advance by this many cycles without recording",
    onclick: () => command("run", Number(many.value)) }, "run on"), make("progress", { max: 1, value: 0, hidden: true })));
  show_settings(bar, meta);
  return bar;
}

function setting_input(path, { type, choices, min, max }, command) {
  const changed = (value) => command("set", { [path]: value }), is = { "data-setting": path };
  if (choices.length) return make("select", { ...is, onchange: (e) => changed(e.target.value) },
    ...choices.map((c) => make("option", { value: c }, c)));
  if (type === "int") return make("input", { ...is, type: "number", min, max, onchange: (e) => changed(Number(e.target.value)) });
  if (type?.includes("list")) return make("input", { ...is, type: "text", size: 8, onchange: (e) => changed(list_of(e.target.value)) });
  return make("input", { ...is, type: "range", min: 0, max: 1, step: 0.01, onchange: (e) => changed(Number(e.target.value)) });
}

// Returns the list of numbers in a text such as "8x8" or "1, 0.5". Other text is returned unchanged, so that the core
// reports the error.
function list_of(text) {
  const parts = text.trim().split(/[x,\s]+/);
  return parts.every((p) => /^-?\d+(\.\d+)?$/.test(p)) ? parts.map(Number) : text;
}

// Shows the settings of the network, also after it has rejected a change.
function show_settings(bar, meta) {
  for (const [path, { value }] of Object.entries(meta.settings)) {
    const input = bar.querySelector(`[data-setting="${path}"]`);
    if (!input) continue;
    input.value = Array.isArray(value) ? value.join("x") : value;
    if (input.type === "range") input.nextElementSibling.textContent = `${value}`;
  }
}

// Letters and comma are alternatives to brackets, which need AltGr on many keyboards.
const KEYS = { " ": "play", ArrowRight: "step1", "Shift+ArrowRight": "step10", PageDown: "step100", ArrowLeft: "back1",
  "Shift+ArrowLeft": "back10", PageUp: "back100", Home: "first", End: "last", r: "reset", Escape: "close", b: "next_blocked",
  d: "next_here", "+": "larger", "-": "smaller", 0: "whole", f: "full_screen", n: "next_router",
  p: "previous_router", ".": "next_router", ",": "previous_router", "]": "next_router", "[": "previous_router" };

function make_hint() {
  return make("div", { class: "scope-hint" },
    make("p", {}, "Click a router to see its ports, buffers and arbitration, or a flit to follow its packet. " +
      "If dots lie over a router, further clicks (or D) select their packets in turn."),
    make("details", {}, make("summary", {}, "keys"), make("p", {}, "Space plays and pauses, ← and → step (Shift: by 10), Page Up and Page " +
      "Down by 100. N and P (or . and , or ] and [) select the next and the previous router, B the next router with " +
      "a waiting flit, D the next packet whose dot lies over the router; " +
      "+ − 0 zoom, F full screen, R reset, Escape clears the selection. Drag to move the drawing; Ctrl and the wheel zoom.")));
}

function listen_to_keys(el, command) {
  el.addEventListener("keydown", (event) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key; // so that Caps Lock does not matter
    const name = (event.shiftKey && key.startsWith("Arrow") ? "Shift+" : "") + key;
    // This combination belongs to the browser, except AltGr, with which some keyboards type a bracket.
    const shortcut = event.ctrlKey || event.metaKey || event.altKey;
    if (event.target.closest("input, select") || (shortcut && !event.getModifierState("AltGraph")) || !KEYS[name]) return;
    if (event.key === " " && event.target.closest("button, summary")) return; // Space presses a focused button
    event.preventDefault();
    event.stopPropagation();
    command(KEYS[name]);
  });
}
