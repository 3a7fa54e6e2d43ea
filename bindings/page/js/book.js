// The textbook: choice of a figure, its question, and beside the network what to notice, an exercise and lines of Python.

const FUNCTIONS_OF_ANSWERS = { min: Math.min, max: Math.max, abs: Math.abs }; // functions in expressions of answers

class Book {
  // chapters, terms: of docs/book (its README.md has the keys of a figure). open(name): shows a figure; draw(): draws its
  // curves; worker(): starts a worker with the core.
  constructor(page, { chapters, terms }, { open, draw, worker }) {
    Object.assign(this, { chapters, terms, open, draw, worker, figures: chapters.flatMap((c) => c.figures), figure: null, given: null, wanted: null });
    const part = (name) => page.querySelector(`[data-page=${name}]`);
    Object.assign(this, { page, choice: part("figure"), question: part("question"), text: part("lesson") });
    this.choice.append(make("option", { value: "", hidden: true }, `${this.figures.length} figures`));
    for (const chapter of chapters) {
      const group = make("optgroup", { label: chapter.title });
      group.append(...chapter.figures.map((f) => make("option", { value: f.name }, f.title)));
      this.choice.append(group);
    }
    this.choice.addEventListener("change", () => this.choice.value && open(this.choice.value));
    for (const [name, by] of [["previous", -1], ["next", 1]]) part(name).addEventListener("click", () => this.turn(by));
  }

  // Opens the figure before or behind the shown one; without one, the last or the first.
  turn(by) {
    const { figures } = this, now = this.wanted ?? this.figure, from = now ? figures.indexOf(now) : by > 0 ? -1 : 0;
    this.wanted = figures[(from + by + figures.length) % figures.length]; // another press may come before it is open
    this.open(this.wanted.name);
  }

  // Returns a figure. Throws Error with a message for the user if there is none.
  find(name) {
    const found = this.figures.find((f) => f.name === name);
    if (!found) throw new Error(`figure=${name}: the textbook of this page has no such figure.`);
    return found;
  }

  // Name and config of the shown figure, for links to its network; null: no figure is shown.
  get base() {
    return this.figure && { name: this.figure.name, config: this.given.config };
  }

  // Shows the name of the shown figure in the menu, also after another one has failed to open.
  reset_choice() {
    this.wanted = null;
    this.choice.value = this.figure?.name ?? "";
  }

  // Shows the texts of a figure, or none if it is null. given: name, config and texts of the figure's own network.
  show(figure, given) {
    this.solver?.terminate();
    this.solver = null;
    Object.assign(this, { figure, given });
    this.reset_choice();
    this.page.classList.toggle("has-figure", Boolean(figure));
    if (!figure) return [this.question, this.text].forEach((el) => el.replaceChildren());
    const chapter = this.chapters.find((c) => c.figures.includes(figure));
    this.question.replaceChildren(make("h2", {}, figure.title), make("p", {}, `${figure.question} (Answer, then press play, or draw the curves.)`));
    this.answer = make("input", { type: "number", step: "any", "aria-label": "your answer", onkeydown: ({ key }) => key === "Enter" && this.check() });
    this.pictured = make("p");
    this.show_picture(given);
    this.verdict = make("p", { role: "status", class: "page-verdict" });
    this.text.replaceChildren(
      make("p", { class: "page-source" }, `${chapter.title}. Source: ${figure.source}.`),
      this.pictured,
      make("p", {}, make("button", { type: "button", "data-do": "figure-curves", onclick: () => this.draw() }, "draw the figure's curves")),
      make("details", { class: "page-notice" }, make("summary", {}, "What to notice"), ...paragraphs(figure.notice)),
      make("h3", {}, "Exercise"), ...paragraphs(figure.exercise),
      make("p", {}, this.answer, figure.unit ? ` ${figure.unit} ` : " ",
        make("button", { type: "button", "data-do": "check", onclick: () => this.check() }, "check")),
      this.verdict,
      make("details", { class: "page-terms" }, make("summary", {}, "Terms"), make("dl", {},
        ...Object.entries(this.terms).flatMap(([term, meaning]) => [make("dt", {}, term), make("dd", {}, meaning)]))),
      make("details", { class: "page-python" }, make("summary", {}, "The figure in Python"), make("pre", {}, figure.python)));
  }

  // Names the curve of the shown network, and its load. shown: the network, which the reader may have changed.
  show_picture(shown) {
    if (!this.figure) return;
    const without_load = (config) => ({ ...config, "traffic.load": 0 }), load = shown.config["traffic.load"];
    const curve = Object.entries(this.figure.curves ?? {}).find(([, changes]) =>
      alike(without_load(changed_config(this.given.config, changes)), without_load(shown.config)));
    const parts = [...(curve ? [curve[0]] : []), ...(load === undefined ? [] : [`at a load of ${load}`])];
    this.pictured.textContent = parts.length ? `In the picture: ${parts.join(", ")}.` : "";
  }

  // Compares the reader's answer with the computed one.
  async check() {
    const { figure, answer, verdict } = this, own = Number(answer.value);
    delete verdict.dataset.right;
    if (!answer.value.trim() || !Number.isFinite(own)) {
      verdict.textContent = `The answer must be a number${figure.unit ? `, in ${figure.unit}` : ""}.`;
      return;
    }
    verdict.textContent = "computing the answer";
    try {
      const computed = await this.solve();
      if (this.figure !== figure) return;
      const right = Math.abs(own - computed) <= figure.within * Math.abs(computed), unit = figure.unit ? ` ${figure.unit}` : "";
      verdict.dataset.right = right;
      const solved = `flitlab computes ${short_number(computed)}${unit}. ${figure.solution}`;
      if (right) verdict.textContent = `Right: ${solved}`;
      else verdict.replaceChildren(`Not yet: an answer within ${short_number(100 * figure.within)} % of flitlab's is right. `,
        make("button", { type: "button", "data-do": "solution", onclick: () => { delete verdict.dataset.right; verdict.textContent = solved; } }, "show the solution"));
    } catch (error) {
      if (this.figure === figure) verdict.textContent = error.message;
    }
  }

  // Returns the answer of the figure's exercise, computed by a worker with the figure's own network.
  async solve() {
    const { figure, given } = this;
    this.solver?.terminate();
    const solver = (this.solver = this.worker()), results = {};
    try {
      for (const [name, changes] of Object.entries(figure.runs ?? {})) {
        const { point } = await ask(solver, { do: "point", config: changed_config(given.config, changes), texts: given.texts });
        if (point.error) throw new Error(point.error);
        results[name] = point;
      }
    } finally {
      solver.terminate();
    }
    return value_of_answer(figure.answer, results);
  }
}

// Returns the value of the expression of an answer, with the results of runs by name. Expressions are the textbook's own.
function value_of_answer(expression, results) {
  const names = { ...FUNCTIONS_OF_ANSWERS, ...results };
  return new Function(...Object.keys(names), `"use strict"; return ${expression};`)(...Object.values(names));
}

// Returns a number with four significant digits, as Python's format ".4g" for numbers of usual size.
function short_number(x) {
  return `${Number(x.toPrecision(4))}`;
}

function paragraphs(text) {
  return text.split("\n\n").map((part) => make("p", {}, part));
}
