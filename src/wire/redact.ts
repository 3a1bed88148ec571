/** Takes out of an upstream's words what a client may not read: credentials, addresses, and pages of HTML. */

const MESSAGE_CHARACTERS_MAX = 2000;

const SECRETS: readonly RegExp[] = [
  /\bhttps?:\/\/[^\s"'<>)\]]+/gi,
  /\bBearer\s+\S+/gi,
  /\b(sk|pk|rk|gsk|xai|hf|r8|key|tok)[-_][A-Za-z0-9_*.-]{6,}/g,
  /\bAIza[\w-]{10,}/g,
  /\b(org|proj)[-_][A-Za-z0-9]{8,}/g,
  /\b\d{1,3}(\.\d{1,3}){3}(:\d{1,5})?\b/g,
  /\b([a-z0-9-]+\.)+(com|ai|net|org|io|dev|cloud|internal|local)\b(:\d{1,5})?(\/[^\s"'<>)\]]*)?/gi,
];

/** The text, bounded and without secrets; empty where it is HTML. */
export function redacted(text: string): string {
  if (/^\s*<(!doctype|html|head|body|\?xml)/i.test(text)) return "";
  let clean = text.slice(0, 2 * MESSAGE_CHARACTERS_MAX);
  for (const secret of SECRETS) clean = clean.replace(secret, "[redacted]");
  return clean.slice(0, MESSAGE_CHARACTERS_MAX).trim();
}
