/** Requests to webhooks, signed as Standard Webhooks says: https://www.standardwebhooks.com. */
import { createHmac } from "node:crypto";

const PREFIX = "whsec_";
const SECRET_BYTES = 24;

/**
 * A new secret. It has letters and digits alone, since what else base64 knows would end it for those who look for
 * secrets in text, such as our own redaction.
 */
export function makeSecret(random: (byteCount: number) => Buffer): string {
  for (;;) {
    const text = random(SECRET_BYTES).toString("base64");
    if (/^[A-Za-z0-9]+$/.test(text)) return PREFIX + text;
  }
}

/** The three headers of a message, signed with each secret that is in force. */
export function signedHeaders(
  messageId: string,
  timeMs: number,
  body: Buffer,
  secrets: readonly string[],
): Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string> {
  const seconds = String(Math.floor(timeMs / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${messageId}.${seconds}.`).update(body).digest("base64")}`;
  });
  return { "webhook-id": messageId, "webhook-timestamp": seconds, "webhook-signature": signatures.join(" ") };
}
