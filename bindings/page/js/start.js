// The page: choice of a network, its configuration as text, the scope, and curves. The core runs in workers, which are
// started from texts in this page, so that the page also works from disk.

async function start_page(page) {
  const text = (id) => document.getElementById(id).textContent, status = page.querySelector(".page-status");
  try {
    const configs = JSON.parse(text("configs")), module = await WebAssembly.compile(await unpacked_bytes(text("core-wasm")));
    const source = URL.createObjectURL(new Blob([text("core"), "\n", text("worker"), "\nserve(flitlab_core);"], { type: "text/javascript" }));
    const worker = () => {
      const made = new Worker(source);
      made.postMessage({ module });
      return made;
    };
    return new Page(page, configs, worker);
  } catch (error) {
    status.textContent = `This page cannot start in this browser: ${error.message}. It needs a browser of 2023 or later, with WebAssembly and workers.`;
    throw error;
  }
}

async function unpacked_bytes(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

const OWN = "your own"; // name of a configuration that is not shipped

function alike(a, b) {
  const text = (config) => JSON.stringify(Object.entries(config).sort(([p], [q]) => (p < q ? -1 : 1)));
  return text(a) === text(b);
}

class Page {
  constructor(page, configs, worker) {
    Object.assign(this, { page, configs, scope: null });
    this.status = page.querySelector(".page-status");
    this.hash = page.querySelector("[data-page=hash]");
    this.kernel = worker();
    this.kernel.onmessage = ({ data }) => this.receive(data);
    this.kernel.onerror = (event) => this.set_status(`The emulator has stopped: ${event.message}. Reload the page.`);
    const choice = (this.choice = page.querySelector("[data-page=network]"));
    for (const { name } of configs) choice.append(make("option", { value: name }, name));
    choice.append(make("option", { value: OWN, hidden: true }, OWN));
    choice.addEventListener("change", () => this.choose(choice.value));
    this.text = page.querySelector("[data-page=text]");
    page.querySelector("[data-page=apply]").addEventListener("click", () => this.apply());
    this.curves = new Curves(page.querySelector("[data-page=curves]"), () => this.given, worker);
    this.choose(configs[0].name);
  }

  choose(name) {
    const { config, texts } = this.configs.find((c) => c.name === name);
    this.begin({ name, config, texts });
  }

  // Builds the network of the configuration in the text.
  apply() {
    try {
      const config = read_toml(this.text.value), same = this.configs.find((c) => alike(c.config, config));
      if (same) this.choose(same.name);
      else this.begin({ ...this.given, name: alike(this.given.config, config) ? this.given.name : OWN, config });
    } catch (error) {
      this.set_status(error.message);
    }
  }

  begin(given) {
    this.clear_hash();
    this.set_status("building the network");
    this.kernel.postMessage({ do: "begin", ...given });
  }

  // Passes a message of the scope to the worker.
  post(message) {
    this.set_status("");
    if (message.do !== "keep") this.clear_hash();
    this.kernel.postMessage(message);
  }

  receive(data) {
    if (data.ready) return (this.page.querySelector("[data-page=version]").textContent = data.ready);
    if (data.hash) return this.show_hash(data);
    this.request_hash();
    if (data.given) this.began(data);
    else if (data.error && data.chosen) this.set_status(data.error); // the old network stays
    else this.scope?.receive(data);
  }

  // Shows a new network. If the user chose it, or if its set of controls differs, it gets a new scope; after a change
  // of one setting the scope stays, with its selection.
  began(data) {
    this.given = data.given;
    this.choice.value = this.given.name;
    this.page.querySelector("[data-page=about]").textContent =
      this.configs.find((c) => c.name === this.given.name)?.about ?? "The configuration below.";
    this.text.value = toml_text(this.given.config);
    this.set_status("");
    const settings = Object.keys(data.anew.meta.settings).join();
    if (this.scope && !data.chosen && settings === this.settings) return this.scope.receive(data);
    this.scope?.close();
    this.settings = settings;
    const place = make("div");
    this.page.querySelector("[data-page=scope]").replaceChildren(place);
    this.scope = new Scope(place, new Recording(data.anew), (message) => this.post(message));
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
