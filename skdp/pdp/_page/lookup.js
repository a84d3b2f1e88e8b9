/* The page as a whole: it asks, computes, and shows. */

const KIND = {
  label: "Were you in the data?",
  help: "Whichever you choose, the answer stays here.",
  preset: 2,
  answers: [
    ["I was in the data", "member"],
    ["I was not", "non-member"],
    ["I do not know, or would rather not say", "either"],
  ],
};

class Page {
  constructor(report, page) {
    this.report = report;
    this.page = page;
    this.values = page.questions.map((question, i) => new Field(question, `value${i}`));
    this.label = new Field(page.label, "label");
    this.kind = new Field(KIND, "kind");
    this.fields = [...this.values, this.label, this.kind];
    byId("values").append(...this.values.map((field) => field.node));
    byId("about").append(this.label.node, this.kind.node);
    byId("numbers").textContent = Object.entries(report)
      .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
      .join("\n");
    this.listen();
  }

  listen() {
    const form = byId("form");
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.answer();
    });
    form.addEventListener("reset", () => {
      this.fields.forEach((field) => field.clear());
      this.withdraw("Your answers are cleared.");
    });
    // a result belongs to the answers above it, never to earlier ones
    form.addEventListener("input", () => {
      if (!byId("result").hidden) this.withdraw("");
    });
    this.openForPrint([...document.querySelectorAll("details")]);
  }

  /* On paper nothing can be unfolded. */
  openForPrint(details) {
    let open = [];
    window.addEventListener("beforeprint", () => {
      open = details.map((one) => one.open);
      details.forEach((one) => (one.open = true));
    });
    window.addEventListener("afterprint", () => {
      details.forEach((one, i) => (one.open = open[i]));
    });
  }

  withdraw(message) {
    byId("result").hidden = true;
    byId("announce").textContent = message;
  }

  /* The row of raw values, in the order of the columns. */
  row(answers) {
    const raw = new Array(this.page.n_features).fill(0);
    this.values.forEach(({ question }, i) => {
      const pairs = question.answers ? answers[i] : [[question.column, answers[i]]];
      pairs.forEach(([column, value]) => (raw[column] = value));
    });
    return raw;
  }

  answer() {
    const answers = this.fields.map((field) => field.read());
    const wrong = this.fields.filter((_, i) => answers[i] === null);
    if (wrong.length > 0) {
      const many = wrong.length > 1 ? "answers need" : "answer needs";
      this.withdraw(`${wrong.length} ${many} another look.`);
      wrong[0].first.focus();
      return;
    }
    const [sign, kind] = answers.slice(-2);
    const bound = this.page.bounds[kind];
    const result = lossBound(this.report, bound, this.row(answers), sign);
    byId("verdict").replaceChildren(...verdict(result.loss, sign, kind));
    this.show(result, bound, kind);
  }

  show(result, bound, kind) {
    const { report, page } = this;
    byId("picture").replaceChildren(...picture(report, result.loss));
    byId("facts").replaceChildren(...facts(report, page, result.loss));
    byId("priors").replaceChildren(priors(result.loss, kind));
    byId("method").replaceChildren(...method(report, bound, result));
    byId("result").hidden = false;
    byId("announce").textContent = byId("verdict").textContent;
    byId("result").scrollIntoView({ block: "nearest" });
  }
}

function start() {
  try {
    const { report, page } = readReport(
      byId("report").textContent,
      byId("page").textContent,
    );
    new Page(report, page);
  } catch (error) {
    byId("trouble").textContent =
      `This page cannot compute your bound: ${error.message}. Ask whoever gave you ` +
      "this file for a new copy.";
    byId("trouble").hidden = false;
  }
}

start();
