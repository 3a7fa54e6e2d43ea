// Zoom and pan of the drawing: drag to pan; Ctrl with the wheel, or two fingers, to zoom. In full screen the wheel
// zooms without Ctrl, because nothing there can scroll.

const CLICK = 5; // pixels; a pointer that moves less clicks

// Lets the pointer zoom and pan `view`, a NetworkView. changed(): draws it again; clicked(event): a click, no drag.
function listen_to_pointer(canvas, view, changed, clicked) {
  const held = new Map(); // pointers that are down, by their number
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    if (!held.size) moved = 0;
    held.set(event.pointerId, position_on(canvas, event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = held.get(event.pointerId);
    if (!before) return;
    if (!event.buttons) return held.delete(event.pointerId); // it was released outside of the canvas
    const now = position_on(canvas, event), [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    moved += Math.abs(dx) + Math.abs(dy);
    if (moved < CLICK) return;
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, now);
    const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
    if (other) view.zoom_by(Math.hypot(now[0] - other[0], now[1] - other[1]) / Math.max(1, Math.hypot(before[0] - other[0], before[1] - other[1])), other);
    else view.pan_by(dx, dy);
    changed();
  });
  const release = (event) => held.delete(event.pointerId);
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("click", (event) => {
    if (moved < CLICK) clicked(position_on(canvas, event));
    moved = 0;
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && !document.fullscreenElement) return;
    event.preventDefault();
    view.zoom_by(Math.exp(-0.002 * event.deltaY), position_on(canvas, event));
    changed();
  }, { passive: false });
}

// Returns the position of a pointer on the canvas in its CSS pixels, also if the canvas is scaled by CSS (zoom or
// transform).
function position_on(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return [((event.clientX - box.left) * canvas.offsetWidth) / box.width - canvas.clientLeft,
    ((event.clientY - box.top) * canvas.offsetHeight) / box.height - canvas.clientTop];
}
