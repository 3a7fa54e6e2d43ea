// Connections of circuit-switched routers: their lines from source to sink, and the words on them.

// Returns the connections at a cycle: { src, spans }. spans: channels in order, { router, port, out_port, stage };
// src: source terminal, -1 if its first router is not drawn or has closed its part.
function connections(recording, cycle) {
  const open = new Map(), ends = ends_of_channels(recording), state = recording.state(cycle);
  for (const row of state.rows)
    if (row.out_port >= 0 && CIRCUIT.includes(recording.stage(row))) open.set(`${row.router}.${row.port}`, row);
  const found = [], into = new Map();
  for (const row of open.values()) {
    const next = ends.get(`${row.router}.${row.out_port}`);
    if (next) into.set(next, row);
  }
  for (const [key, row] of open) {
    if (into.has(key)) continue; // it continues another router's part
    const { peer, to_terminal } = recording.peer(row.router, row.port), spans = [];
    for (let at = row; at; at = open.get(ends.get(`${at.router}.${at.out_port}`)))
      spans.push({ router: at.router, port: at.port, out_port: at.out_port, stage: recording.stage(at) });
    found.push({ src: to_terminal ? peer : -1, spans });
  }
  return found;
}

// Returns the input "router.port" of each channel, by its output "router.port".
function ends_of_channels(recording) {
  recording.channel_ends ??= new Map(links_of(recording.meta).map((l) => [`${l.router}.${l.port}`, `${l.to_router}.${l.to_port}`]));
  return recording.channel_ends;
}

// Returns the words that arrive at routers in a cycle: { router, port, word }. The notes of ports name them. A router's
// state has the words too (`mail`), but as numbers; their format is known only to the core, which writes the notes.
function arriving_words(recording, cycle) {
  const found = [];
  for (const router of recording.meta.routers)
    (recording.words(router, cycle)?.vc_notes ?? []).forEach(([note], port) => {
      const word = /^([A-Z-]+)\b.* arrives/.exec(note ?? "");
      if (word) found.push({ router, port, word: word[1] });
    });
  return found;
}
