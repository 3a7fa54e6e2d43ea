// Buttons, sliders and keys. They only say what is wished; scope.js carries it out.

const SPEEDS = [0.5, 1, 2, 5, 10, 15, 30, 60, 120];

function make_controls(wish, live) {
  const button = (label, title, action, key) => make("button", { type: "button", title: `${title}${key ? ` (${key})` : ""}`,
    "aria-label": title, "data-do": action, onclick: () => wish(action) }, label);
  const bar = make("div", { class: "scope-bar-of-controls", role: "toolbar", "aria-label": "cycles" },
    button("|◀", "first recorded cycle", "first", "Home"), button("◀ 100", "back by 100", "back100", "PageUp"), button("◀ 10", "back by 10", "back10", "Shift+←"),
    button("◀ 1", "back by 1", "back1", "←"), button("▶ play", "play", "play", "Space"), button("1 ▶", "step by 1", "step1", "→"),
    button("10 ▶", "step by 10", "step10", "Shift+→"), button("100 ▶", "step by 100", "step100", "PageDown"),
    button("▶|", "last recorded cycle", "last", "End"),
    button("↺ reset", live ? "reset: a network at cycle 0" : "reset: the first recorded cycle", "reset", "R"));
  const speed = make("input", { type: "range", min: 0, max: SPEEDS.length - 1, value: 3, "aria-label": "speed", "data-do": "speed" });
  const speed_text = make("output", {}, "5 cycles/s");
  speed.addEventListener("input", () => {
    speed_text.textContent = `${SPEEDS[speed.value]} cycles/s`;
    wish("speed", SPEEDS[speed.value]);
  });
  const when = make("input", { type: "range", class: "scope-when", "aria-label": "cycle", "data-do": "seek" });
  when.addEventListener("input", () => wish("seek", Number(when.value)));
  bar.append(make("label", {}, "speed ", speed, speed_text));
  return { bar, when, play: bar.querySelector("[data-do=play]") };
}

const TITLES = { "topology.kind": "topology", "router.vcs": "VCs", "router.buffer_flits": "buffer", "routing.algorithm": "routing" };

// Load, pattern, routing and what else the network behind the scope lets be changed, and many cycles at once; only a live
// network has them.
function make_settings(meta, wish) {
  const bar = make("div", { class: "scope-settings" });
  for (const [path, setting] of Object.entries(meta.settings)) {
    const input = setting_input(path, setting, wish), shown = input.type === "range" ? make("output") : null;
    if (shown) input.addEventListener("input", () => (shown.textContent = input.value));
    bar.append(make("label", { title: setting.help }, `${TITLES[path] ?? path.split(".").pop()} `, input, shown));
  }
  const many = make("input", { type: "number", min: 1, max: 1e9, value: 10000, "aria-label": "cycles to run on", "data-do": "cycles" });
  bar.append(make("span", {}, many, make("button", { type: "button", "data-do": "run", title: "run on without recording",
    onclick: () => wish("run", Number(many.value)) }, "run on"), make("progress", { max: 1, value: 0, hidden: true })));
  show_settings(bar, meta);
  return bar;
}

function setting_input(path, { type, choices, min, max }, wish) {
  const changed = (value) => wish("set", { [path]: value }), is = { "data-setting": path };
  if (choices.length) return make("select", { ...is, onchange: (e) => changed(e.target.value) },
    ...choices.map((c) => make("option", { value: c }, c)));
  if (type === "int") return make("input", { ...is, type: "number", min, max, onchange: (e) => changed(Number(e.target.value)) });
  if (type === "int list") return make("input", { ...is, type: "text", size: 8, onchange: (e) => changed(list_of(e.target.value)) });
  return make("input", { ...is, type: "range", min: 0, max: 1, step: 0.01, onchange: (e) => changed(Number(e.target.value)) });
}

// "8x8" or "8, 8"; what is no list of numbers goes on as it is, so that the core says what is wrong.
function list_of(text) {
  const parts = text.trim().split(/[x,\s]+/);
  return parts.every((p) => /^-?\d+$/.test(p)) ? parts.map(Number) : text;
}

// As the network has them: after a change that was refused, too.
function show_settings(bar, meta) {
  for (const [path, { value }] of Object.entries(meta.settings)) {
    const input = bar.querySelector(`[data-setting="${path}"]`);
    if (!input) continue;
    input.value = Array.isArray(value) ? value.join("x") : value;
    if (input.type === "range") input.nextElementSibling.textContent = `${value}`;
  }
}

// Brackets need a third key on many keyboards, on which letters and the comma are at hand.
const KEYS = { " ": "play", ArrowRight: "step1", "Shift+ArrowRight": "step10", PageDown: "step100", ArrowLeft: "back1",
  "Shift+ArrowLeft": "back10", PageUp: "back100", Home: "first", End: "last", r: "reset", Escape: "close", n: "next_router",
  p: "previous_router", ".": "next_router", ",": "previous_router", "]": "next_router", "[": "previous_router" };

function listen_to_keys(el, wish) {
  el.addEventListener("keydown", (event) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key; // Caps Lock or not
    const name = (event.shiftKey && key.startsWith("Arrow") ? "Shift+" : "") + key;
    const shortcut = event.ctrlKey || event.metaKey || event.altKey; // the browser's; with AltGr a bracket is one of ours
    if (event.target.closest("input, select") || (shortcut && !event.getModifierState("AltGraph")) || !KEYS[name]) return;
    if (event.key === " " && event.target.closest("button, summary")) return; // a focused button is what Space means
    event.preventDefault();
    event.stopPropagation();
    wish(KEYS[name]);
  });
}
