"""Lines and rectangles that the scope has drawn on its canvas, recorded from the page's drawing calls."""

DRAWN = """() => {
    const kept = {}, found = [], proto = CanvasRenderingContext2D.prototype, { view } = scope;
    let path = [], circles = false;
    const styles = ({ strokeStyle: stroke, fillStyle: fill, lineWidth: wide, globalAlpha: alpha }) => (
        { stroke, fill, wide, alpha });
    const listen = (name, note) => {
        kept[name] = proto[name];
        proto[name] = function (...values) { note(this, ...values); return kept[name].apply(this, values); };
    };
    listen("beginPath", () => { path = []; circles = false; });
    listen("arc", () => { circles = true; });
    listen("moveTo", (_, x, y) => path.push([x, y]));
    listen("lineTo", (_, x, y) => path.push([x, y]));
    listen("quadraticCurveTo", (_, a, b, x, y) => path.push([x, y]));
    listen("stroke", (draw) => path.length && !circles && found.push({ what: "line", path, ...styles(draw) }));
    for (const what of ["fillRect", "strokeRect"])
        listen(what, (draw, x, y, width, height) => found.push({ what, x, y, width, height, ...styles(draw) }));
    const before = view.canvas.toDataURL();
    view.fit(scope.recording); // so that all is drawn anew
    scope.paint();
    Object.assign(proto, kept);
    const same = view.canvas.toDataURL() === before;
    const css = getComputedStyle(view.canvas), colours = {};
    for (const name of ["used", "alarm"]) colours[name] = css.getPropertyValue(`--scope-${name}`).trim().toLowerCase();
    return { same, found, colours, places: view.places, size: view.size }; }"""


class Picture:
    """The canvas's drawing, by kind of element."""

    def __init__(self, page):
        drawn = page.evaluate(DRAWN)
        assert drawn["same"]  # the picture was up to date
        self.places, self.size, self.colours = drawn["places"], drawn["size"], drawn["colours"]
        self.found = drawn["found"]

    def router(self, x, y):
        far, r = min(((px - x) ** 2 + (py - y) ** 2, r) for r, (px, py) in enumerate(self.places))
        assert far < self.size**2
        return r

    def lines(self, colour=None):
        """Returns (from, to), line width of each channel."""
        return [((self.router(*f["path"][0]), self.router(*f["path"][-1])), f["wide"]) for f in self.found
                if f["what"] == "line" and colour in (None, f["stroke"].lower())]

    def boxes(self, what, **style):
        return {self.router(f["x"] + f["width"] / 2, f["y"] + f["height"] / 2): f for f in self.found
                if f["what"] == what and all(f[k] == v for k, v in style.items())}
