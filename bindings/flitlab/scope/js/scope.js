// The scope: display, messages to the kernel, and the user's commands. `post` sends a message to the kernel; it is null
// in a saved page and in a notebook without a kernel. The kernel is Python, or the worker of a page (bindings/page).

const AHEAD = 0.7; // seconds of frames that are recorded ahead of the shown cycle while the network plays
const PATIENCE = 8000; // milliseconds without an answer until the kernel counts as lost
const LEAD = 30; // recorded cycles before a cycle that the slider has chosen outside of the recording
const TIMES = /^(play|first|last|seek|drop|speed|reset|step\d+|back\d+)$/; // commands that scopes with the same clock share

class Scope {
  constructor(el, recording, post) {
    Object.assign(this, { el, post, recording, cycle: recording.last, part: 0, playing: false, sel: {}, tree: null, overlay: "none",
      speed: recording.meta.facts.whole_packets ? 60 : 5 });
    el.classList.add("flitlab-scope");
    el.tabIndex = 0;
    el.dataset.lmSuppressShortcuts = "true"; // disables JupyterLab's shortcuts
    const command = (what, value) => this.command(what, value);
    this.controls = make_controls(command, !!post, this.speed, packet_time(recording));
    this.display = make_display_controls(command);
    this.settings = post ? make_settings(recording.meta, command) : make("div");
    this.canvas = make("canvas", { class: "scope-network", role: "img", "aria-label": "the network; click a router or a flit" });
    this.panel = make("section", { class: "scope-panel", "aria-live": "off", tabindex: -1 });
    this.inside = make("section", { class: "scope-tree" });
    this.hint = make_hint();
    this.scale = make("div", { class: "scope-scales" });
    this.plots = make("div", { class: "scope-plots" });
    this.numbers = make("p", { class: "scope-numbers" });
    this.now = make("span", { class: "scope-cycle" });
    this.spoken = make("p", { class: "scope-spoken", "aria-live": "polite" });
    this.note = make("p", { class: "scope-note", role: "status" });
    this.about = make("p", { class: "scope-about" });
    this.deadlock = make("pre", { class: "scope-deadlock", role: "status", hidden: true });
    const when = make("div", { class: "scope-time" }, this.now, this.controls.when);
    const left = make("div", { class: "scope-main" }, this.about, make("div", { class: "scope-screen" }, this.canvas),
      this.controls.bar, when, this.settings, this.display, this.note, this.deadlock);
    const side = make("div", { class: "scope-side" }, this.panel, this.inside, this.numbers, this.plots, this.scale);
    el.replaceChildren(make("div", { class: "scope-body" }, left, side, this.spoken));
    listen_to_keys(el, command);
    this.watch = new ResizeObserver(() => this.fit());
    this.watch.observe(this.canvas);
    this.view = new NetworkView(this.canvas);
    listen_to_pointer(this.canvas, this.view, () => this.paint(), ([x, y]) => this.click(x, y));
    this.unwatch_theme = watch_theme(() => this.paint());
    this.fit();
    this.set_note();
    this.open();
    this.clock = requestAnimationFrame((time) => this.tick(time));
  }

  // Plays the recorded cycles, unless the reader prefers reduced motion. A live network does not advance by itself.
  open() {
    const { first, last } = this.recording;
    if (last - first < 2 || matchMedia("(prefers-reduced-motion: reduce)").matches) return this.show();
    this.cycle = first;
    this.play(true);
    this.opening = true; // ends at the last recorded cycle
  }

  fit() {
    if (!this.canvas.clientWidth && this.view.recording) return;
    this.view.fit(this.recording);
    this.paint();
  }

  // Shows the same cycle as the other scopes that have joined this clock, from now on. They may be other widgets, with
  // other instances of this module.
  join(clock) {
    const clocks = (globalThis.flitlab_clocks ??= new Map());
    if (!clocks.has(clock)) clocks.set(clock, []);
    (this.group = clocks.get(clock)).push(this);
    const cycle = Math.max(...this.group.map((scope) => scope.cycle)), playing = this.group.some((scope) => scope.playing);
    for (const scope of this.group) {
      if (!playing) scope.go_to(cycle);
      else if (!scope.playing) scope.open();
    }
  }

  close() {
    if (this.group) this.group.splice(this.group.indexOf(this), 1);
    cancelAnimationFrame(this.clock);
    for (const timer of [this.keeping, this.to_speak]) clearTimeout(timer);
    this.watch.disconnect();
    this.unwatch_theme();
  }

  // Commands.

  // Executes a command, also in the scopes with the same clock if it concerns time.
  command(what, value) {
    if (this.group && TIMES.test(what)) {
      const playing = !this.playing;
      for (const scope of this.group) what === "play" ? scope.play(playing) : scope.execute(what, value);
    } else this.execute(what, value);
  }

  execute(what, value) {
    const [, verb, by] = /^(step|back)(\d+)$/.exec(what) ?? [];
    if (verb) return this.move(verb === "step" ? Number(by) : -Number(by));
    const { first, last } = this.recording;
    const routers = this.recording.meta.routers, place = routers.indexOf(this.sel.router);
    const commands = {
      play: () => this.play(!this.playing),
      first: () => this.go_to(first), last: () => this.go_to(last), seek: () => this.seek(value),
      drop: () => this.visit(value),
      speed: () => { this.speed = value; this.controls.show_speed(value); },
      reset: () => { this.stop(); this.play(false); this.post ? this.request({ do: "reset" }) : this.go_to(first); },
      set: () => { this.stop(); this.opening = false; this.request({ do: "set", changes: value }); },
      run: () => (this.running ? this.stop() : this.run(value)),
      close: () => this.select({}),
      other_path: () => this.request_path(value),
      overlay: () => { this.overlay = value; this.show_legend(); this.show(); },
      colour_by: () => { this.view.colour_by = value; this.paint(); },
      next_blocked: () => this.select_blocked(),
      larger: () => this.zoom(1.3), smaller: () => this.zoom(1 / 1.3), whole: () => this.zoom(0),
      font: () => { this.el.style.setProperty("--scope-font", `${value}px`); this.fit(); },
      full_screen: () => (document.fullscreenElement ? document.exitFullscreen()
        : this.el.requestFullscreen().catch((error) => this.set_note(`No full screen: ${error.message}`))),
      next_here: () => this.select_here(),
      next_router: () => this.select({ router: routers[(place + 1) % routers.length] }),
      previous_router: () => this.select({ router: routers[(place <= 0 ? routers.length : place) - 1] }),
    };
    commands[what]();
  }

  zoom(factor) {
    this.view.zoom_by(factor);
    this.paint();
  }

  // Selects the next router with a virtual channel that waits for the cause of the overlay.
  select_blocked() {
    for (const scope of this.group ?? [this]) scope.play(false);
    const only = this.overlay === "none" ? "all" : this.overlay;
    const router = next_blocked(this.recording, this.cycle, this.sel.router, only);
    if (router === null) return this.set_note(`No flit waits in cycle ${this.cycle - 1}${only === "all" ? "" : `: ${CAUSES[only][0]}`}.`);
    this.select({ router });
    this.panel.querySelector(".scope-lost")?.scrollIntoView({ block: "nearest" });
  }

  play(on) {
    if (on) this.stop();
    this.opening = false;
    if (on && !this.live && this.cycle >= this.recording.last) this.cycle = this.recording.first;
    this.playing = on;
    if (!on) this.part = 0;
    this.controls.play.textContent = on ? "❚❚ pause" : "▶ play";
    this.controls.play.setAttribute("aria-pressed", on);
    this.show();
    if (!on) this.schedule_keep();
  }

  move(by) {
    this.play(false);
    // A click before the kernel has answered the previous click adds a step.
    this.go_to((this.target ?? this.cycle) + by);
  }

  // Shows a cycle. In a live network, a future cycle is requested from the kernel.
  go_to(cycle) {
    const { first, last } = this.recording;
    this.part = 0;
    if (cycle > last && this.post) {
      this.target = cycle;
      this.request_up_to(cycle);
    } else this.target = null;
    this.cycle = Math.min(last, Math.max(first, cycle));
    this.show();
  }

  // Shows a cycle while the slider moves. A cycle that is not recorded is shown when the slider stops (visit).
  seek(cycle) {
    const { first, last } = this.recording;
    this.dragged = cycle >= first && cycle <= last ? null : cycle;
    if (this.dragged === null) return this.go_to(cycle);
    this.play(false);
    this.now.textContent = `cycle ${cycle}`;
  }

  // Goes to any cycle of the run. If it is not recorded, a live network emulates the run again up to it: results are
  // the same in every run.
  visit(cycle) {
    const { first, last } = this.recording;
    this.dragged = null;
    if ((cycle >= first && cycle <= last) || !this.live) return this.go_to(cycle);
    this.play(false);
    this.stop();
    this.goal = cycle;
    cycle < first ? this.request({ do: "reset" }) : this.go_on_to_goal();
  }

  // Advances towards the chosen cycle, without recording up to LEAD cycles before it.
  go_on_to_goal() {
    const cycle = this.goal, rest = cycle - LEAD - this.recording.last;
    if (rest > 0) return this.run(rest);
    this.goal = null;
    this.go_to(cycle);
  }

  // Requests the frames up to a cycle that have not been requested yet.
  request_up_to(cycle) {
    const requested = Math.max(this.recording.last, this.requested ?? 0);
    if (cycle > requested) this.request({ do: "step", cycles: cycle - requested });
    this.requested = Math.max(requested, cycle);
  }

  // The menu "path with"; null: the network has none.
  get path_choice() { return this.settings.querySelector("[data-do=other_path]"); }

  reset_path_choice() {
    if (this.path_choice) this.path_choice.value = "";
  }

  // Requests the path that the selected packet would take alone, with another routing algorithm; "": shows none.
  request_path(algorithm) {
    const { way } = this;
    this.other = null;
    if (algorithm && way?.dst != null) this.send({ do: "path", algorithm, src: way.src, dst: way.dst });
    else if (algorithm) {
      this.reset_path_choice();
      this.set_note("path with: select a packet whose creation or delivery is recorded, and choose again.");
    }
    this.show();
  }

  // over: router at which the selection was made; the next one at the same place is chosen from the dots over it.
  select(sel, over = sel.router) {
    Object.assign(this, { sel, over });
    this.other = null;
    this.reset_path_choice();
    this.tree = null;
    this.el.focus({ preventScroll: true }); // the clicked element may have been removed, and the focus with it
    this.el.dataset.selected = sel.router !== undefined || sel.packet !== undefined;
    if (sel.router !== undefined && this.post) this.request({ do: "inspect", router: sel.router });
    this.show();
  }

  click(x, y) {
    const all = selections_at(this.view, [x, y], this.cycle, this.part);
    this.select(next_selection(all, this.sel), all[0]?.router);
  }

  // Selects the next packet whose dot lies over the selected router, and after the last one the router again.
  select_here() {
    if (!this.recording.place.has(this.over)) return this.set_note("D: select a router first.");
    const all = selections_over(this.view, this.over, this.cycle, this.part);
    if (all.length === 1) return this.set_note(`No dot lies over router ${this.recording.name(this.over)}.`);
    this.select(next_selection(all, this.sel), this.over);
  }

  // Advances by many cycles in parts, so that the user can stop it.
  run(cycles) {
    cycles = Math.floor(cycles);
    if (!(cycles >= 1)) return this.set_note("run on: how many cycles? Enter a number of at least 1.");
    this.play(false);
    this.running = { from: this.recording.last, to: this.recording.last + cycles };
    this.request({ do: "skip", cycles });
    this.progress();
  }

  stop() {
    this.running = this.goal = null;
    this.progress();
  }

  progress() {
    const bar = this.settings.querySelector("progress"), button = this.settings.querySelector("[data-do=run]");
    if (!bar) return;
    bar.hidden = !this.running;
    button.textContent = this.running ? "stop" : "run on";
    if (this.running) bar.value = (this.recording.last - this.running.from) / (this.running.to - this.running.from);
  }

  // Messages to and from the kernel.

  request(message) {
    if (!this.post) return;
    this.waiting = performance.now();
    this.send(message);
  }

  async send(message) {
    try {
      await this.post(message);
    } catch {
      this.mark_kernel_lost();
    }
  }

  // Switches to replay of the recorded cycles. The next answer of the kernel switches back (receive()).
  mark_kernel_lost() {
    this.waiting = this.running = null;
    this.lost = true;
    if (this.playing && this.cycle >= this.recording.last) this.cycle = this.recording.first;
    this.target = this.requested = null;
    this.progress();
    this.set_note("The kernel does not answer. The recorded cycles can still be replayed.");
  }

  get live() { return this.post && !this.lost; }

  schedule_keep() {
    clearTimeout(this.keeping);
    if (this.live) this.keeping = setTimeout(() => this.send({ do: "keep" }), 1500);
  }

  receive(message) {
    this.waiting = null;
    this.lost = false;
    if (message.error) {
      this.reset_path_choice();
      show_settings(this.settings, this.recording.meta);
      return this.set_note(message.error);
    }
    if (message.path) {
      const { algorithm, src, dst, hops } = message.path;
      if (this.way?.src !== src || this.way.dst !== dst || this.path_choice?.value !== algorithm) return; // chosen before
      this.other = hops;
      this.set_note(`Dashed: the path with ${algorithm}, alone in the network: ${counted(hops.length - 1, "channel")} between routers.`);
      return this.show();
    }
    if (message.tree) {
      this.tree = message;
      return this.show();
    }
    if (message.anew) {
      this.recording = new Recording(message.anew);
      this.shown_deadlock = null;
      // The new network may lack the selected router; its packets are others.
      if (!this.recording.place.has(this.sel.router)) this.select({});
      this.tree = null;
      this.cycle = this.recording.last;
      this.target = null;
      this.requested = this.cycle;
      this.part = 0;
      this.view.fit(this.recording);
      show_settings(this.settings, this.recording.meta);
    } else if (message.frames) {
      const next = message.frames[0]?.c;
      if (next > this.recording.last + 1) this.request({ do: "whole" }); // this view has missed frames
      if (next !== this.recording.last + 1) return; // the message has frames of an older recording
      Object.assign(this.recording.meta, { stages: message.stages, deadlock: message.deadlock, deadlocked: message.deadlocked });
      // If the last cycle is shown, follow the network, also if another caller steps it.
      const at_the_end = !this.playing && this.cycle === this.recording.last;
      this.recording.append(message.frames, this.recording.meta.window);
      if (this.target) this.cycle = Math.min(this.target, this.recording.last);
      else if (at_the_end) this.cycle = this.recording.last;
      if (message.more) { // the number of frames per answer is limited
        this.requested = this.recording.last;
        this.request_up_to(this.target);
      } else if (this.target <= this.recording.last) this.target = null;
      if (!this.playing) this.cycle = Math.max(this.cycle, this.recording.first);
    }
    if (this.running) {
      const rest = this.running.to - this.recording.last;
      rest > 0 ? this.request({ do: "skip", cycles: rest }) : (this.running = null);
      this.progress();
    }
    if (this.goal != null && !this.running) this.go_on_to_goal();
    this.set_note();
    this.show();
    this.schedule_keep();
  }

  // Display.

  tick(time) {
    const passed = Math.min(0.25, (time - (this.before ?? time)) / 1000);
    this.before = time;
    if (this.waiting && performance.now() - this.waiting > PATIENCE) this.mark_kernel_lost();
    this.clock = requestAnimationFrame((next) => this.tick(next));
    if (this.playing && (!this.group || this.group[0] === this)) this.advance(passed, time);
  }

  // Plays on by `passed` seconds, together with the scopes that have the same clock: none runs ahead of the others.
  advance(passed, time) {
    const all = this.group ?? [this], first = Math.max(...all.map((s) => s.recording.first));
    const last = Math.min(...all.map((s) => s.recording.last));
    if (first > last) return all.forEach((s) => (s.play(false), s.set_note("The networks have no recorded cycle in common.")));
    let place = Math.max(first, this.cycle + this.part + passed * this.speed);
    for (const scope of all) scope.record_ahead(place);
    if (place >= last) {
      place = last;
      if (all.some((s) => !s.live || s.opening)) all.forEach((s) => s.play(false));
    }
    for (const scope of all) scope.show_place(place, time);
  }

  // Requests frames after `place`, but not so many that they push the shown frame out of the window.
  record_ahead(place) {
    const { last, meta } = this.recording, most = Math.min(100, Math.floor(meta.window / 2));
    const wanted = Math.min(most, Math.ceil(this.speed * AHEAD) + 1);
    if (this.live && !this.opening && !this.waiting && last - place < wanted) this.request_up_to(last + wanted);
  }

  // Shows a cycle and a part of the next one.
  show_place(place, time) {
    const cycle = Math.floor(place);
    this.part = this.playing ? place - cycle : 0;
    if (cycle !== this.cycle) {
      this.cycle = cycle;
      this.show(time);
    } else this.paint();
  }

  paint() {
    this.view.draw(this.cycle, this.part, { ...this.sel, way: this.way, deadlock: this.stuck, is_wait: this.is_wait,
      overlay: this.overlay, other: this.other });
  }

  // Updates the display for the shown cycle. While it plays, panels and plots are updated about eight times a second.
  show(time = null) {
    const { recording, cycle } = this;
    this.el.dataset.cycle = cycle;
    Object.assign(this.el.dataset, { first: recording.first, last: recording.last });
    this.show_deadlock();
    this.el.dataset.playing = this.playing;
    this.now.textContent = `cycle ${cycle}`;
    this.furthest = Math.max(this.furthest ?? 0, recording.last);
    // The slider covers the whole run of a live network, else the recording.
    Object.assign(this.controls.when, this.live ? { min: 0, max: this.furthest } : { min: recording.first, max: recording.last });
    this.controls.when.value = this.dragged ?? cycle;
    if (time === null || time - (this.drawn ?? 0) > 120) {
      this.drawn = time ?? performance.now();
      this.show_details();
    }
    this.paint();
  }

  show_details() {
    const { recording, cycle, sel } = this, follow = (packet) => this.select({ packet });
    const choose = (router) => this.select({ router });
    this.el.dataset.detailed = cycle;
    this.way = sel.packet ? journey(recording, sel.packet.src, sel.packet.id) : null;
    if (this.way) draw_packet(this.panel, recording, this.way, cycle, { choose, follow });
    else if (sel.router !== undefined) draw_router(this.panel, recording, sel.router, cycle, follow, this.words());
    else this.panel.replaceChildren(this.hint);
    const recorded = sel.router === undefined ? null : recording.tree(sel.router, cycle);
    const tree = recorded ?? (this.tree?.router === sel.router && this.tree?.cycle === cycle ? this.tree.tree : null);
    if (!this.inside.contains(document.activeElement)) draw_tree(this.inside, this.way ? null : tree, cycle);
    draw_plots(this.plots, recording, cycle);
    this.numbers.textContent = numbers_of_recorded(recording, cycle);
    this.speak(`cycle ${cycle}: ${this.numbers.textContent}`);
  }

  // Gives a text to screen readers, at most once a second.
  speak(text) {
    clearTimeout(this.to_speak);
    const wait = 1000 - (performance.now() - (this.spoke ?? -1000));
    const now = () => { this.spoke = performance.now(); this.spoken.textContent = text; };
    wait > 0 ? (this.to_speak = setTimeout(now, wait)) : now();
  }

  show_legend() {
    this.scale.replaceChildren(make_legend(this.recording, this.overlay));
  }

  // Returns the names and notes of the shown router's ports and VCs: recorded, or from the kernel's answer.
  words() {
    const { recording, cycle, sel, tree } = this;
    return recording.words(sel.router, cycle) ?? (tree?.router === sel.router && tree.cycle === cycle ? tree.words : null);
  }

  set_note(text = "") {
    const { meta } = this.recording;
    this.show_legend();
    this.about.textContent = `${meta.about}; seed ${meta.seed}; drawn as ${meta.layout}`;
    this.note.replaceChildren(...[meta.note, this.post ? "" : "This is a replay of recorded cycles; no network is running.", text]
      .filter((t) => t).map((t) => make("span", {}, t, " ")));
    this.show_deadlock();
  }

  // Shows the description of a deadlock from the cycle on in which it was found.
  show_deadlock() {
    const { meta } = this.recording, deadlock = this.cycle >= meta.deadlocked ? meta.deadlock : "";
    if (this.shown_deadlock === deadlock) return;
    this.shown_deadlock = deadlock;
    this.stuck = deadlock ? routers_in(deadlock, meta) : null;
    this.is_wait = waits_in(deadlock, this.recording);
    // Pauses when play reaches the deadlock; pressing play again continues.
    if (deadlock && this.playing) for (const scope of this.group ?? [this]) scope.play(false);
    this.deadlock.textContent = deadlock;
    this.deadlock.hidden = !deadlock;
  }
}

// Calls act() when the theme changes: the system's, or the notebook's. Returns a function that ends this.
function watch_theme(act) {
  const dark = matchMedia("(prefers-color-scheme: dark)"), seen = new MutationObserver(act);
  dark.addEventListener("change", act);
  for (const root of [document.documentElement, document.body])
    seen.observe(root, { attributes: true, attributeFilter: ["data-jp-theme-light", "class", "theme", "data-theme"] });
  return () => {
    dark.removeEventListener("change", act);
    seen.disconnect();
  };
}
