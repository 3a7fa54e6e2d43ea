// Buttons, sliders and keys. They only say what is wished; scope.js carries it out.

const SPEEDS = [0.5, 1, 2, 5, 10, 15, 30, 60, 120];

function make_controls(wish, live) {
  const button = (label, title, action, key) => make("button", { type: "button", title: `${title}${key ? ` (${key})` : ""}`,
    "aria-label": title, "data-do": action, onclick: () => wish(action) }, label);
  const bar = make("div", { class: "scope-bar-of-controls", role: "toolbar", "aria-label": "cycles" },
    button("|◀", "first recorded cycle", "first", "Home"), button("◀ 10", "back by 10", "back10", "Shift+←"),
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

// Load, pattern, routing, and many cycles at once; only a live network has them.
function make_settings(meta, wish) {
  const bar = make("div", { class: "scope-settings" }), titles = { "traffic.load": "load", "traffic.pattern": "pattern",
    "routing.algorithm": "routing" };
  for (const [path, { value, choices, help }] of Object.entries(meta.settings)) {
    let input, shown = null;
    if (choices.length) {
      input = make("select", { "data-setting": path }, ...choices.map((c) => make("option", { value: c, selected: c === value }, c)));
      input.addEventListener("change", () => wish("set", { [path]: input.value }));
    } else {
      input = make("input", { type: "range", min: 0, max: 1, step: 0.01, value, "data-setting": path });
      shown = make("output", {}, `${value}`);
      input.addEventListener("input", () => (shown.textContent = input.value));
      input.addEventListener("change", () => wish("set", { [path]: Number(input.value) }));
    }
    bar.append(make("label", { title: help }, `${titles[path]} `, input, shown));
  }
  const many = make("input", { type: "number", min: 1, max: 1e9, value: 10000, "aria-label": "cycles to run on", "data-do": "cycles" });
  bar.append(make("span", {}, many, make("button", { type: "button", "data-do": "run", title: "run on without recording",
    onclick: () => wish("run", Number(many.value)) }, "run on"), make("progress", { max: 1, value: 0, hidden: true })));
  return bar;
}

const KEYS = { " ": "play", ArrowRight: "step1", "Shift+ArrowRight": "step10", PageDown: "step100", ArrowLeft: "back1",
  "Shift+ArrowLeft": "back10", Home: "first", End: "last", r: "reset", Escape: "close", "]": "next_router", "[": "previous_router" };

function listen_to_keys(el, wish) {
  el.addEventListener("keydown", (event) => {
    const name = (event.shiftKey && event.key.startsWith("Arrow") ? "Shift+" : "") + event.key;
    if (event.target.closest("input, select") || event.ctrlKey || event.metaKey || event.altKey || !KEYS[name]) return;
    if (event.key === " " && event.target.closest("button, summary")) return; // a focused button is what Space means
    event.preventDefault();
    event.stopPropagation();
    wish(KEYS[name]);
  });
}
