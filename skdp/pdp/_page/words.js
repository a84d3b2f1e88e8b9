/* Numbers and bounds in words and pictures.

   Texts from the report and from the curator enter the document as text nodes only. */

const byId = (id) => document.getElementById(id);

/* Make an element; attributes whose value is null are left out. */
function make(tag, attributes = {}, ...children) {
  const picture = tag === "svg" || tag === "rect";
  const node = picture
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/* --- numbers in words: always rounded up, since every one is an upper bound --- */

/* How sure somebody can become who starts with probability `prior`. */
const certainty = (loss, prior = 0.5) =>
  prior / (prior + (1 - prior) * Math.exp(-loss));

const percent = (share) => `${(Math.ceil(1000 * share - 1e-9) / 10).toFixed(1)} %`;

/* Three digits, not below the number. */
function roundUp(number) {
  if (number === 0 || !Number.isFinite(number)) return String(number);
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(number))) - 2);
  return String(Number((Math.ceil(number / unit - 1e-9) * unit).toPrecision(3)));
}

/* As many digits as can be trusted. */
const digits = (number) => String(Number(number.toPrecision(12)));

function oneIn(probability) {
  const n = Math.floor(1 / probability + 1e-6);
  return n < 1e15 ? `1 in ${n.toLocaleString("en")}` : String(probability);
}

/* --- the answer in words --- */

const OF_WHAT = {
  member: "that you were",
  "non-member": "that you were not",
  either: "that you were, or that you were not",
};

function verdict(loss, sign, kind) {
  return [
    sign === 0 ? "Records with another label do not count in this model. " : "",
    "An attacker who is 50 % sure that you were in the data can become at most ",
    make("strong", {}, `${percent(certainty(loss))} sure`),
    ` ${OF_WHAT[kind]}.`,
  ];
}

/* A bar of the attacker's certainty, from a coin toss (empty) to certain (full). */
function bar(title, loss, name) {
  const width = Math.min(100, Math.max(0.8, 200 * (certainty(loss) - 0.5)));
  return make(
    "div",
    { class: "bar" },
    make(
      "p",
      {},
      make("span", {}, title),
      make("span", {}, `at most ${percent(certainty(loss))} sure`),
    ),
    make(
      "svg",
      { height: 14, "aria-hidden": "true" },
      make("rect", { class: "track", width: "100%", height: 14, rx: 7 }),
      make("rect", { class: name, width: `${width.toFixed(2)}%`, height: 14, rx: 7 }),
    ),
  );
}

function picture(report, loss) {
  return [
    bar("You", loss, "yours"),
    bar("The worst case for anybody", report.epsilon, "worst"),
    make(
      "div",
      { class: "axis" },
      make("span", {}, "50 %: a coin toss"),
      make("span", {}, "100 %: certain"),
    ),
  ];
}

/* Term and explanation of every number that goes with the bound. */
function facts(report, page, loss) {
  const between =
    report.adjacency === "add-remove"
      ? "whatever their values"
      : "for telling their record from any other in its place";
  const list = [
    [
      `Your privacy loss: at most ${roundUp(loss)}`,
      "The logarithm of the factor by which the attacker’s odds can grow; to be " +
        "compared with epsilon.",
    ],
    [
      `Worst case: epsilon = ${roundUp(report.epsilon)}`,
      `The same for anybody, promised before the model was made, ${between}.`,
    ],
  ];
  if (report.delta > 0) {
    list.push([
      `delta = ${report.delta}`,
      "Whatever an attacker looks for in the model, its probability can differ by " +
        `${oneIn(report.delta)} beyond what epsilon allows.`,
    ]);
  }
  const name = report.rho === null ? "Probability of failure below" : "rho =";
  list.push([
    `${name} ${page.failure}`,
    "Your own bound depends on the noise in the model: with a probability of at most " +
      `${oneIn(page.failure)}, the noise falls so that your bound does not hold. That is ` +
      "for a record that was fixed before the model was made, such as your own; it " +
      "does not cover one that somebody picks, among many, after a look at the model.",
  ]);
  return list.flatMap(([term, text]) => [make("dt", {}, term), make("dd", {}, text)]);
}

/* A table with headed columns and rows; the foot repeats the kind of a row. */
function table(caption, head, rows, foot) {
  const cells = (row, tag) =>
    row.map((cell, i) =>
      tag === "th"
        ? make("th", { scope: "col" }, cell)
        : make(i ? "td" : "th", i ? {} : { scope: "row" }, cell),
    );
  const line = (row, tag) => make("tr", {}, ...cells(row, tag));
  return make(
    "table",
    {},
    make("caption", {}, caption),
    make("thead", {}, line(head, "th")),
    make("tbody", {}, ...rows.map((row) => line(row, "td"))),
    foot ? make("tfoot", {}, line(foot, "td")) : "",
  );
}

function priors(loss, kind) {
  const rows = [0.01, 0.1, 0.5, 0.9, 0.99].map((prior) => [
    `${100 * prior} %`,
    percent(certainty(loss, prior)),
  ]);
  return table(
    `How sure the attacker can be ${OF_WHAT[kind]}`,
    ["Before seeing the model", "After, at most"],
    rows,
  );
}

/* Every number between the answers and the bound, for those who want to check it. */
function method(report, bound, result) {
  const gaussian = report.noise === "gaussian";
  const byHessian = bound.hessian_scale !== null;
  const parts = {
    volume: "Your share of the curvature: −log(1 − v)",
    noise: gaussian ? "The noise around you: m (m / 2 + z)" : "The noise around you: m",
    rounding: "Rounding, the same for everybody",
  };
  const values = [
    ["Length of your row, scaled and clipped: q", result.q],
    ["Margin of the model at your row: t", result.t],
    ["Slope of your loss there, at most: p", result.p],
    ["Curvature of your loss there, at most: h", result.h],
    ["Your share of the curvature of all, at most: v", result.v],
    ["Scale of the noise on gradients: s", bound.noise_scale],
    ...(byHessian ? [["Scale of the noise on curvatures: u", bound.hessian_scale]] : []),
    [
      `Your distance in units of noise: m = ${byHessian ? "|(p q / s, h q² / u)|" : "p q / s"}`,
      result.m,
    ],
    ...(gaussian ? [["Quantile of the noise: z", bound.slope]] : []),
  ];
  const sum = Object.entries(result.parts).map(([name, value]) => [parts[name], value]);
  const isCapped = bound.ceiling !== null && result.loss === bound.ceiling;
  const inText = (rows) => rows.map(([name, value]) => [name, digits(value)]);
  return [
    table("From your answers", ["Number", "Value"], inText(values)),
    table("The bound is a sum", ["Part", "Privacy loss"], inText(sum), [
      isCapped ? "Your bound: the worst case, which is less" : "Your bound",
      make("span", { id: "exact" }, digits(result.loss)),
    ]),
  ];
}
