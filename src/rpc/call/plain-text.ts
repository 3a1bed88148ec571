/** Text in changes: names, ids and addresses are one line, since they go into logs, mails, headers and tables. */
import { invalid } from "../../api/check.js";
import { snakeCase } from "../../api/field-name.js";

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
    .map(([name, value]) => (isChoice(value) ? [value.$case, value.value] : [name, value]) as [string, unknown])
    .filter(([name]) => !FREE.has(name))
    .map(([name, value]) => [snakeCase(name), value]);
}

/** One of several fields, by the name of the one that is set. */
function isChoice(value: unknown): value is { readonly $case: string; readonly value: unknown } {
  return typeof value === "object" && value !== null && "$case" in value && "value" in value;
}
