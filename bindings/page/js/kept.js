// What a reload of the page keeps, in the browser's local storage: the network, the curves and their settings.

const KEPT = { key: "flitlab-page", format: 1 };

// Returns what was kept; {} if it is nothing, of another format, or the browser does not permit it (private windows).
function read_kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEPT.key) ?? "{}");
    return found?.format === KEPT.format ? found : {};
  } catch {
    return {};
  }
}

function keep(values) {
  try {
    localStorage.setItem(KEPT.key, JSON.stringify({ format: KEPT.format, ...values }));
  } catch {
    // not permitted, or too large: the page works without it
  }
}
