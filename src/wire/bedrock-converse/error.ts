/** What an upstream's refusals mean for our client, before an answer and amid one. */
import { type ErrorMetadata, GatewayError, type ReasonName } from "../../errors.js";
import { objectOf, parsed, textOf } from "../json/value.js";
import { redacted } from "../redact.js";
import { retryAfterMs } from "../retry-after.js";

const BODY_BYTES_MAX = 64 * 1024;

/** What the makers of the models say, passed on; that Bedrock's own words are the first ones is remembered. */
const CONTEXT_TOO_LONG =
  /(input|prompt) is too long|too many (input )?tokens|exceeds? the .{0,40}context|maximum context length/i;
/** A validation that is about the model's name and not about what is asked of it; remembered too. */
const MODEL_UNKNOWN = /model identifier is invalid|could not (resolve|find) the foundation model/i;
const PASSED = /(security token|signature|credentials?).{0,60}(expired|invalid|not match|incorrect)/i;

/** What each kind of error means, whatever status it comes with. */
const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ["validation", "request"],
  ["accessdenied", "denied"],
  ["unrecognizedclient", "credential"],
  ["invalidsignature", "credential"],
  ["signaturedoesnotmatch", "credential"],
  ["expiredtoken", "credential"],
  ["incompletesignature", "credential"],
  ["missingauthenticationtoken", "credential"],
  ["resourcenotfound", "model"],
  ["modeltimeout", "timeout"],
  ["throttling", "wait"],
  ["toomanyrequests", "wait"],
  ["servicequotaexceeded", "wait"],
  ["modelnotready", "wait"],
  ["modelerror", "failed"],
  ["modelstreamerror", "failed"],
  ["internalserver", "failed"],
  ["internalfailure", "failed"],
  ["serviceunavailable", "unavailable"],
]);

type Kind = "request" | "credential" | "denied" | "model" | "timeout" | "wait" | "failed" | "unavailable";

/** What an upstream's error answer means. Never tells the upstream's key, address or HTML. */
export function decodeError(status: number, headers: Readonly<Record<string, string>>, body: Buffer): GatewayError {
  const text = body.subarray(0, BODY_BYTES_MAX).toString("utf8");
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
  const kind = kindOf(name, status);
  // The log gets names alone: an upstream's sentence may repeat the prompt, or the credential.
  const known = wordOf(name);
  const cause = new Error(`the upstream said ${`${status === 0 ? "" : status} ${known}`.trim()}`);
  const refuse = (reason: ReasonName, metadata: ErrorMetadata = {}): GatewayError =>
    new GatewayError(reason, metadata, { cause });
  const wait: ErrorMetadata = waitMs === undefined ? {} : { retry_after_ms: String(waitMs) };
  switch (kind) {
    case "request":
      return ofRequest(message, refuse);
    case "credential":
      return refuse("ERROR_REASON_UPSTREAM_FAILED", { problem: "its credential was refused", credential: "refused" });
    case "denied":
      // An account is given access model by model: the upstream's other models may well answer.
      return refuse("ERROR_REASON_UPSTREAM_FAILED", { problem: "it gives us no access to the model" });
    case "model":
      return refuse("ERROR_REASON_MODEL_UNKNOWN");
    case "timeout":
      return refuse("ERROR_REASON_UPSTREAM_TIMEOUT");
    case "wait":
      return refuse("ERROR_REASON_UPSTREAM_RATE_LIMITED", wait);
    case "unavailable":
      return refuse("ERROR_REASON_UPSTREAM_UNAVAILABLE", wait);
    case "failed": {
      const problem = status === 0 ? "it failed amid its answer" : `it answered with status ${status}`;
      return refuse("ERROR_REASON_UPSTREAM_FAILED", { problem });
    }
    default:
      return kind satisfies never;
  }
}

type Refuse = (reason: ReasonName, metadata?: ErrorMetadata) => GatewayError;

function ofRequest(message: string, refuse: Refuse): GatewayError {
  if (PASSED.test(message))
    return refuse("ERROR_REASON_UPSTREAM_FAILED", { problem: "its credential was refused", credential: "refused" });
  if (MODEL_UNKNOWN.test(message)) return refuse("ERROR_REASON_MODEL_UNKNOWN");
  const shown: ErrorMetadata = message === "" ? {} : { message };
  if (CONTEXT_TOO_LONG.test(message)) return refuse("ERROR_REASON_CONTEXT_TOO_LONG", { ...shown, param: "messages" });
  return refuse("ERROR_REASON_UPSTREAM_REJECTED", shown);
}

/** By the error's name, as in `ValidationException:http://...`; by the status where nobody names one. */
function kindOf(name: string, status: number): Kind {
  const named = KINDS.get(
    wordOf(name)
      .replace(/Exception$|Error$/, "")
      .toLowerCase(),
  );
  if (named !== undefined) return named;
  if (status === 401 || status === 403) return "credential";
  if (status === 400 || status === 413 || status === 422) return "request";
  if (status === 408 || status === 504) return "timeout";
  if (status === 429) return "wait";
  return status === 503 ? "unavailable" : "failed";
}

/** The name without the namespace before it and the address behind it. */
function wordOf(name: string): string {
  const word = name.split(":")[0]?.split("#").at(-1) ?? "";
  return /^[A-Za-z]{1,60}$/.test(word) ? word : "";
}
