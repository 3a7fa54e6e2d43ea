// Reader and writer of the part of TOML that configurations use: tables, numbers, strings, booleans and lists.

// Returns values by dotted path. Throws Error with the line number of the mistake.
function read_toml(text) {
  const flat = {};
  let table = "", unfinished = "", first = 0;
  text.split(/\r?\n/).forEach((written, i) => {
    const line = (unfinished + without_comment(written)).trim();
    if (!unfinished) first = i + 1;
    unfinished = "";
    if (!line) return;
    const header = /^\[([\w.-]+)\]$/.exec(line), pair = /^([\w.-]+)\s*=\s*(.+)$/.exec(line);
    if (header) table = `${header[1]}.`;
    else if (!pair) throw new Error(`line ${first}: ${line} is not KEY = VALUE, such as load = 0.3 under [traffic].`);
    else if (opened(line) > 0) unfinished = `${line} `;
    else {
      const path = table + pair[1];
      if (path in flat) throw new Error(`line ${first}: ${path} is given twice. Remove one of them.`);
      flat[path] = value_of(pair[2], first);
    }
  });
  if (unfinished) throw new Error(`line ${first}: the list is not closed. Add ].`);
  return flat;
}

function outside_of_strings(line, visit) {
  let quote = "";
  for (let i = 0; i < line.length; ++i) {
    const c = line[i];
    if (quote) quote = c === "\\" && quote === '"' ? (++i, quote) : c === quote ? "" : quote;
    else if (c === '"' || c === "'") quote = c;
    else if (visit(c, i)) return i;
  }
  return -1;
}

function without_comment(line) {
  const end = outside_of_strings(line, (c) => c === "#");
  return end < 0 ? line : line.slice(0, end);
}

function opened(line) {
  let depth = 0;
  outside_of_strings(line, (c) => { depth += c === "[" ? 1 : c === "]" ? -1 : 0; });
  return depth;
}

function value_of(text, line) {
  if (/^'[^']*'$/.test(text)) return text.slice(1, -1);
  if (/^[A-Za-z][\w-]*$/.test(text) && text !== "true" && text !== "false") return text; // a bare word, as on the command line
  const json = text.startsWith('"') ? text : text.replace(/(\d)_(?=\d)/g, "$1").replace(/,\s*\]/g, "]").replace(/^\+/, "");
  try {
    return JSON.parse(json);
  } catch {
    throw new Error(`line ${line}: ${text} is not a value: write a number, "text", true, false or a list.`);
  }
}

// Returns the text of a configuration in the format of a file.
function toml_text(flat) {
  const lines = [];
  let section = null;
  for (const [path, value] of Object.entries(flat).sort(([a], [b]) => (table_of(a) < table_of(b) ? -1 : table_of(a) > table_of(b) ? 1 : 0))) {
    if (table_of(path) !== section) lines.push(...(lines.length ? [""] : []), `[${(section = table_of(path))}]`);
    lines.push(`${path.slice(section.length + 1)} = ${JSON.stringify(value)}`);
  }
  return `${lines.join("\n")}\n`;
}

function table_of(path) {
  return path.slice(0, path.indexOf("."));
}
