// Worker that runs the core. It answers the scope's messages as a notebook's kernel does
// (bindings/flitlab/scope/widget.py), and runs the points of a curve. `core`: the functions of core.cpp.

const MOST_AT_ONCE = 200; // limit of the frames in one answer

class Kernel {
  constructor(core) {
    this.core = core;
  }

  // Returns the answer to a message from the scope (the animated drawing of the network). The messages `begin` and
  // `set` make a new network; if its configuration is invalid, the old network stays.
  answer(message) {
    const cycles = Math.max(1, Math.floor(message.cycles ?? 1));
    switch (message.do) {
      case "begin": return this.begin(message.name, message.config, message.texts);
      case "set": return this.change(message.changes);
      case "step": return this.steps(this.call("step", Math.min(cycles, MOST_AT_ONCE)), cycles > MOST_AT_ONCE);
      case "skip": return this.anew(this.call("skip", Math.min(cycles, 2 ** 31)));
      case "reset": return this.anew(this.call("reset"));
      case "inspect": return this.call("inspect", message.router);
      case "hash": return { ...this.call("hash"), of: message.of };
      default: return null; // the message "keep", which saves the recording in a notebook, has no effect here
    }
  }

  call(name, ...given) {
    return JSON.parse(this.core[name](...given));
  }

  begin(name, config, texts) {
    const begun = this.call("begin", config, texts);
    if (begun.error) return begun;
    Object.assign(this, { name, config, texts, meta: meta_of(name, begun) });
    return { ...this.anew(begun), given: { name, config, texts } };
  }

  // Returns the answer for the network that has had the changed parameters from cycle 0 on, in the cycle that is reached,
  // or in an earlier one if the network takes longer than an answer may (kMostOfAnAnswer in core.cpp) to get there.
  change(changes) {
    const { cycle } = this.call("hash"), begun = this.begin(this.name, { ...this.config, ...changes }, this.texts);
    const skipped = begun.error || !cycle ? begun : this.anew(this.call("skip", cycle));
    return skipped.error ? begun : { ...begun, ...skipped };
  }

  anew(reply) {
    return reply.error ? reply : { anew: { meta: { ...this.meta, ...state_of(reply) }, frames: reply.frames } };
  }

  steps(reply, more) {
    return reply.error ? reply : { frames: reply.frames, more, ...state_of(reply) };
  }

  // Returns the result of a run, at a load if the message has one. Calls progress(cycle) after every epoch.
  point({ config, texts, load }, progress) {
    const loaded = load === undefined ? config : { ...config, "traffic.load": load };
    return { ...JSON.parse(this.core.run(loaded, texts, progress)), ...load !== undefined && { load } };
  }
}

function state_of({ stages, deadlock, deadlocked }) {
  return { stages, deadlock, deadlocked };
}

// Entry point of the worker; tests use Kernel without a worker.
function serve(make_core) {
  let kernel = null; // a promise: messages that arrive before the core is ready wait for it
  self.onmessage = async ({ data }) => {
    try {
      if (data.module) {
        const instantiateWasm = (imports, done) => {
          WebAssembly.instantiate(data.module, imports).then((instance) => done(instance, data.module));
          return {};
        };
        kernel = make_core({ instantiateWasm }).then((core) => new Kernel(core));
        return self.postMessage({ ready: (await kernel).core.version });
      }
      const made = await kernel;
      if (data.do === "point") self.postMessage({ point: made.point(data, (cycle) => self.postMessage({ progress: { cycle, load: data.load } })) });
      else {
        const reply = made.answer(data);
        if (reply) self.postMessage(reply);
      }
    } catch (error) { // the core returns its errors as answers; this is a crash, or memory has run out
      self.postMessage({ error: `the emulator has failed: ${error.message ?? error}` });
    }
  };
}
