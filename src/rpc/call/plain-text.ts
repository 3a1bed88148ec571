/** Text in changes: names, ids and addresses are one line, since they go into logs, mails, headers and tables. */
import { invalid } from "../../api/check.js";

const BREAKING = /[\p{Cc}\p{Zl}\p{Zp}]/u;
/** What has lines of its own, is compared and never shown, or was named before, by others or by the caller. */
const FREE: ReadonlySet<string> = new Set(
  "content redactions metadata password newPassword userAgent endUser creditId debitId refundId".split(" "),
);

/** Throws PARAMETER_INVALID for the first field of a message, at any depth, that holds control characters. */
export function requirePlainText(message: unknown): void {
  for (const [name, value] of membersOf(message)) requirePlain(value, name);
}

function requirePlain(value: unknown, path: string): void {
  if (typeof value === "string") {
    if (BREAKING.test(value)) throw invalid(path, "must have no control characters");
  } else if (Array.isArray(value)) for (const one of value) requirePlain(one, path);
  else for (const [name, inner] of membersOf(value)) requirePlain(inner, `${path}.${name}`);
}

/** The fields of a message that are looked at, by the names that the protocol gives them. */
function membersOf(message: unknown): [string, unknown][] {
  if (typeof message !== "object" || message === null || message instanceof Uint8Array || message instanceof Date)
    return [];
  return Object.entries(message)
    .filter(([name]) => !FREE.has(name))
    .map(([name, value]) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]);
}
