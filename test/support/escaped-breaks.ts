/** Text as events of an upstream's own come out: signs that some readers take for line ends are escaped. */
export function escapedBreaks(text: string): string {
  return text.replaceAll(/[\u0085\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
