// What a click on the drawing selects. Dots often lie over a router's box, so the first click there selects the router,
// and each further click the next packet.

const NEAR = 7; // largest distance of a click from a dot that it hits, pixels
const NEAR_IN_ROUTER = 24; // the same inside a router's box, where the dots are close together, pixels

function is_same_selection(a, b) {
  return a.router === b.router && a.packet?.src === b.packet?.src && a.packet?.id === b.packet?.id;
}

// Returns the different packets of flits as selections.
function packets_of(flits) {
  const found = new Map(flits.map(({ src, id }) => [packet_name(src, id), { packet: { src, id } }]));
  return [...found.values()];
}

// Returns the router whose centre is nearest to a position, the distance, and whether the position is in its box.
function router_near(view, at) {
  const { routers } = view.recording.meta, far = view.places.map(([x, y]) => Math.hypot(x - at[0], y - at[1]));
  const nearest = far.reduce((best, d, i) => (d < far[best] ? i : best), 0), [x, y] = view.places[nearest];
  const inside = Math.max(Math.abs(x - at[0]), Math.abs(y - at[1])) <= view.size * 0.55;
  return { router: routers[nearest], far: far[nearest], inside };
}

// Returns the selections at a position: the router whose box it hits, then the packets with near dots in the order of
// the drawing; outside of boxes the near packets, nearest first, then a near router.
function selections_at(view, at, cycle, part) {
  const { router, far, inside } = router_near(view, at), most = inside ? NEAR_IN_ROUTER : NEAR;
  const away = (flit) => Math.hypot(flit.at[0] - at[0], flit.at[1] - at[1]);
  const near = view.flits(cycle, part).filter((flit) => away(flit) <= most);
  if (inside) return [{ router }, ...packets_of(near.filter((flit) => is_over(view, flit, router)))];
  const packets = packets_of(near.sort((a, b) => away(a) - away(b)));
  return far <= Math.max(view.size, 10) ? [...packets, { router }] : packets;
}

function is_over(view, flit, router) {
  const found = router_near(view, flit.at);
  return found.inside && found.router === router;
}

// Returns a router and the packets whose dots lie over its box, as selections.
function selections_over(view, router, cycle, part) {
  return [{ router }, ...packets_of(view.flits(cycle, part).filter((flit) => is_over(view, flit, router)))];
}

// Returns the selection after the present one, in turn; the first if the present one is not among them.
function next_selection(all, present) {
  return all[(all.findIndex((one) => is_same_selection(one, present)) + 1) % all.length] ?? {};
}
