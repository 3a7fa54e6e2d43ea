// What a packet waits for: the reason, and the packets that hold the virtual channel, the output or the buffer.

// Returns the places where a packet waits at the beginning of a cycle: { row, why, holders }. row: virtual channel;
// why: reason in words; holders: [{ src, id, what }], the packets that block it, and what each of them holds.
function waits_of(recording, { src, id }, cycle) {
  if (cycle <= recording.first) return [];
  const found = [], state = recording.state(cycle), is_it = (packet) => packet.src === src && packet.id === id;
  for (const row of state.rows) {
    if (row.src < 0) continue;
    if (is_it(row)) {
      const wait = wait_of_front(recording, state, row, cycle);
      if (wait && !wait.holders.some(is_it)) found.push(wait); // not a wait for the packet's own flits
    } else if (recording.meta.facts.in_order && state.runs(row).some(is_it))
      found.push({ row, why: "behind another packet", holders: named_packet(row, "the front of the buffer") });
  }
  return found;
}

function named_packet({ src, id }, what) {
  return [{ src, id, what }];
}

// Returns what the front packet of a virtual channel waits for; null if it does not wait.
function wait_of_front(recording, state, row, cycle) {
  const { name_of, notes } = texts_of(recording.words(row.router, cycle));
  const { wins, fates } = arbitration(recording, row.router, cycle - 1, name_of, (port, vc) => notes(port, vc)[1]);
  const fate = fates.get(`${row.port}.${row.vc}`);
  if (!fate?.lost) return null;
  const sender = (e, what) => (e ? named_packet(e, what) : []);
  const to = row.out_port < 0 ? "" : recording.port_name(row.router, row.out_port);
  const buffer = `the front of the buffer behind ${to} ${name_of(row.out_port, row.out_vc)}`;
  const by_cause = {
    credit: () => front_behind(recording, state, row, buffer),
    output: () => sender(wins.find((e) => e.out_port === row.out_port), `output ${to}`),
    input: () => sender(wins.find((e) => e.port === row.port), "the input port"),
  };
  const holders = row.out_port < 0 ? [] : (by_cause[fate.cause] ?? (() => owners(recording, state, row, name_of)))();
  return { row, why: fate.why, holders };
}

// Returns the packets that hold the virtual channels of the output for which a row waits: of the granted one, else of
// all. A packet that has left this router can still hold one; it is then in the buffer behind the output.
function owners(recording, state, { router, out_port, out_vc, port, vc }, name_of) {
  const rows = state.rows_of(router), to = recording.port_name(router, out_port);
  const outputs = rows.filter((r) => r.port === out_port && r.owner_port >= 0 && (out_vc < 0 || r.vc === out_vc));
  return outputs.flatMap((output) => {
    const what = `${name_of(out_port, output.vc)} of ${to}`;
    const owner = rows.find((r) => r.port === output.owner_port && r.vc === output.owner_vc);
    if (!owner || (owner.port === port && owner.vc === vc)) return [];
    const is_here = owner.src >= 0 && owner.out_port === out_port && owner.out_vc === output.vc;
    if (is_here) return named_packet(owner, what);
    return front_behind(recording, state, { router, out_port, out_vc: output.vc }, what);
  });
}

// Returns the front packet of the buffer to which an output virtual channel leads, as a list; empty if there is none.
function front_behind(recording, state, { router, out_port, out_vc }, what) {
  const [next, port] = (ends_of_channels(recording).get(`${router}.${out_port}`) ?? "-1.-1").split(".").map(Number);
  const row = state.rows_of(next).find((r) => r.port === port && r.vc === out_vc);
  return row && row.src >= 0 ? named_packet(row, what) : [];
}
