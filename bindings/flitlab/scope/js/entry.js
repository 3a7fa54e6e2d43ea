// Entry points: a widget's view, and a saved page.

// Hides the replay in the cell's output while the widget runs. Returns a function that shows it again.
function hide_replay(name) {
  if (!name) return () => {};
  const style = make("style", {}, `.flitlab-replay-${name} { display: none; }`);
  document.head.append(style);
  return () => style.remove();
}

// anywidget calls this for each view of the widget.
async function render({ model, el }) {
  const place = make("div");
  el.append(place);
  let scope = null;
  const early = []; // messages that arrive before the scope exists
  const receive = (message) => (scope ? scope.receive(message.json ? JSON.parse(message.json) : message) : early.push(message)); // or { error }
  model.on("msg:custom", receive);
  scope = new Scope(place, new Recording(await unpack(model.get("recording"))), (message) => model.send(message));
  if (model.get("clock")) scope.join(model.get("clock"));
  early.forEach(receive);
  const show_replay = hide_replay(model.get("replay"));
  return () => {
    model.off("msg:custom", receive);
    scope.close();
    show_replay();
  };
}

// A saved page calls this. clock: name that scopes in a page share if they show the same cycle.
async function show_page(el, text, clock = null) {
  const scope = new Scope(el, new Recording(await unpack(text)), null);
  if (clock) scope.join(clock);
  if (window.top === window) el.focus({ preventScroll: true }); // not in a notebook's output
  return scope;
}

export default { render };
export { show_page };
