/** Takes out of an upstream's words what a client may not read: credentials, places, and pages of HTML. */
import { withoutSecrets } from "../../base/redaction.js";

const MESSAGE_CHARACTERS_MAX = 2000;

/** The last part of a host's name, in the world and inside a company. */
const DOMAINS =
  "com|ai|net|org|io|dev|cloud|app|co|eu|us|uk|de|fr|cn|jp|in|" +
  "internal|intranet|local|localdomain|lan|corp|svc|cluster";
const HOST = new RegExp(`\\b(?:[a-z0-9_-]{1,63}\\.){1,16}(?:${DOMAINS})\\b(?::\\d{1,5})?(?:/[^\\s"'<>)\\]]*)?`, "gi");

/**
 * Credentials without a prefix, such as a secret of Amazon's and keys in hex, and what is left of one that an
 * upstream shows in part. The log keeps what looks so: digests, traces, and the hints of keys of ours.
 */
const BARE_SECRETS: readonly RegExp[] = [
  /(?<![\w/+-])(?=[a-z0-9/+]*[A-Z])(?=[A-Z0-9/+]*[a-z])(?=[A-Za-z/+]*\d)[A-Za-z0-9/+]{40}(?![\w/+=-])/g,
  /(?<![a-z0-9])[0-9a-f]{32,}(?![a-z0-9])/gi,
  /\bsk-[\w-]{0,4}\.{3}\w{0,4}/g,
];

/**
 * Where an upstream stands, and who we are to it: addresses, hosts, paths of files, organisations and projects. What
 * comes before the sign that tells one is bounded: an upstream may write text that looks like the beginning of one at
 * every character.
 */
const PLACES: readonly RegExp[] = [
  /\b[a-z][a-z0-9+.-]{0,30}:\/\/(?:\[redacted\]|\[[\d:a-f]+\]|[^\s"'<>)\]])+/gi,
  /\barn:aws[\w-]*:[^\s"'<>)\]]+/g,
  /\b(?:org|proj|acct|key|tok)[-_][A-Za-z0-9]{8,}/g,
  // Of version 6, in brackets with whatever zone, or with two colons at least.
  /\[(?=[^\]:]{0,4}:[^\]:]{0,4}:)[0-9a-f:.]{2,45}(?:%[\w.%-]{1,60})?\](?::\d{1,5})?/gi,
  /(?<![\w.:])(?=[0-9a-f]{0,4}:[0-9a-f]{0,4}:[0-9a-f.:])[0-9a-f:.]{3,45}(?:%[\w-]{1,60})?(?![\w:])/gi,
  /\b\d{1,3}(\.\d{1,3}){3}(:\d{1,5})?\b/g,
  /\b(?=[a-z0-9.-]{0,99}[a-z])[a-z0-9][a-z0-9.-]{0,99}:\d{2,5}\b/gi,
  /\blocalhost\b/gi,
  HOST,
  /(?<![\w.\]])(?:\/[\w.@%+~-]+){2,}\/?(?::\d+)?/g,
  /\b[A-Z]:\\[\w.\\ -]+/g,
];

/** The text, bounded and without secrets; empty where it is HTML. */
export function redacted(text: string): string {
  if (/^\s*<(!doctype|html|head|body|\?xml)/i.test(text)) return "";
  // Cut between two replacements: half a credential at the end would have no shape any more.
  let clean = withoutSecrets(text.slice(0, 4 * MESSAGE_CHARACTERS_MAX));
  for (const found of BARE_SECRETS) clean = clean.replace(found, "[redacted]");
  for (const place of PLACES) clean = clean.replace(place, "[redacted]");
  return clean.slice(0, MESSAGE_CHARACTERS_MAX).trim();
}

const PAGE_CHARACTERS_MAX = 4_000;

/** A page of HTML, or any other body, as one line of text, bounded and without secrets. */
export function textOfPage(body: string): string {
  const begin = body.slice(0, PAGE_CHARACTERS_MAX);
  // A cut may leave a part of a credential, which has no shape any more.
  const whole = begin.length === body.length ? begin : begin.replace(/[^\s<>]*$/, "");
  const text = whole.replace(/<(?:[^<>"]|"[^"]*")*>/g, " ");
  return redacted(text.replace(/\s+/g, " ").trim());
}

/**
 * A name that an upstream told, such as a code, a status or the path of a field; empty where it is anything longer or
 * stranger, or holds what a client may not read. Whatever an upstream says reaches a client by this or by `redacted`.
 */
export function toldName(value: unknown, charactersMax = 100): string {
  if (typeof value !== "string" || value.length > charactersMax) return "";
  return /^[\w.[\]$/ -]+$/.test(value) && redacted(value) === value ? value : "";
}
