/** Takes secrets out of text that leaves the process: log lines above all. */

// Keys of clients and upstreams, bearer tokens, and credentials in addresses.
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\b(sk|pk|rk|gsk|xai)-[A-Za-z0-9_-]{8,}/g, "$1-[redacted]"],
  [/\bAIza[A-Za-z0-9_-]{20,}/g, "[redacted]"],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, "$1 [redacted]"],
  [/(:\/\/)[^/\s:@"]+:[^/\s@"]+@/g, "$1[redacted]@"],
  [/([?&](?:key|api_key|token|secret)=)[^&\s"]+/gi, "$1[redacted]"],
];

// What each of them begins with. Nearly every line has none of it, and one look costs less than five replacements.
const TRACE = /(?:[spr]k|xai)-|AIza|bearer\s|basic\s|:\/\/|[?&](?:key|api_key|token|secret)=/i;

/** The text without its secrets. */
export function redact(text: string): string {
  if (!TRACE.test(text)) return text;
  let clean = text;
  for (const [pattern, replacement] of SECRETS) clean = clean.replace(pattern, replacement);
  return clean;
}
