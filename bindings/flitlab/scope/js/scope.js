// The scope: what is shown, what is asked of Python, and what the user wishes. `source` is { recording, ask }: ask sends a
// message to the kernel, and is null for a page and for a notebook without one.

const AHEAD = 0.7; // seconds of frames that a network that plays keeps recorded ahead of what is shown
const PATIENCE = 8000; // milliseconds without an answer, after which the kernel counts as gone

class Scope {
  constructor(el, recording, ask) {
    Object.assign(this, { el, ask, recording, cycle: recording.last, part: 0, speed: 5, playing: false, sel: {}, tree: null });
    el.classList.add("flitlab-scope");
    el.tabIndex = 0;
    el.dataset.lmSuppressShortcuts = "true"; // JupyterLab's own keys
    const wish = (what, value) => this.wish(what, value);
    this.controls = make_controls(wish, !!ask);
    this.settings = ask ? make_settings(recording.meta, wish) : make("div");
    this.canvas = make("canvas", { class: "scope-network", role: "img", "aria-label": "the network; click a router or a flit" });
    this.canvas.addEventListener("click", (event) => this.click(event));
    this.panel = make("section", { class: "scope-panel", "aria-live": "off" });
    this.inside = make("section", { class: "scope-tree" });
    this.scale = make("p", { class: "scope-scale" });
    this.plots = make("div", { class: "scope-plots" });
    this.now = make("span", { class: "scope-cycle", "aria-live": "polite" });
    this.note = make("p", { class: "scope-note", role: "status" });
    this.about = make("p", { class: "scope-about" });
    this.deadlock = make("pre", { class: "scope-deadlock", role: "status", hidden: true });
    const when = make("div", { class: "scope-time" }, this.now, this.controls.when);
    el.replaceChildren(this.about, this.controls.bar, when, this.settings, this.note, this.deadlock,
      make("div", { class: "scope-body" }, make("div", {}, this.canvas, this.scale, this.plots), make("div", {}, this.panel, this.inside)));
    listen_to_keys(el, wish);
    this.watch = new ResizeObserver(() => this.fit());
    this.watch.observe(this.canvas);
    this.view = new NetworkView(this.canvas);
    this.fit();
    this.say();
    this.show();
    this.clock = requestAnimationFrame((time) => this.tick(time));
  }

  fit() {
    if (!this.canvas.clientWidth && this.view.recording) return;
    this.view.fit(this.recording);
    this.paint();
  }

  close() {
    cancelAnimationFrame(this.clock);
    this.watch.disconnect();
  }

  // What is wished.

  wish(what, value) {
    const [, verb, by] = /^(step|back)(\d+)$/.exec(what) ?? [];
    if (verb) return this.move(verb === "step" ? Number(by) : -Number(by));
    const { first, last } = this.recording;
    const routers = this.recording.meta.routers, place = routers.indexOf(this.sel.router);
    const wishes = {
      play: () => this.play(!this.playing),
      first: () => this.go_to(first), last: () => this.go_to(last), seek: () => this.go_to(value),
      speed: () => (this.speed = value),
      reset: () => { this.stop(); this.play(false); this.ask ? this.request({ do: "reset" }) : this.go_to(first); },
      set: () => { this.stop(); this.play(false); this.request({ do: "set", changes: value }); },
      run: () => (this.running ? this.stop() : this.run(value)),
      close: () => this.select({}),
      next_router: () => this.select({ router: routers[(place + 1) % routers.length] }),
      previous_router: () => this.select({ router: routers[(place <= 0 ? routers.length : place) - 1] }),
    };
    wishes[what]();
  }

  play(on) {
    if (on) this.stop();
    if (on && !this.live && this.cycle >= this.recording.last) this.cycle = this.recording.first;
    this.playing = on;
    if (!on) this.part = 0;
    this.controls.play.textContent = on ? "❚❚ pause" : "▶ play";
    this.controls.play.setAttribute("aria-pressed", on);
    this.show();
    if (!on) this.keep_soon();
  }

  move(by) {
    this.play(false);
    this.go_to((this.target ?? this.cycle) + by); // a second click before the answer to the first is one more step
  }

  // Shows a cycle; of a live network one that has not been yet is asked for.
  go_to(cycle) {
    const { first, last } = this.recording;
    this.part = 0;
    if (cycle > last && this.ask) {
      this.target = cycle;
      this.ask_up_to(cycle);
    } else this.target = null;
    this.cycle = Math.min(last, Math.max(first, cycle));
    this.show();
  }

  // Frames up to a cycle, but for those that have been asked for already.
  ask_up_to(cycle) {
    const asked = Math.max(this.recording.last, this.asked ?? 0);
    if (cycle > asked) this.request({ do: "step", cycles: cycle - asked });
    this.asked = Math.max(asked, cycle);
  }

  select(sel) {
    this.sel = sel;
    this.tree = null;
    this.el.focus({ preventScroll: true }); // what was clicked may be gone, and keys with it
    if (sel.router !== undefined && this.ask) this.request({ do: "inspect", router: sel.router });
    this.show();
  }

  click(event) {
    const box = this.canvas.getBoundingClientRect();
    const found = this.view.hit(event.clientX - box.left, event.clientY - box.top, this.cycle, this.part);
    this.select(found);
  }

  // A million cycles, in parts, so that they can be stopped.
  run(cycles) {
    cycles = Math.floor(cycles);
    if (!(cycles >= 1)) return this.say("run on: how many cycles? It must be a number from 1.");
    this.play(false);
    this.running = { from: this.recording.last, to: this.recording.last + cycles };
    this.request({ do: "skip", cycles });
    this.progress();
  }

  stop() {
    this.running = null;
    this.progress();
  }

  progress() {
    const bar = this.settings.querySelector("progress"), button = this.settings.querySelector("[data-do=run]");
    if (!bar) return;
    bar.hidden = !this.running;
    button.textContent = this.running ? "stop" : "run on";
    if (this.running) bar.value = (this.recording.last - this.running.from) / (this.running.to - this.running.from);
  }

  // The kernel.

  request(message) {
    if (!this.ask) return;
    this.waiting = performance.now();
    this.send(message);
  }

  async send(message) {
    try {
      await this.ask(message);
    } catch {
      this.lose_kernel();
    }
  }

  // Without a kernel what is recorded goes on to replay. One that was only busy is heard again when it answers.
  lose_kernel() {
    this.waiting = this.running = null;
    this.lost = true;
    if (this.playing && this.cycle >= this.recording.last) this.cycle = this.recording.first;
    this.target = this.asked = null;
    this.progress();
    this.say("The kernel does not answer. What is recorded can still be replayed.");
  }

  get live() { return this.ask && !this.lost; }

  keep_soon() {
    clearTimeout(this.keeping);
    if (this.live) this.keeping = setTimeout(() => this.send({ do: "keep" }), 1500);
  }

  receive(message) {
    this.waiting = null;
    this.lost = false;
    if (message.error) {
      show_settings(this.settings, this.recording.meta);
      return this.say(message.error);
    }
    if (message.tree) {
      this.tree = message;
      return this.show();
    }
    if (message.anew) {
      this.recording = new Recording(message.anew);
      this.told_deadlock = null;
      this.cycle = this.recording.last;
      this.target = null;
      this.asked = this.cycle;
      this.part = 0;
      this.view.fit(this.recording);
      show_settings(this.settings, this.recording.meta);
    } else if (message.frames) {
      if (message.frames[0]?.c !== this.recording.last + 1) return; // of a recording that is gone
      Object.assign(this.recording.meta, { stages: message.stages, deadlock: message.deadlock, deadlocked: message.deadlocked });
      const at_the_end = !this.playing && this.cycle === this.recording.last; // whoever steps the network, it is followed
      this.recording.append(message.frames, this.recording.meta.window);
      if (this.target) this.cycle = Math.min(this.target, this.recording.last);
      else if (at_the_end) this.cycle = this.recording.last;
      if (message.more) { // an answer has so many frames at most
        this.asked = this.recording.last;
        this.ask_up_to(this.target);
      } else if (this.target <= this.recording.last) this.target = null;
      if (!this.playing) this.cycle = Math.max(this.cycle, this.recording.first);
    }
    if (this.running) {
      const rest = this.running.to - this.recording.last;
      rest > 0 ? this.request({ do: "skip", cycles: rest }) : (this.running = null);
      this.progress();
    }
    this.say();
    this.show();
    this.keep_soon();
  }

  // What is shown.

  tick(time) {
    const passed = Math.min(0.25, (time - (this.before ?? time)) / 1000);
    this.before = time;
    const { last, first } = this.recording;
    if (this.waiting && performance.now() - this.waiting > PATIENCE) this.lose_kernel();
    if (this.playing) {
      let place = Math.max(first, this.cycle + this.part + passed * this.speed);
      const most = Math.min(100, Math.floor(this.recording.meta.window / 2)); // what is ahead must not push out what is shown
      const wanted = Math.min(most, Math.ceil(this.speed * AHEAD) + 1);
      if (this.live && !this.waiting && last - place < wanted) this.ask_up_to(last + wanted);
      if (place >= last) {
        place = last;
        if (!this.live) this.play(false);
      }
      const cycle = Math.floor(place);
      this.part = place - cycle;
      if (cycle !== this.cycle) {
        this.cycle = cycle;
        this.show(time);
      } else this.paint();
    }
    this.clock = requestAnimationFrame((next) => this.tick(next));
  }

  paint() {
    this.view.draw(this.cycle, this.part, { ...this.sel, way: this.way, deadlock: this.stuck });
  }

  // Everything for the shown cycle. While it plays, pictures beside the network follow a few times a second.
  show(time = null) {
    const { recording, cycle } = this;
    this.el.dataset.cycle = cycle;
    this.el.dataset.last = recording.last;
    this.show_deadlock();
    this.el.dataset.playing = this.playing;
    this.now.textContent = `cycle ${cycle}`;
    Object.assign(this.controls.when, { min: recording.first, max: recording.last, value: cycle });
    if (time === null || time - (this.drawn ?? 0) > 120) {
      this.drawn = time ?? performance.now();
      this.show_details();
    }
    this.paint();
  }

  show_details() {
    const { recording, cycle, sel } = this, follow = (packet) => this.select({ packet });
    this.el.dataset.detailed = cycle;
    this.way = sel.packet ? journey(recording, sel.packet.src, sel.packet.id) : null;
    if (this.way) draw_packet(this.panel, recording, this.way, cycle, (router) => this.select({ router }));
    else if (sel.router !== undefined) draw_router(this.panel, recording, sel.router, cycle, follow, this.words());
    else this.panel.replaceChildren(make("p", { class: "scope-hint" }, "Click a router to see its ports, buffers and " +
      "arbitrations, or a flit to follow its packet. Keys: Space plays, ← and → step, N and P (or . and , or ] and [) choose the next router and " +
      "the one before, Escape closes."));
    const recorded = sel.router === undefined ? null : recording.tree(sel.router, cycle);
    const tree = recorded ?? (this.tree?.router === sel.router && this.tree?.cycle === cycle ? this.tree.tree : null);
    if (!this.inside.contains(document.activeElement)) draw_tree(this.inside, this.way ? null : tree, cycle);
    draw_plots(this.plots, recording, cycle);
  }

  // The machine's own, of the router that is shown: recorded, or as a kernel has told them.
  words() {
    const { recording, cycle, sel, tree } = this;
    return recording.words(sel.router, cycle) ?? (tree?.router === sel.router && tree.cycle === cycle ? tree.words : null);
  }

  say(text = "") {
    const { meta } = this.recording;
    this.scale.textContent = scales(meta);
    this.about.textContent = `${meta.about}; seed ${meta.seed}; drawn as ${meta.layout}`;
    this.note.replaceChildren(...[meta.note, this.ask ? "" : "A replay: nothing runs behind it.", text]
      .filter((t) => t).map((t) => make("span", {}, t, " ")));
    this.show_deadlock();
  }

  // From the cycle on in which it was found.
  show_deadlock() {
    const { meta } = this.recording, deadlock = this.cycle >= meta.deadlocked ? meta.deadlock : "";
    if (this.told_deadlock === deadlock) return;
    this.told_deadlock = deadlock;
    this.stuck = deadlock ? routers_in(deadlock, meta) : null;
    this.deadlock.textContent = deadlock;
    this.deadlock.hidden = !deadlock;
  }
}

// Routers that a description of a deadlock names.
function routers_in(text, meta) {
  return new Set(meta.routers.filter((r, i) => text.includes(` ${meta.names[i]} `)));
}

// Where a widget runs, the replay that its output keeps beside it is of no use.
function hide_replay(name) {
  if (!name) return () => {};
  const style = make("style", {}, `.flitlab-replay-${name} { display: none; }`);
  document.head.append(style);
  return () => style.remove();
}

// anywidget calls this for each place in which the widget is shown.
async function render({ model, el }) {
  const place = make("div");
  el.append(place);
  const scope = new Scope(place, new Recording(await unpack(model.get("recording"))), (message) => model.send(message));
  const receive = (message) => scope.receive(message.json ? JSON.parse(message.json) : message); // or { error }
  model.on("msg:custom", receive);
  const show_replay = hide_replay(model.get("replay"));
  return () => {
    model.off("msg:custom", receive);
    scope.close();
    show_replay();
  };
}

// A saved page calls this.
async function show_page(el, text) {
  return new Scope(el, new Recording(await unpack(text)), null);
}

export default { render };
export { show_page };
