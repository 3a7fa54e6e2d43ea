// The sliders at the top of the page: load, number of virtual channels, size of a buffer. most: end of the slider if it
// is below the parameter's maximum.

const SLIDERS = { "traffic.load": { title: "load", unit: "flits/cycle/terminal", min: 0, most: 1, step: 0.01 },
  "router.vcs": { title: "virtual channels", unit: "", min: 1, step: 1 },
  "router.buffer_flits": { title: "buffer", unit: "flits", min: 1, most: 32, step: 1 } };

class Sliders {
  // changed(path, value): is called when the user has moved a slider.
  constructor(el, changed) {
    Object.assign(this, { el, changed, inputs: {} });
  }

  // Shows the values of a network; parameters that its router does not have get no slider.
  show(settings) {
    const paths = Object.keys(SLIDERS).filter((path) => settings[path]);
    if (paths.join() !== Object.keys(this.inputs).join()) {
      this.inputs = Object.fromEntries(paths.map((path) => [path, this.slider(path, settings[path])]));
      this.el.replaceChildren(...Object.values(this.inputs).map((input) => input.parentElement));
    }
    for (const [path, input] of Object.entries(this.inputs)) {
      const { value, max } = settings[path];
      input.max = Math.max(SLIDERS[path].most ?? max, value);
      input.value = value;
      this.show_value(path, value);
    }
  }

  slider(path, { help }) {
    const { title, min, step } = SLIDERS[path], input = make("input", { type: "range", min, step, "data-setting": path });
    input.addEventListener("input", () => this.show_value(path, input.value));
    input.addEventListener("change", () => this.changed(path, Number(input.value)));
    make("label", { title: help }, `${title} `, input, make("output"));
    return input;
  }

  show_value(path, value) {
    this.inputs[path].nextElementSibling.textContent = `${value} ${SLIDERS[path].unit}`;
  }
}
