// Links to a network in a cycle, in the fragment of the address. bindings/flitlab/links.py describes the format.

const LINK_FORMAT = 1;
const LINK_KEYS = ["figure", "config", "cycle", "router", "overlay", "hash", "flitlab", "format"];
const TEXT_KEY = "text."; // beginning of the keys of texts: contents of files, compressed
const LAST_CYCLE = 2 ** 31;
const LONGEST_LINK = 8000; // characters
const OWN = "your own"; // name of a configuration that is not shipped

// Returns whether a fragment is a link; otherwise it is an anchor of the page, or empty.
function is_link(fragment) {
  return fragment.includes("=");
}

// Reads a link: given (name, config and texts of the network), cycle, router, overlay, hash, flitlab (a version), figure
// and figure_given (the figure's own network; null: none). A link to a figure has the figure's network, cycle, router and
// overlay, unless it has others. find_figure(name): returns a figure of the textbook. Throws Error with a message for the
// user.
async function read_link(fragment, configs, find_figure) {
  if (fragment.length > LONGEST_LINK) throw new Error(`It has ${fragment.length} characters; a link has at most ${LONGEST_LINK}.`);
  const [format, version] = ["format", "flitlab"].map((key) => new RegExp(`[#&]${key}=([^&]*)`).exec(fragment)?.[1]);
  if (format !== undefined && format !== `${LINK_FORMAT}`)
    throw new Error(`format=${format}: this page reads links of format ${LINK_FORMAT}. Use the page of the link's version of flitlab, ${version ?? "which is not named"}.`);
  const found = parts_of(fragment), figure = found.figure === undefined ? null : find_figure(found.figure);
  if (figure && found.config !== undefined) throw new Error("It has figure and config; a link has one of them, and parameters that change its network.");
  const name = figure?.network ?? found.config, named = name === undefined ? null : configs.find((c) => c.name === name);
  if (named === undefined) throw new Error(`config=${found.config}: the page has no such network.`);
  const own = { name: named?.name ?? OWN, config: changed_config(named?.config ?? {}, figure?.set), texts: named?.texts ?? {} };
  const config = { ...own.config }, texts = { ...own.texts };
  for (const [key, text] of Object.entries(found).filter(([key]) => key.includes("."))) {
    if (key.startsWith(TEXT_KEY)) continue;
    if (text !== "") config[key] = value_in_link(key, text);
    else {
      delete config[key]; // the default holds
      delete texts[key];
    }
  }
  for (const [key, text] of Object.entries(found).filter(([key]) => key.startsWith(TEXT_KEY)))
    texts[key.slice(TEXT_KEY.length)] = await decoded_text(key, text);
  const router = found.router === undefined ? figure?.router : number_in_link("router", found.router);
  return { given: { name: own.name, config, texts }, figure_given: figure && own, cycle: number_in_link("cycle", found.cycle ?? `${figure?.cycle ?? 0}`),
    router, figure, overlay: found.overlay ?? figure?.overlay, hash: found.hash?.toLowerCase().replace(/^0x/, ""), flitlab: found.flitlab };
}

// Returns a configuration with changes; an empty text restores a parameter's default.
function changed_config(config, changes = {}) {
  return Object.fromEntries(Object.entries({ ...config, ...changes }).filter(([, value]) => value !== ""));
}

// Returns whether two configurations are the same.
function alike(a, b) {
  const text = (config) => JSON.stringify(Object.entries(config).sort(([p], [q]) => (p < q ? -1 : 1)));
  return text(a) === text(b);
}

function parts_of(fragment) {
  const found = {};
  for (const part of fragment.replace(/^#/, "").split("&").filter((p) => p)) {
    const key = part.split("=", 1)[0];
    if (!part.includes("=") || !(LINK_KEYS.includes(key) || key.includes(".")))
      throw new Error(`${part}: a part of a link is KEY=VALUE, where KEY is a parameter such as traffic.load, or one of ${LINK_KEYS.join(", ")}.`);
    if (key in found) throw new Error(`${key} is given twice.`);
    try {
      found[key] = decodeURIComponent(part.slice(key.length + 1));
    } catch {
      throw new Error(`${part}: the characters after % are not a code. The link may have been cut off.`);
    }
  }
  return found;
}

function number_in_link(key, text) {
  if (!/^\d{1,10}$/.test(text) || Number(text) > LAST_CYCLE)
    throw new Error(`${key}=${text}: it must be a whole number from 0 to ${LAST_CYCLE}.`);
  return Number(text);
}

function value_in_link(key, text) {
  if (/^[["]/.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      throw new Error(`${key}=${text}: it is not a value. The link may have been cut off.`);
    }
  }
  if (text.includes(",")) return text.split(",").map((part) => value_in_link(key, part));
  if (text === "true" || text === "false") return text === "true";
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
}

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

async function decoded_text(key, text) {
  try {
    const bytes = Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
    return new TextDecoder().decode(await through(new DecompressionStream("deflate"), bytes));
  } catch {
    throw new Error(`${key}: it is not a compressed text. The link may have been cut off.`);
  }
}

// Returns the texts that a link must contain, compressed, by their keys. Texts that the page already has are left out.
async function coded_texts({ name, config, texts }, configs) {
  const known = configs.find((c) => c.name === name)?.texts ?? {}, coded = {};
  for (const [path, text] of Object.entries(texts)) {
    if (!config[path] || text === known[path]) continue;
    const bytes = await through(new CompressionStream("deflate"), new TextEncoder().encode(text));
    coded[TEXT_KEY + path] = btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(""))
      .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  }
  return coded;
}

// Returns the fragment of a link, with "#". coded: the answer of coded_texts(). where: cycle, router, overlay, hash,
// flitlab; undefined if there is none. figure: name and config of a figure whose network this is, perhaps changed; null:
// none.
function link_to({ name, config }, coded, where, configs, figure = null) {
  const base = figure ?? configs.find((c) => c.name === name);
  const found = figure ? { figure: figure.name } : base ? { config: name } : {};
  for (const [path, value] of Object.entries(config))
    if (!base || JSON.stringify(base.config[path]) !== JSON.stringify(value)) found[path] = text_in_link(value);
  for (const path of Object.keys(base?.config ?? {})) if (config[path] === undefined) found[path] = "";
  Object.assign(found, coded, where, { format: LINK_FORMAT });
  return "#" + Object.entries(found).filter(([, text]) => text !== undefined)
    .map(([key, text]) => `${key}=${encodeURIComponent(text).replace(/%2C/g, ",").replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)}`).join("&");
}

function text_in_link(value) {
  const plain = (v) => typeof v === "number" || (typeof v === "string" && /^[A-Za-z][\w.-]*$/.test(v) && !["true", "false", "null"].includes(v));
  if (Array.isArray(value) && value.length > 1 && value.every(plain)) return value.join(",");
  return plain(value) && typeof value === "string" ? value : JSON.stringify(value);
}
