// Complete state of a router, decoded from the 4-byte words in a recording. meta.state describes the layout: kind,
// bytes, and fields as put_schema (bindings/frames/json.hpp) writes them.

function number_at(view, at, { low, bits, bytes, signed }) {
  let word = 0n;
  for (let i = bytes - 1; i >= 0; --i) word = (word << 8n) | BigInt(view.getUint8(at + i));
  if (bits) word = (word >> BigInt(low)) & ((1n << BigInt(bits)) - 1n);
  if (signed) word = BigInt.asIntN(8 * bytes, word);
  return word > 2n ** 53n ? `${word}` : Number(word); // as text if JavaScript's numbers are not exact
}

// Returns a tree as put_tree (bindings/frames/json.hpp) writes it.
function record_at(view, at, kind, name, fields) {
  const values = [], parts = [];
  for (const field of fields) {
    const places = Array.from({ length: field.count }, (_, i) => at + field.offset + i * field.bytes);
    if (field.members.length)
      places.forEach((place, i) => parts.push(record_at(view, place, field.name, field.list ? `${i}` : "", field.members)));
    else {
      const numbers = places.map((place) => number_at(view, place, field));
      values.push({ name: field.name, value: field.list ? numbers : numbers[0], unit: field.unit, help: field.help });
    }
  }
  return { kind, name, values, parts };
}

// Calls act(index, difference) for each changed word. `changes` is a flat list of pairs: the distance from the previous
// changed word, and the difference of the word's value.
function each_change(changes, act) {
  for (let i = 0, place = 0; i < changes.length; i += 2) act((place += changes[i]), changes[i + 1]);
}

// Complete states of routers in any recorded cycle. The changes of dropped frames are kept, added up.
class RouterStates {
  constructor(recording) {
    this.recording = recording;
    this.past = new Map(); // by router: sum of the changes in dropped frames, by index of the word
  }

  drop(frames) {
    for (const { s } of frames)
      for (const [router, changes] of Object.entries(s ?? {})) {
        const known = this.past.get(router) ?? this.past.set(router, new Map()).get(router);
        each_change(changes, (place, more) => known.set(place, ((known.get(place) ?? 0) + more) >>> 0));
      }
  }

  // Returns the state of a router as a tree.
  tree(router, cycle) {
    const { meta, frames, first } = this.recording;
    const { kind, bytes, fields } = meta.state, view = new DataView(new ArrayBuffer(bytes));
    for (const [place, word] of this.past.get(`${router}`) ?? []) view.setUint32(4 * place, word, true);
    for (let i = 0; i <= cycle - first; ++i) {
      each_change(frames[i].s?.[router] ?? [], (place, more) =>
        view.setUint32(4 * place, (view.getUint32(4 * place, true) + more) >>> 0, true));
    }
    return record_at(view, 0, kind, `${router}`, fields);
  }
}
