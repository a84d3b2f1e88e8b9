/* Reading the published report: nothing is computed from one that is not whole. */

const SCHEMA = "skdp.report/1";
/* What is released beside the coefficients: nothing, one statistic, two. */
const LEVELS = ["data-independent", "hessian", "gradient"];

const isText = (value) => typeof value === "string";
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const isPositive = (value) => isNumber(value) && value > 0;
const atLeastZero = (value) => isNumber(value) && value >= 0;
const isShare = (value) => atLeastZero(value) && value < 1;
const isNumbers = (value) => Array.isArray(value) && value.every(isNumber);
const isTexts = (value) => Array.isArray(value) && value.every(isText);
const isLabel = (value) => isText(value) || isNumber(value) || typeof value === "boolean";
const isRecord = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const oneOf = (...allowed) => (value) => allowed.includes(value);
const orNull = (holds) => (value) => value === null || holds(value);

/* Every statistic that goes with the coefficients, with the scale of its noise. */
const STATISTIC = {
  values: isNumbers,
  scale: isPositive,
  smoothing_scale: isPositive,
  smoothing_error: isPositive,
  smoothing_step: isPositive,
};
const isStatistic = (value) => isRecord(value) && fault(value, STATISTIC) === null;

/* Every field of a report, and what it may hold. */
const FIELDS = {
  schema: oneOf(SCHEMA),
  level: oneOf(...LEVELS),
  loss: oneOf("logistic"),
  loss_params: (value) => isRecord(value) && Object.keys(value).length === 0,
  adjacency: oneOf("add-remove", "replace-one"),
  epsilon: atLeastZero,
  delta: isShare,
  rho: orNull(isShare),
  data_norm: isPositive,
  intercept_scaling: atLeastZero,
  column_lower: orNull(isNumbers),
  column_upper: orNull(isNumbers),
  column_shift: orNull(isNumbers),
  column_scale: orNull((value) => isNumbers(value) && value.every(isPositive)),
  feature_names: orNull(isTexts),
  classes: (value) =>
    Array.isArray(value) && [1, 2].includes(value.length) && value.every(isLabel),
  alpha: isPositive,
  noise: oneOf("gaussian", "k-norm"),
  noise_scale: isPositive,
  gradient_tol: isPositive,
  smoothing_scale: isPositive,
  smoothing_error: isPositive,
  smoothing_step: isPositive,
  theta: isNumbers,
  hessian: orNull(isStatistic),
  gradient: orNull(isStatistic),
};

/* What is wrong with the fields of a record, in words; null if nothing is. */
function fault(record, fields) {
  for (const name of Object.keys(fields)) {
    if (!(name in record)) return `the field “${name}” is missing`;
    if (!fields[name](record[name])) return `the field “${name}” holds a wrong value`;
  }
  for (const name of Object.keys(record)) {
    if (!(name in fields)) return `the field “${name}” does not belong to it`;
  }
  return null;
}

/* What is wrong with fields that are right one by one. */
function misfit(report) {
  const n = report.theta.length;
  const d = n - (report.intercept_scaling > 0 ? 1 : 0);
  if (d < 1) return "the field “theta” has the wrong length";
  const scaling = ["column_lower", "column_upper", "column_shift", "column_scale"];
  if (new Set(scaling.map((name) => report[name] === null)).size > 1) {
    return "some fields of the scaling are missing";
  }
  for (const name of [...scaling, "feature_names"]) {
    if (report[name] !== null && report[name].length !== d) {
      return `the field “${name}” has the wrong length`;
    }
  }
  const released = { hessian: (n * (n + 1)) / 2, gradient: n };
  for (const [name, length] of Object.entries(released)) {
    const expected = LEVELS.indexOf(report.level) >= LEVELS.indexOf(name);
    if ((report[name] !== null) !== expected) {
      return `the field “${name}” does not go with the level`;
    }
    if (expected && report[name].values.length !== length) {
      return `the field “${name}” has the wrong length`;
    }
  }
  return null;
}

/* Adler-32 of the text, by which a report and its page recognise each other. */
function checksum(text) {
  let [a, b] = [1, 0];
  for (let i = 0; i < text.length; i += 1) {
    a = (a + text.charCodeAt(i)) % 65521;
    b = (b + a) % 65521;
  }
  return b * 65536 + a;
}

/* Return the report and its page, or throw an Error that a person can read. */
function readReport(reportText, pageText) {
  let report;
  try {
    report = JSON.parse(reportText);
  } catch {
    throw new Error("the published numbers are damaged or cut off");
  }
  if (!isRecord(report)) throw new Error("the published numbers are damaged");
  if (report.schema !== SCHEMA) {
    throw new Error(
      `this page reads reports of the form ${SCHEMA}, but this one says ` +
        `“${report.schema ?? "nothing"}”`,
    );
  }
  const wrong = fault(report, FIELDS) ?? misfit(report);
  if (wrong !== null) throw new Error(`the published numbers are not whole: ${wrong}`);
  const page = JSON.parse(pageText);
  if (page.checksum !== checksum(reportText)) {
    throw new Error("the published numbers are not those this page was made from");
  }
  // a matrix that several bounds share stands in the page once
  for (const bound of Object.values(page.bounds)) {
    bound.leverage = page.leverages[bound.leverage] ?? null;
  }
  return { report, page };
}
