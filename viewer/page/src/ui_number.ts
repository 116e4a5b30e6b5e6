/* Numbers as people of the trade write them: three significant digits, SI prefixes, a real minus sign.
 * The number of digits does not depend on the value, so that (with digits of equal width) text does
 * not tremble while a run plays. */

const MINUS = "\u2212";
const THIN = "\u202f"; // between number and unit, never broken
const NONE = "\u2013"; // nothing was measured
const PREFIXES = ["f", "p", "n", "µ", "m", "", "k", "M", "G", "T"];
const SMALLEST = -15;
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

function signed(text: string): string {
  return text.replace("-", MINUS);
}

/** Fixed decimals with a real minus, and no "−0.00". */
export function fixed(value: number, decimals: number): string {
  if (Number.isNaN(value)) return NONE;
  if (!Number.isFinite(value)) return value > 0 ? "∞" : MINUS + "∞";
  const text = value.toFixed(decimals);
  return signed(/^-0\.?0*$/.test(text) ? text.slice(1) : text);
}

function significant(value: number, digits: number): string {
  const whole = Math.max(1, Math.floor(Math.log10(Math.abs(value)) + 1e-12) + 1);
  return fixed(value, Math.max(0, digits - whole));
}

/** 6.42e-5 m: "64.2 µm". Grams instead of fractions of a kilogram; squares and the like get no prefix. */
export function si(value: number, unit: string, digits = 3): string {
  if (Number.isNaN(value)) return NONE;
  if (!Number.isFinite(value)) return fixed(value, 0) + THIN + unit;
  if (unit === "kg") return kilograms(value, digits);
  if (Math.abs(value) < 10 ** SMALLEST * 0.005) return "0" + THIN + unit;
  const rounded = Number(value.toPrecision(digits));
  let exponent = Math.floor(Math.log10(Math.abs(rounded)) / 3 + 1e-12) * 3;
  exponent = Math.max(SMALLEST, Math.min(12, exponent));
  const prefix = PREFIXES[(exponent - SMALLEST) / 3];
  return significant(rounded / 10 ** exponent, digits) + THIN + prefix + unit;
}

function kilograms(value: number, digits: number): string {
  if (value === 0 || Math.abs(value) >= 1) {
    const text = Math.abs(value) >= 1e6 ? plain(value, digits) : significant(value || 1e-9, digits);
    return (value === 0 ? "0" : text) + THIN + "kg";
  }
  return si(value * 1000, "g", digits);
}

/** Several values with one prefix: "21.6  18.9  3.10 g m²". The unit may begin with kg. */
export function siList(values: number[], unit: string, digits = 3): string {
  const grams = unit.startsWith("kg");
  const base = grams ? unit.slice(1) : unit;
  const sizes = values.map((value) => (grams ? 1000 * value : value));
  const largest = Math.max(...sizes.map(Math.abs));
  if (!Number.isFinite(largest)) return NONE;
  let exponent =
    largest > 0 ? Math.floor(Math.log10(Number(largest.toPrecision(digits))) / 3 + 1e-12) * 3 : grams ? 3 : 0;
  exponent = Math.max(SMALLEST, Math.min(grams ? 3 : 12, exponent));
  const first = largest / 10 ** exponent;
  const decimals = Math.max(0, digits - Math.max(1, Math.floor(Math.log10(Math.max(first, 1))) + 1));
  const texts = sizes.map((value) => fixed(value / 10 ** exponent, decimals));
  return `${texts.join("  ")}${THIN}${PREFIXES[(exponent - SMALLEST) / 3]}${base}`;
}

/** Texts of evenly spaced marks of an axis: one prefix, and as many decimals as the step needs. */
export function tickTexts(marks: number[], unit: string): string[] {
  const largest = Math.max(...marks.map(Math.abs));
  const step = marks.length > 1 ? Math.abs(marks[1] - marks[0]) : largest;
  if (!(largest > 0)) return marks.map(() => "0");
  if (unit === "count") return marks.map(count);
  const prefixed = unit !== "";
  let exponent = Math.floor(Math.log10(largest) / 3 + 1e-9) * 3;
  exponent = prefixed ? Math.max(SMALLEST, Math.min(12, exponent)) : 0;
  const decimals = Math.min(6, Math.max(0, -Math.floor(Math.log10(step / 10 ** exponent) + 1e-9)));
  const suffix = prefixed ? THIN + PREFIXES[(exponent - SMALLEST) / 3] + unit : "";
  return marks.map((mark) =>
    Math.abs(mark) < step * 1e-6 ? "0" : fixed(mark / 10 ** exponent, decimals) + suffix,
  );
}

/** A bound: 10⁻⁸ rather than 1.00 × 10⁻⁸. */
export function boundary(value: number, unit: string): string {
  const exponent = Math.log10(value);
  if (unit === "" && Math.abs(exponent - Math.round(exponent)) < 1e-6)
    return powerOfTen(Math.round(exponent));
  return quantity(value, unit, 2);
}

/** Without a unit: 0.123, 12.3, 9.65 × 10⁻⁹. */
export function plain(value: number, digits = 3): string {
  if (Number.isNaN(value)) return NONE;
  if (!Number.isFinite(value)) return fixed(value, 0);
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 0.01 && size < 10000) {
    return size < 1 ? fixed(value, digits) : significant(value, digits);
  }
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  return signed(mantissa) + THIN + "×" + THIN + "10" + superscript(Number(exponent));
}

function superscript(exponent: number): string {
  const digits = String(Math.abs(exponent)).replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)]);
  return (exponent < 0 ? "⁻" : "") + digits;
}

export function powerOfTen(exponent: number): string {
  return "10" + superscript(exponent);
}

/** As short as it gets: 7.2e−9. */
export function compact(value: number): string {
  if (!Number.isFinite(value) || value === 0) return plain(value);
  return signed(value.toExponential(1).replace("+", ""));
}

/** Counts with thin spaces between thousands. */
export function count(value: number): string {
  if (Number.isNaN(value)) return NONE;
  return String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, THIN);
}

/** With a prefix if the unit takes one, else as a plain number. */
export function quantity(value: number, unit: string, digits = 3): string {
  if (unit === "") return plain(value, digits);
  if (unit === "count") return count(value);
  return si(value, unit, digits);
}

/** Seconds on the time line: as many decimals as frames need. */
export function seconds(time: number, span: number): string {
  return fixed(time, span >= 1000 ? 1 : span >= 100 ? 2 : 3) + THIN + "s";
}

export function radiansInDegrees(angle: number): string {
  return fixed((angle * 180) / Math.PI, 2) + "°";
}

/** Steps of time are best known by their rate: 4.17 ms. */
export function stepLength(step: number): string {
  return si(step, "s");
}

/** Round values between two limits, about `wanted` of them: 1, 2 or 5 times a power of ten. */
export function ticks(low: number, high: number, wanted: number): number[] {
  const raw = (high - low) / Math.max(1, wanted);
  if (!(raw > 0) || !Number.isFinite(raw)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw * 0.72) ?? raw;
  const values: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) values.push(i * step + 0); // no −0
  return values;
}
