// The scope: display, messages to the kernel, and the user's commands. `post` sends a message to the kernel; it is null
// in a saved page and in a notebook without a kernel. The kernel is Python, or the worker of a page (bindings/page).

const AHEAD = 0.7; // seconds of frames that are recorded ahead of the shown cycle while the network plays
const PATIENCE = 8000; // milliseconds without an answer until the kernel counts as lost

class Scope {
  constructor(el, recording, post) {
    Object.assign(this, { el, post, recording, cycle: recording.last, part: 0, speed: 5, playing: false, sel: {}, tree: null });
    el.classList.add("flitlab-scope");
    el.tabIndex = 0;
    el.dataset.lmSuppressShortcuts = "true"; // disables JupyterLab's shortcuts
    const command = (what, value) => this.command(what, value);
    this.controls = make_controls(command, !!post);
    this.settings = post ? make_settings(recording.meta, command) : make("div");
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
    listen_to_keys(el, command);
    this.watch = new ResizeObserver(() => this.fit());
    this.watch.observe(this.canvas);
    this.view = new NetworkView(this.canvas);
    this.fit();
    this.set_note();
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

  // Commands.

  command(what, value) {
    const [, verb, by] = /^(step|back)(\d+)$/.exec(what) ?? [];
    if (verb) return this.move(verb === "step" ? Number(by) : -Number(by));
    const { first, last } = this.recording;
    const routers = this.recording.meta.routers, place = routers.indexOf(this.sel.router);
    const commands = {
      play: () => this.play(!this.playing),
      first: () => this.go_to(first), last: () => this.go_to(last), seek: () => this.go_to(value),
      speed: () => (this.speed = value),
      reset: () => { this.stop(); this.play(false); this.post ? this.request({ do: "reset" }) : this.go_to(first); },
      set: () => { this.stop(); this.play(false); this.request({ do: "set", changes: value }); },
      run: () => (this.running ? this.stop() : this.run(value)),
      close: () => this.select({}),
      next_router: () => this.select({ router: routers[(place + 1) % routers.length] }),
      previous_router: () => this.select({ router: routers[(place <= 0 ? routers.length : place) - 1] }),
    };
    commands[what]();
  }

  play(on) {
    if (on) this.stop();
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

  // Requests the frames up to a cycle that have not been requested yet.
  request_up_to(cycle) {
    const requested = Math.max(this.recording.last, this.requested ?? 0);
    if (cycle > requested) this.request({ do: "step", cycles: cycle - requested });
    this.requested = Math.max(requested, cycle);
  }

  select(sel) {
    this.sel = sel;
    this.tree = null;
    this.el.focus({ preventScroll: true }); // the clicked element may have been removed, and the focus with it
    if (sel.router !== undefined && this.post) this.request({ do: "inspect", router: sel.router });
    this.show();
  }

  click(event) {
    const box = this.canvas.getBoundingClientRect();
    const found = this.view.hit(event.clientX - box.left, event.clientY - box.top, this.cycle, this.part);
    this.select(found);
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
      show_settings(this.settings, this.recording.meta);
      return this.set_note(message.error);
    }
    if (message.tree) {
      this.tree = message;
      return this.show();
    }
    if (message.anew) {
      this.recording = new Recording(message.anew);
      this.shown_deadlock = null;
      this.cycle = this.recording.last;
      this.target = null;
      this.requested = this.cycle;
      this.part = 0;
      this.view.fit(this.recording);
      show_settings(this.settings, this.recording.meta);
    } else if (message.frames) {
      if (message.frames[0]?.c !== this.recording.last + 1) return; // the message has frames of an older recording
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
    this.set_note();
    this.show();
    this.schedule_keep();
  }

  // Display.

  tick(time) {
    const passed = Math.min(0.25, (time - (this.before ?? time)) / 1000);
    this.before = time;
    const { last, first } = this.recording;
    if (this.waiting && performance.now() - this.waiting > PATIENCE) this.mark_kernel_lost();
    if (this.playing) {
      let place = Math.max(first, this.cycle + this.part + passed * this.speed);
      // Limit of the frames recorded ahead, so that they do not push the shown frame out of the window.
      const most = Math.min(100, Math.floor(this.recording.meta.window / 2));
      const wanted = Math.min(most, Math.ceil(this.speed * AHEAD) + 1);
      if (this.live && !this.waiting && last - place < wanted) this.request_up_to(last + wanted);
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

  // Updates the display for the shown cycle. While it plays, panels and plots are updated about eight times a second.
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
      "arbitration, or a flit to follow its packet. Keys: Space plays and pauses, ← and → step, N and P (or . and , or ] and [) select the next " +
      "and the previous router, Escape clears the selection."));
    const recorded = sel.router === undefined ? null : recording.tree(sel.router, cycle);
    const tree = recorded ?? (this.tree?.router === sel.router && this.tree?.cycle === cycle ? this.tree.tree : null);
    if (!this.inside.contains(document.activeElement)) draw_tree(this.inside, this.way ? null : tree, cycle);
    draw_plots(this.plots, recording, cycle);
  }

  // Returns the names and notes of the shown router's ports and VCs: recorded, or from the kernel's answer.
  words() {
    const { recording, cycle, sel, tree } = this;
    return recording.words(sel.router, cycle) ?? (tree?.router === sel.router && tree.cycle === cycle ? tree.words : null);
  }

  set_note(text = "") {
    const { meta } = this.recording;
    this.scale.textContent = scales(meta);
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
    this.deadlock.textContent = deadlock;
    this.deadlock.hidden = !deadlock;
  }
}

// Returns the routers that a description of a deadlock names.
function routers_in(text, meta) {
  return new Set(meta.routers.filter((r, i) => text.includes(` ${meta.names[i]} `)));
}

// Hides the replay in the cell's output while the widget runs. Returns a function that shows it again.
function hide_replay(name) {
  if (!name) return () => {};
  const style = make("style", {}, `.flitlab-replay-${name} { display: none; }`);
  document.head.append(style);
  return () => style.remove();
}

// anywidget calls this for each view of the widget.
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
