/** Prices per token as other programs write them, exactly per million. */

const FORM = /^(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i;
const MILLION_DIGITS = 6;
/** Pico-USD per token, of which a price has no parts. */
const PLACES_MAX = 6;

/** `0.00000015` or `1.5e-7` as `0.15`; undefined where it is no such price, or finer than a price may be. */
export function perMillion(text: string): string | undefined {
  const [match, whole = "", part = "", exponent = "0"] = FORM.exec(text.trim()) ?? [];
  if (match === undefined || whole + part === "") return undefined;
  const digits = whole + part;
  const shift = Number(exponent) + MILLION_DIGITS - part.length;
  if (Math.abs(shift) > 40) return undefined;
  const padded = shift >= 0 ? digits + "0".repeat(shift) : digits.padStart(1 - shift, "0");
  const at = shift >= 0 ? padded.length : padded.length + shift;
  const before = padded.slice(0, at).replace(/^0+(?=\d)/, "") || "0";
  const after = padded.slice(at).replace(/0+$/, "");
  if (after.length > PLACES_MAX) return undefined;
  return after === "" ? before : `${before}.${after}`;
}
