/** What an upstream's refusals mean for our client, before an answer and amid one. */
import type { GatewayError } from "../../base/errors.js";
import { objectOf, parsed, textOf } from "../json/value.js";
import { redacted } from "../error/redact.js";
import { retryAfterMs } from "../error/retry-after.js";
import { kindOfStatus, type RefusalKind, refusalByWords, refusalText } from "../error/upstream-refusal.js";

/** What each kind of error means, whatever status it comes with. */
const KINDS: ReadonlyMap<string, RefusalKind> = new Map<string, RefusalKind>([
  ["validation", "request"],
  // An account is given access model by model: the upstream's other models may well answer.
  ["accessdenied", "access"],
  ["unrecognizedclient", "credential"],
  ["invalidsignature", "credential"],
  ["signaturedoesnotmatch", "credential"],
  ["expiredtoken", "credential"],
  ["incompletesignature", "credential"],
  ["missingauthenticationtoken", "credential"],
  ["invalidclienttokenid", "credential"],
  ["notauthorized", "credential"],
  ["optinrequired", "credential"],
  ["requestexpired", "credential"],
  ["resourcenotfound", "model"],
  ["modeltimeout", "timeout"],
  ["throttling", "rate"],
  ["toomanyrequests", "rate"],
  ["servicequotaexceeded", "rate"],
  ["modelnotready", "rate"],
  ["modelerror", "failure"],
  ["modelstreamerror", "failure"],
  ["internalserver", "failure"],
  ["internalfailure", "failure"],
  ["serviceunavailable", "unavailable"],
]);

/** What an upstream's error answer means. Never tells the upstream's key, address or HTML. */
export function decodeError(status: number, headers: Readonly<Record<string, string>>, body: Buffer): GatewayError {
  const text = refusalText(body);
  const said = objectOf(parsed(text));
  const name = headers["x-amzn-errortype"] ?? textOf(said?.["__type"]);
  return refusal(name, status, messageIn(said), retryAfterMs(headers, text));
}

/** What an exception amid a stream means: nothing but its name tells how bad it is. */
export function decodeToldError(name: string, payload: Buffer): GatewayError {
  return refusal(name, 0, messageIn(objectOf(parsed(payload.toString("utf8")))), undefined);
}

function messageIn(said: ReturnType<typeof objectOf>): string {
  const message = textOf(said?.["message"]) || textOf(said?.["Message"]);
  return redacted(message.replaceAll(/\barn:aws[\w-]*:\S+/g, "[redacted]"));
}

function refusal(name: string, status: number, message: string, waitMs: number | undefined): GatewayError {
  const word = wordOf(name);
  const kind = KINDS.get(word.replace(/Exception$|Error$/, "").toLowerCase()) ?? kindOfStatus(status);
  const said = { status, names: [word], message, param: "", code: "", contextParam: "messages", waitMs };
  return refusalByWords({ ...said, kind });
}

/** The name without the namespace before it and the address behind it. */
function wordOf(name: string): string {
  const word = name.split(":")[0]?.split("#").at(-1) ?? "";
  return /^[A-Za-z]{1,60}$/.test(word) ? word : "";
}
