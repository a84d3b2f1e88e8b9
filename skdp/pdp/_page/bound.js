/* The bound on one person's privacy loss, from public numbers and her own answers.

   The same arithmetic as skdp.pdp.PublishedReport.loss; every quantile is computed
   there and comes with the page. Notation:

   q      length of her row: scaled, clipped, constant of the intercept appended
   t      margin of the published coefficients at her row
   p, h   bounds on the first and second derivative of her loss near that margin
   m      how far the noise of the releases would have to move to imitate her
   v      her share of the curvature of everybody's loss                             */

/* Return her row in the units of the coefficients, constant of the intercept last. */
function projectedRow(report, raw) {
  const { column_lower: lower, column_upper: upper } = report;
  const { column_shift: shift, column_scale: scale } = report;
  const scaled = raw.map((value, j) => {
    if (scale === null) return value;
    return (Math.min(Math.max(value, lower[j]), upper[j]) - shift[j]) / scale[j];
  });
  // by the largest entry first, so that no square leaves the range of numbers
  const largest = Math.max(...scaled.map(Math.abs));
  const length = largest === 0 ? 0 : Math.hypot(...scaled.map((v) => v / largest));
  const clip = length > report.data_norm / largest;
  const row = clip
    ? scaled.map((v) => (v / largest) * (report.data_norm / length))
    : scaled;
  return report.intercept_scaling > 0 ? [...row, report.intercept_scaling] : row;
}

/* The smaller of the two, and the limit where the value is no number. */
const capped = (limit, value) => (value < limit ? value : limit);

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

/* 1 / (1 + e^-t), without overflow and without loss of digits for very negative t. */
function sigmoid(t) {
  return t >= 0 ? 1 / (1 + Math.exp(-t)) : Math.exp(t) / (1 + Math.exp(t));
}

/* The least, over the weights of the page, of the bounds on the row's leverage. */
function leastLeverage({ directions, reciprocals }, row) {
  const sums = reciprocals[0].map(() => 0);
  reciprocals.forEach((ofDirection, j) => {
    const product = row.reduce((sum, value, i) => sum + value * directions[i][j], 0);
    ofDirection.forEach((r, w) => (sums[w] += product * product * r));
  });
  return Math.min(...sums);
}

/* Return the bound, and the numbers on the way to it.

   sign is +1 or -1 for the declared labels, 0 for any other, whose loss is 0. */
function lossBound(report, bound, raw, sign) {
  const row = projectedRow(report, raw);
  const q = Math.hypot(...row);
  const t = dot(row, report.theta);
  const grow = Math.exp(bound.margin_shift * q);
  const slope = sigmoid(-sign * t);
  const p = capped(bound.steepest, slope * grow);
  const h = capped(bound.roundest, slope * (1 - slope) * grow);
  const m = Math.hypot(
    (p * q) / bound.noise_scale,
    (h * q * q) / (bound.hessian_scale ?? Infinity),
  );
  // her weight against that of everybody else, of whom the ridge is sure
  const ridge = (h * q * q) / bound.alpha;
  const leverage = bound.leverage && leastLeverage(bound.leverage, row);
  const v = Math.min(leverage === null ? 1 : h * leverage, ridge / (1 + ridge));
  const volume = leverage === null ? Math.log1p(ridge) : -Math.log1p(-v);
  const counts = sign === 0 ? 0 : 1;
  const parts = {
    volume: bound.has_jacobian ? counts * volume : 0,
    noise: counts * m * ((bound.bend * m) / 2 + bound.slope),
    rounding: counts * bound.constant,
  };
  const sum = parts.volume + parts.noise + parts.rounding;
  const loss = capped(bound.ceiling ?? Infinity, sum);
  return { loss, parts, q, t, p, h, m, v };
}
