/** Prices per token or per query as other programs write them, exactly per million or per thousand. */

const FORM = /^(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i;
const MILLION_DIGITS = 6;
const THOUSAND_DIGITS = 3;
/** Prices are whole pico-USD (10^-12). */
const PICO_DIGITS = 12;

/** `0.00000015` or `1.5e-7` as `0.15`; undefined where it is no such price, or finer than a price may be. */
export function perMillion(text: string): string | undefined {
  return times(text, MILLION_DIGITS);
}

/** The same per thousand: `0.002` as `2`. */
export function perThousand(text: string): string | undefined {
  return times(text, THOUSAND_DIGITS);
}

function times(text: string, moved: number): string | undefined {
  const [match, whole = "", part = "", exponent = "0"] = FORM.exec(text.trim()) ?? [];
  if (match === undefined || whole + part === "") return undefined;
  const digits = whole + part;
  const shift = Number(exponent) + moved - part.length;
  if (Math.abs(shift) > 40) return undefined;
  const padded = shift >= 0 ? digits + "0".repeat(shift) : digits.padStart(1 - shift, "0");
  const at = shift >= 0 ? padded.length : padded.length + shift;
  const before = padded.slice(0, at).replace(/^0+(?=\d)/, "") || "0";
  const after = padded.slice(at).replace(/0+$/, "");
  if (after.length > PICO_DIGITS - moved) return undefined;
  return after === "" ? before : `${before}.${after}`;
}
