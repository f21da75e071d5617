// Sums of decimal text, exact. Money of the log is decimal strings; floating point would make cents of it.

/** "0.1" + "0.25" = "0.35"; text that is no plain decimal counts as nothing. */
export function plus(a: string, b: string): string {
  const [x, y] = [parts(a), parts(b)];
  const places = Math.max(x.places, y.places);
  return written(scaled(x, places) + scaled(y, places), places);
}

/** a - b. */
export function minus(a: string, b: string): string {
  const y = parts(b);
  return plus(a, written(-y.digits, y.places));
}

export function isZero(a: string): boolean {
  return parts(a).digits === 0n;
}

/** Rounded half away from zero to so many places, trailing zeros kept. */
export function rounded(a: string, places: number): string {
  const x = parts(a);
  if (x.places <= places) return written(scaled(x, places), places);
  const unit = 10n ** BigInt(x.places - places);
  const half = unit / 2n;
  const whole = x.digits < 0n ? -((-x.digits + half) / unit) : (x.digits + half) / unit;
  return written(whole, places);
}

interface Scaled {
  digits: bigint;
  places: number;
}

const PLAIN = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

function parts(text: string): Scaled {
  const match = PLAIN.exec(text.trim());
  if (!match || (!match[2] && !match[3])) return { digits: 0n, places: 0 };
  const fraction = match[3] ?? "";
  let digits = BigInt((match[2] ?? "") + fraction || "0");
  let places = fraction.length - Number(match[4] ?? 0);
  if (places < 0) {
    digits *= 10n ** BigInt(-places);
    places = 0;
  }
  return { digits: match[1] === "-" ? -digits : digits, places };
}

function scaled(value: Scaled, places: number): bigint {
  return value.digits * 10n ** BigInt(places - value.places);
}

function written(digits: bigint, places: number): string {
  const sign = digits < 0n ? "-" : "";
  const text = (digits < 0n ? -digits : digits).toString().padStart(places + 1, "0");
  return places === 0 ? sign + text : `${sign}${text.slice(0, -places)}.${text.slice(-places)}`;
}
