// The page: choice of a network, sliders, its configuration as text, links, the scope, and curves. The core runs in
// workers, which are started from texts in this page, so that the page also works from disk.

async function start_page(page) {
  const text = (id) => document.getElementById(id).textContent, status = page.querySelector(".page-status");
  try {
    page.classList.toggle("embedded", is_embedded());
    if (is_embedded()) await in_view(page); // a chapter has many frames
    const configs = JSON.parse(text("configs")), module = await WebAssembly.compile(await unpacked_bytes(text("core-wasm")));
    const source = URL.createObjectURL(new Blob([text("core"), "\n", text("worker"), "\nserve(flitlab_core);"], { type: "text/javascript" }));
    const worker = () => {
      const made = new Worker(source);
      made.postMessage({ module });
      return made;
    };
    const made = new Page(page, { configs, book: JSON.parse(text("book")) }, worker);
    await made.open_first();
    return made;
  } catch (error) {
    status.textContent = `This page cannot start in this browser: ${error.message}. It needs a browser of 2023 or later, with WebAssembly and workers.`;
    throw error;
  }
}

async function unpacked_bytes(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

// Returns whether the page is in a frame of the documentation, where it keeps nothing over a reload.
function is_embedded() {
  return new URLSearchParams(location.search).has("embed");
}

// Returns a promise that is kept when a part of an element is on the screen, also if it is in a frame.
function in_view(el) {
  return new Promise((done) => {
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watch.disconnect();
      done();
    });
    watch.observe(el);
  });
}

const OF_FIGURE = "of the figure"; // entry of the network menu while a figure is shown

class Page {
  constructor(page, { configs, book }, worker) {
    Object.assign(this, { page, configs, worker, scope: null, version: "" });
    this.status = page.querySelector(".page-status");
    for (const name of ["hash", "text", "linked", "link"]) this[name] = this.part(name);
    const choice = (this.choice = this.part("network"));
    for (const { name } of configs) choice.append(make("option", { value: name }, name));
    choice.append(...[OWN, OF_FIGURE].map((name) => make("option", { value: name, hidden: true }, name)));
    choice.addEventListener("change", () => this.choose(choice.value));
    this.part("apply").addEventListener("click", () => this.apply());
    this.part("share").addEventListener("click", () => this.share());
    this.part("save").addEventListener("click", () => save_configuration(this.given));
    this.sliders = new Sliders(this.part("sliders"), (path, value) => this.slide(path, value));
    this.curves = new Curves(this.part("curves"), { given: () => this.given, worker, configs, version: () => this.version, changed: () => this.keep() });
    this.book = new Book(page, book, { open: (name) => this.open_link(`#figure=${name}`), draw: () => this.draw_figure(), worker });
    window.addEventListener("hashchange", () => is_link(location.hash) && this.open_link(location.hash));
    // A link that is in the address already causes no hashchange.
    page.addEventListener("click", (event) => {
      const to = event.target.closest("a")?.getAttribute("href");
      if (to && is_link(to) && to === location.hash) this.open_link(to);
    });
  }

  part(name) {
    return this.page.querySelector(`[data-page=${name}]`);
  }

  // Networks.

  // Shows the network of a link, the one before the reload, or the first one.
  async open_first() {
    const { curves, flitlab } = is_embedded() ? {} : read_kept();
    if (curves) this.curves.restore(curves);
    if (is_link(location.hash)) await this.open_link(location.hash);
    else await this.show_kept();
    if (!curves || flitlab === this.version) return;
    this.curves.restore({ inputs: curves.inputs }); // another version's results may differ
    this.keep();
  }

  // Shows the network before the reload, or the first one.
  async show_kept() {
    const { given } = is_embedded() ? {} : read_kept();
    if (!given || !(await this.show(given))) await this.choose(this.configs[0].name);
  }

  // Shows a network that the user has chosen, also a changed one.
  async choose(name) {
    const { config, texts } = this.configs.find((c) => c.name === name);
    return this.show({ name, config, texts });
  }

  // Builds the network of the configuration in the text.
  apply() {
    try {
      const config = read_toml(this.text.value), same = this.configs.find((c) => alike(c.config, config));
      if (same) this.choose(same.name);
      else this.show({ ...this.given, name: alike(this.given.config, config) ? this.given.name : OWN, config });
    } catch (error) {
      this.set_status(error.message);
    }
  }

  // Builds a network in a new worker and shows it. If it cannot be built, the old network stays. Returns whether it is
  // shown.
  async show(given) {
    try {
      const playing = this.scope ? this.scope.playing : !matchMedia("(prefers-reduced-motion: reduce)").matches;
      const begun = await this.build(given, {});
      if (!begun) return false;
      this.book.show(null);
      this.curves.keep_figure(null);
      this.forget_link();
      this.began(begun);
      if (playing) this.scope.play(true);
      this.keep();
      return true;
    } catch (error) {
      if (this.given) this.choice.value = this.book.figure ? OF_FIGURE : this.given.name;
      this.set_status(error.message);
      return false;
    }
  }

  // Returns the answer of a new worker, which replaces the old one; null if the user has chosen another network before
  // it was ready.
  async build(given, { cycle = 0, router }) {
    this.building?.terminate();
    const kernel = (this.building = this.worker());
    this.clear_hash();
    this.set_status("building the network");
    try {
      const progress = (now) => this.set_status(`running to cycle ${cycle} of the link: cycle ${now}`);
      const begun = await network_at(kernel, given, { cycle, router, progress });
      if (kernel !== this.building) return null;
      this.kernel?.terminate();
      this.kernel = kernel;
      kernel.onmessage = ({ data }) => this.receive(data);
      kernel.onerror = (event) => this.set_status(`The emulator has stopped: ${event.message}. Reload the page.`);
      this.building = null;
      this.version = this.part("version").textContent = kernel.version;
      return { ...begun, chosen: true };
    } catch (error) {
      if (kernel !== this.building) return null;
      kernel.terminate();
      this.building = null;
      if (this.kernel) this.request_hash();
      throw error;
    }
  }

  slide(path, value) {
    this.go_on = this.scope.playing; // the changed network plays, too
    this.scope.command("set", { [path]: value });
  }

  // Links.

  // Shows the network of a link, in its cycle, and compares the state hash. If the link is wrong, a message appears, and
  // the shown network stays.
  async open_link(fragment) {
    try {
      const link = await read_link(fragment, this.configs, (name) => this.book.find(name)), begun = await this.build(link.given, link);
      if (!begun) return;
      this.show_link("");
      this.book.show(link.figure, link.figure_given);
      this.curves.keep_figure(link.figure?.name);
      if (location.hash !== fragment) this.set_address(fragment);
      this.began(begun);
      this.scope.play(false);
      this.scope.go_to(link.cycle);
      if (link.overlay) this.choose_overlay(link.overlay);
      if (this.scope.recording.meta.routers.includes(link.router)) this.scope.select({ router: link.router });
      else if (link.router !== undefined) this.set_status(`router=${link.router}: the page does not draw this router.`);
      this.compare(link, begun.hash);
    } catch (error) {
      this.book.reset_choice();
      if (this.given) this.forget_link();
      else await this.show_kept();
      this.set_status(`This link cannot be opened. ${error.message}`);
    }
  }

  // Draws the curves of the shown figure of the textbook.
  draw_figure() {
    const { figure, given: { name, config, texts }, base } = this.book, { curves = { "": {} }, loads, panel } = figure;
    this.curves.draw_all(Object.entries(curves).map(([label, changes]) =>
      ({ name, texts, loads, label, figure: base, config: changed_config(config, changes) })), panel);
    this.part("curves").scrollIntoView({ block: "nearest" });
  }

  // Overlays that this version does not have are ignored.
  choose_overlay(name) {
    const choice = this.scope.display.querySelector("[data-do=overlay]");
    if (![...choice.options].some(({ value }) => value === name)) return;
    choice.value = name;
    this.scope.command("overlay", name);
  }

  // Shows whether the state of a link is the state that this page has computed.
  compare(link, hash) {
    if (!link.hash) return;
    const same = hash === link.hash, versions = !link.flitlab || link.flitlab === this.version ? "" :
      ` The link is of flitlab ${link.flitlab}, this page of ${this.version}.`;
    this.linked.dataset.same = same;
    this.linked.textContent = same ? `Same state as linked: 0x${hash}, cycle ${link.cycle}.` :
      `Differs: the link has state 0x${link.hash} in cycle ${link.cycle}, this page computes 0x${hash}.${versions}`;
  }

  // Makes a link to the shown cycle, copies it, and shows it as text and in the address of the page.
  async share() {
    const { given, scope, configs } = this;
    scope.play(false);
    const cycle = scope.cycle, progress = (now) => this.set_status(`computing the state of cycle ${cycle}: cycle ${now}`);
    try {
      const known = Number(this.hash.dataset.cycle) === cycle ? this.hash.dataset.hash : await hash_at(this.worker, given, cycle, progress);
      const coded = await coded_texts(given, configs);
      if (given !== this.given) return; // the user has chosen another network
      const where = { cycle, router: scope.sel.router, overlay: scope.overlay === "none" ? undefined : scope.overlay, hash: known, flitlab: this.version };
      const fragment = link_to(given, coded, where, configs, this.book.base);
      if (fragment.length > LONGEST_LINK)
        throw new Error(`the link would have ${fragment.length} characters; a link has at most ${LONGEST_LINK}. Save the configuration instead.`);
      const address = location.href.split("#")[0] + fragment;
      this.set_address(fragment);
      this.show_link(address);
      this.set_status((await copied(address)) ? "The link is copied." : "Copy this link:");
    } catch (error) {
      this.set_status(error.message);
    }
  }

  show_link(address) {
    this.link.hidden = !address;
    this.link.value = address;
    this.linked.textContent = "";
    delete this.linked.dataset.same;
    if (address) this.link.select();
  }

  // Removes a link from the address, because the page shows another network. A figure stays in the address.
  forget_link() {
    this.show_link("");
    const { figure } = this.book;
    if (figure) this.set_address(`#figure=${figure.name}`);
    else if (is_link(location.hash)) this.set_address(location.href.split("#")[0]);
  }

  set_address(url) {
    try {
      history.replaceState(null, "", url);
    } catch {
      // some browsers do not permit it for files
    }
  }

  // Messages to and from the worker.

  // Passes a message of the scope to the worker.
  post(message) {
    if (message.do === "path") return this.show_path(message);
    if (message.do !== "keep") this.clear_hash();
    this.kernel.postMessage(message);
  }

  // Shows the path of a packet with another routing algorithm.
  async show_path({ algorithm, src, dst }) {
    const { scope, given } = this, { terminals } = scope.recording.meta;
    try {
      scope.receive({ path: { algorithm, src, dst, hops: await lone_path(this.worker, given, { algorithm, src, dst, terminals }) } });
    } catch (error) {
      scope.receive({ error: error.message });
    }
  }

  receive(data) {
    if (data.hash) return this.show_hash(data);
    this.request_hash();
    if (data.given) this.changed(data);
    else if (data.error) {
      this.scope.receive(data);
      this.sliders.show(this.settings); // the values that the network still has
      this.play_on();
    } else this.scope.receive(data);
  }

  // Shows a network after a change of one setting: the scope stays, with its selection, if its controls fit.
  changed(data) {
    this.forget_link();
    this.began(data);
    this.play_on();
    this.keep();
  }

  play_on() {
    if (this.go_on) this.scope.play(true);
    this.go_on = false;
  }

  // Shows a new network. If the user chose it, or if its set of controls differs, it gets a new scope.
  began(data) {
    const { meta } = data.anew, names = Object.keys(meta.settings).join();
    const stays = this.scope && !data.chosen && names === Object.keys(this.settings).join();
    this.given = data.given;
    this.settings = meta.settings;
    this.choice.value = this.book.figure ? OF_FIGURE : this.given.name;
    this.part("about").textContent = this.configs.find((c) => c.name === this.given.name)?.about ?? "The configuration below.";
    this.text.value = toml_text(this.given.config);
    this.set_status("");
    this.book.show_picture(this.given);
    this.sliders.show(meta.settings);
    // The sliders of the page replace the scope's controls of the same parameters.
    meta.settings = Object.fromEntries(Object.entries(meta.settings).filter(([path]) => !(path in SLIDERS)));
    if (stays) return this.scope.receive(data);
    this.scope?.close();
    const place = make("div");
    this.part("scope").replaceChildren(place);
    this.scope = new Scope(place, new Recording(data.anew), (message) => this.post(message));
    this.part("settings").replaceChildren(this.scope.settings, this.scope.display);
    this.request_hash();
  }

  keep() {
    if (this.given && !is_embedded()) keep({ flitlab: this.version, given: this.given, curves: this.curves.kept() });
  }

  // Requests the hash after 150 ms without messages, because a hash of every cycle would slow down playing.
  request_hash() {
    this.clear_hash();
    const of = this.hash_request;
    this.idle = setTimeout(() => this.kernel.postMessage({ do: "hash", of }), 150);
  }

  // Clears the hash; the answer to an earlier request will be ignored.
  clear_hash() {
    this.hash_request = (this.hash_request ?? 0) + 1;
    clearTimeout(this.idle);
    delete this.hash.dataset.cycle;
    this.hash.textContent = "";
  }

  show_hash({ cycle, hash, of }) {
    if (of !== this.hash_request) return;
    Object.assign(this.hash.dataset, { hash, cycle });
    this.hash.textContent = `cycle ${cycle}: ${hash}`;
  }

  set_status(text) {
    this.status.textContent = text;
  }
}

// Returns whether the browser has copied a text.
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
