/** What an upstream's refusal means for our client: the same on every wire, once the wire's own words are read. */
import { type ErrorMetadata, GatewayError, type ReasonName } from "../errors.js";

/** What a refusal is about, and so who can do something about it. */
export type RefusalKind =
  | "no_funds"
  | "credential"
  | "access"
  | "model"
  | "context"
  | "size"
  | "request"
  | "rate"
  | "timeout"
  | "unavailable"
  | "failure";

/** What the words of a refusal say beside its status. */
export interface RefusalWords {
  readonly noFunds: boolean;
  readonly keyRefused: boolean;
  readonly modelUnknown: boolean;
  /** That the context is too long: by the message, which counts where the status blames the request, or by its code. */
  readonly contextTooLong: "message" | "code" | undefined;
}

/** A refusal as an upstream told it. Text is empty where it told none that a client may read. */
export interface ToldRefusal {
  readonly kind: RefusalKind;
  /** 0 where it told none, amid a stream. */
  readonly status: number;
  /** For the log, which gets names alone: an upstream's sentence may repeat the prompt, or the credential. */
  readonly names: readonly string[];
  readonly message: string;
  readonly param: string;
  readonly code: string;
  /** The field whose content was too long for the model. */
  readonly contextParam: string;
  /** How long it asks to wait, in milliseconds. */
  readonly waitMs: number | undefined;
}

/** Of a longer body the beginning is read. */
const BODY_BYTES_MAX = 64 * 1024;

/** The text of an error's body, as far as it is read. */
export function refusalText(body: Buffer): string {
  return body.subarray(0, BODY_BYTES_MAX).toString("utf8");
}

/** By the status, and by the words where they say more: many upstreams answer 400 to whatever they refuse. */
export function kindOf(status: number, words: RefusalWords): RefusalKind {
  if (status >= 400 && status < 500 && words.noFunds) return "no_funds";
  const kind = kindOfStatus(status);
  if (kind === "no_funds" || kind === "credential") return kind;
  if (status === 400 && words.keyRefused) return "credential";
  if (words.modelUnknown) return "model";
  if (words.contextTooLong === "code") return "context";
  return (kind === "request" || kind === "size") && words.contextTooLong === "message" ? "context" : kind;
}

export function kindOfStatus(status: number): RefusalKind {
  switch (status) {
    case 400:
    case 422:
      return "request";
    case 401:
    case 403:
      return "credential";
    case 402:
      return "no_funds";
    case 408:
    case 504:
      return "timeout";
    case 413:
      return "size";
    case 429:
      return "rate";
    case 503:
    case 529:
      return "unavailable";
    default:
      return "failure";
  }
}

/** The refusal for our client. Its cause tells the log what the upstream said, in names. */
export function upstreamRefusal(told: ToldRefusal): GatewayError {
  const { kind, status, names } = told;
  const said = [status === 0 ? "" : String(status), ...names].filter((name) => name !== "");
  const cause = new Error(`the upstream said ${said.join(" ")}`);
  const refuse = (reason: ReasonName, metadata: ErrorMetadata = {}): GatewayError =>
    new GatewayError(reason, metadata, { cause });
  const wait: ErrorMetadata = told.waitMs === undefined ? {} : { retry_after_ms: String(told.waitMs) };
  switch (kind) {
    case "no_funds":
      return refuse("ERROR_REASON_UPSTREAM_FAILED", { problem: "its account has no funds", credential: "no_funds" });
    case "credential":
      return refuse("ERROR_REASON_UPSTREAM_FAILED", { problem: "its credential was refused", credential: "refused" });
    case "access":
      return refuse("ERROR_REASON_UPSTREAM_FAILED", { problem: "it gives us no access to the model" });
    case "model":
      return refuse("ERROR_REASON_MODEL_UNKNOWN");
    case "context":
      return refuse("ERROR_REASON_CONTEXT_TOO_LONG", { ...shown(told), param: told.contextParam });
    case "size":
      return refuse("ERROR_REASON_BODY_TOO_LARGE");
    case "request":
      return refuse("ERROR_REASON_UPSTREAM_REJECTED", shown(told));
    case "rate":
      return refuse("ERROR_REASON_UPSTREAM_RATE_LIMITED", wait);
    case "timeout":
      return refuse("ERROR_REASON_UPSTREAM_TIMEOUT");
    case "unavailable":
      return refuse("ERROR_REASON_UPSTREAM_UNAVAILABLE", wait);
    case "failure": {
      const problem = status === 0 ? "it failed amid its answer" : `it answered with status ${status}`;
      return refuse("ERROR_REASON_UPSTREAM_FAILED", { problem });
    }
    default:
      return kind satisfies never;
  }
}

/** What of it a client may read. */
function shown({ message, param, code }: ToldRefusal): ErrorMetadata {
  return {
    ...(message === "" ? {} : { message }),
    ...(param === "" ? {} : { param }),
    ...(code === "" ? {} : { code }),
  };
}
