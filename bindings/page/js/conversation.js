// Questions to a worker, and their answers.

const REPLAYED = 60; // cycles before the one of a link that are recorded, so that they can be replayed

// Returns the worker's answer to a message. Throws Error if it is an error.
function ask(worker, message) {
  return new Promise((done, fail) => {
    worker.onmessage = ({ data }) => {
      if (data.ready) worker.version = data.ready;
      else if (data.progress) return;
      else if (data.error) fail(new Error(data.error));
      else done(data);
    };
    worker.onerror = (event) => fail(new Error(`The emulator has stopped: ${event.message}.`));
    worker.postMessage(message);
  });
}

// Builds a network in a worker and advances it to a cycle; only the last cycles are recorded. Returns the worker's
// answer to `begin`, with the recording at the end and the hash of its state. Calls progress(cycle) several times a
// second.
async function network_at(worker, given, { cycle = 0, router, progress = () => {} }) {
  const begun = await ask(worker, { do: "begin", ...given });
  let now = 0;
  while (now < cycle - REPLAYED) {
    begun.anew = (await ask(worker, { do: "skip", cycles: cycle - REPLAYED - now })).anew;
    now = begun.anew.frames[0].c;
    progress(now);
  }
  if (begun.anew.meta.routers.includes(router)) await ask(worker, { do: "inspect", router });
  if (now < cycle) {
    const { frames, stages, deadlock, deadlocked } = await ask(worker, { do: "step", cycles: cycle - now });
    begun.anew.frames.push(...frames);
    Object.assign(begun.anew.meta, { stages, deadlock, deadlocked });
  }
  return { ...begun, hash: (await ask(worker, { do: "hash" })).hash };
}

const LONE = { cycles: 100, most: 2000 }; // cycles per message, and at most, in which a lone packet must arrive

// Returns router and output port of each hop of a packet that is alone in a network, as lone_path() in Python
// (bindings/flitlab/scope/lone.py). start(): starts a worker.
async function lone_path(start, { name, config, texts }, { algorithm, src, dst, terminals }) {
  const others = (values) => Object.fromEntries(Object.entries(values).filter(([path]) => !path.startsWith("traffic.")));
  const lines = Array.from({ length: terminals }, (_, i) => (i === src ? `${i},${dst},1\n` : `${i},${(i + 1) % terminals},0\n`));
  const lone = { ...others(config), "routing.algorithm": algorithm, "traffic.pattern": "matrix", "traffic.matrix_file": "lone.csv",
    "traffic.load": 1, "traffic.packet_flits": 1 };
  const worker = start();
  try {
    const begun = await ask(worker, { do: "begin", name, config: lone, texts: { ...others(texts), "traffic.matrix_file": lines.join("") } });
    const recording = new Recording(begun.anew);
    for (let cycle = 0; cycle < LONE.most; cycle += LONE.cycles) {
      recording.append((await ask(worker, { do: "step", cycles: LONE.cycles })).frames, LONE.most);
      const way = journey(recording, src, 0);
      if (way.delivered !== null) return way.hops.map((hop) => [hop.router, hop.out_port]);
    }
    throw new Error(`${algorithm}: a packet from ${src} to ${dst} has not arrived after ${LONE.most} cycles.`);
  } finally {
    worker.terminate();
  }
}

// Returns the state hash of a network in a cycle, computed in a worker of its own.
async function hash_at(start, given, cycle, progress) {
  const worker = start();
  try {
    return (await network_at(worker, given, { cycle, progress })).hash;
  } finally {
    worker.terminate();
  }
}
