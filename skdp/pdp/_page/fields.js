/* Questions on the page, and what was answered. */


const FEW_ANSWERS = 5;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function rangeText({ min = null, max = null }) {
  if (min !== null && max !== null) return `from ${min} to ${max}`;
  if (min !== null) return `at least ${min}`;
  return max === null ? "" : `at most ${max}`;
}

function hintText(question) {
  const range = [question.unit, rangeText(question)].filter(Boolean).join(", ");
  const start = range && range[0].toUpperCase() + range.slice(1) + ".";
  return [start, question.help].filter(Boolean).join(" ");
}

/* A question on the page: `node` to show, `read()` for the answer or null. */
class Field {
  constructor(question, id) {
    this.question = question;
    this.id = id;
    this.error = make("p", { class: "error", id: `${id}-error` });
    this.hint = make("p", { class: "hint", id: `${id}-hint` }, hintText(question));
    if (!question.answers) this.makeNumber();
    else if (question.answers.length <= FEW_ANSWERS) this.makeOptions();
    else this.makeSelect();
    this.control.setAttribute("aria-describedby", `${id}-hint ${id}-error`);
  }

  makeNumber() {
    // the number pads of some phones have no minus sign
    const pad = this.question.min !== null && this.question.min >= 0;
    this.control = this.first = make("input", {
      id: this.id,
      type: "text",
      inputmode: pad ? "decimal" : "text",
      autocomplete: "off",
      spellcheck: "false",
      required: "",
    });
    this.frame(this.makeLabel());
  }

  makeSelect() {
    const options = this.question.answers.map(([text], i) =>
      make("option", { value: i }, text),
    );
    this.control = this.first = make(
      "select",
      { id: this.id, autocomplete: "off", required: "" },
      make("option", { value: "" }, "Choose one"),
      ...options,
    );
    this.frame(this.makeLabel());
  }

  makeOptions() {
    this.radios = this.question.answers.map((_, i) =>
      make("input", {
        id: `${this.id}-${i}`,
        type: "radio",
        name: this.id,
        value: i,
        autocomplete: "off",
        required: "",
        checked: this.question.preset === i ? "" : null,
      }),
    );
    this.first = this.radios[0];
    const rows = this.radios.map((radio, i) =>
      make(
        "label",
        { class: "option", for: radio.id },
        radio,
        make("span", {}, this.question.answers[i][0]),
      ),
    );
    this.control = make(
      "div",
      { class: "options", role: "radiogroup", "aria-labelledby": `${this.id}-label` },
      ...rows,
    );
    const { label } = this.question;
    this.frame(make("p", { class: "question", id: `${this.id}-label` }, label));
  }

  makeLabel() {
    return make("label", { class: "question", for: this.id }, this.question.label);
  }

  frame(label) {
    const below = [this.hint, this.error, this.control];
    this.node = make("div", { class: "field" }, label, ...below);
  }

  /* Return the answer: a number, or what the chosen answer stands for. */
  read() {
    const { value, message } = this.question.answers ? this.chosen() : this.typed();
    this.error.textContent = message ?? "";
    this.control.setAttribute("aria-invalid", message === undefined ? "false" : "true");
    return message === undefined ? value : null;
  }

  chosen() {
    const picked = this.radios
      ? this.radios.findIndex((radio) => radio.checked)
      : Number(this.control.value || -1);
    if (picked < 0) return { message: "Choose one of the answers." };
    return { value: this.question.answers[picked][1] };
  }

  typed() {
    const text = this.control.value.trim().replace("\u2212", "-");
    const range = rangeText(this.question);
    const joined = range.startsWith("at") ? ` of ${range}` : range && ` ${range}`;
    const wanted = `Enter a number${joined}`;
    if (text === "") return { message: `${wanted}.` };
    if (!NUMBER.test(text) || !Number.isFinite(Number(text))) {
      return { message: `${wanted}, with digits and a point only, such as 1234.5.` };
    }
    const value = Number(text);
    const { min, max } = this.question;
    const outside = (min !== null && value < min) || (max !== null && value > max);
    return outside ? { message: `${wanted}.` } : { value };
  }

  clear() {
    this.error.textContent = "";
    this.control.removeAttribute("aria-invalid");
  }
}
