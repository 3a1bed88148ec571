/** What an upstream's refusal means for our client: the same on every wire, once the wire's own words are read. */
import { type ErrorMetadata, GatewayError, type ReasonName } from "../../base/errors.js";
import { parsed } from "../json/value.js";
import { textOfPage, toldName } from "./redact.js";
import { retryAfterMs } from "./retry-after.js";
import { type SaidWords, wordsIn } from "./server-words.js";

/** What a refusal is about, and so who can do something about it. */
export type RefusalKind =
  /** Our account at the upstream has no money left. */
  | "no_funds"
  /** The upstream does not take our credential. */
  | "credential"
  /** Our account may not use this model. */
  | "access"
  /** The upstream does not have the model. */
  | "model"
  /** This one request may not be made: nothing says that others may not. */
  | "forbidden"
  | "context"
  | "size"
  | "request"
  /** It cannot do what this one request asks: another upstream of the model may. */
  | "feature"
  | "rate"
  | "timeout"
  | "unavailable"
  | "failure";

/**
 * What a status, a machine-readable code, or both together mean. A code counts only where the wire has its place, never
 * in a sentence: an upstream may repeat in a sentence what a client wrote.
 */
export interface RefusalRow {
  /** Absent where the code says it whatever 4xx it comes with. */
  readonly status?: number;
  /** Absent where the status alone says it. */
  readonly code?: string;
  readonly kind: RefusalKind;
}

/** How many tokens a request has, and how many it may have, as the upstream counts. */
export interface ContextCounts {
  readonly actual?: string | undefined;
  readonly limit?: string | undefined;
}

/** How a wire says what a refusal is about. */
export interface RefusalGrammar {
  /** Its own codes. */
  readonly rows: readonly RefusalRow[];
  /** Sentences that are about the gateway and its upstream. */
  readonly ours: readonly RegExp[];
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
  /** Counts that stand in fields of their own; absent where none do. */
  readonly counts?: ContextCounts | undefined;
  /** How long it asks to wait, in milliseconds. */
  readonly waitMs: number | undefined;
  /** What it sent where no message is in it, such as a proxy's page, for operators. Absent: nothing more. */
  readonly page?: string;
}

/** A field may stand deep in a request. */
const PARAM_CHARACTERS_MAX = 200;

/** The status of what stands before a server and cannot reach it. */
const GATEWAYS_OWN = 502;

/** Of a longer body the beginning is read. */
const BODY_BYTES_MAX = 64 * 1024;

/** The text of an error's body, as far as it is read. */
export function refusalText(body: Buffer): string {
  return body.subarray(0, BODY_BYTES_MAX).toString("utf8");
}

/** What an upstream said in its wire; empty where it said nothing that can be shown. */
export type Said = Omit<ToldRefusal, "kind" | "status" | "waitMs">;

/** What an error answer of a wire means, which `saidIn` reads. Never tells the upstream's key, address or HTML. */
export function errorReader(saidIn: (value: unknown) => Said, grammar: RefusalGrammar) {
  return (
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    rows?: readonly RefusalRow[],
  ): GatewayError => {
    const text = refusalText(body);
    const told = parsed(text);
    // Of JSON without a message nobody knows what it repeats.
    const page = told === undefined ? textOfPage(text) : "";
    const said = saidIn(told);
    return toldRefusal({ ...said, status, waitMs: retryAfterMs(headers, text), page }, grammar, rows);
  };
}

/** By the row that fits, else by the status. */
function kindOf(status: number, codes: readonly string[], rows: readonly RefusalRow[]): RefusalKind {
  const row = status >= 400 && status < 500 ? rowOf(status, codes, rows) : undefined;
  return row?.kind ?? kindOfStatus(status);
}

/** Kinds that say little: words may say more. A gateway's 502 is no word of a model's server. */
const VAGUE: ReadonlySet<RefusalKind> = new Set(["request", "size", "feature", "failure"]);
/** What words say of the one request that they answer. Of all else they count only where no client wrote them. */
const OF_REQUEST: ReadonlySet<RefusalKind> = new Set(["context", "feature"]);

/** A code says more than a status alone. */
function rowOf(status: number, codes: readonly string[], rows: readonly RefusalRow[]): RefusalRow | undefined {
  const ofStatus = rows.filter((row) => row.status === undefined || row.status === status);
  const byCode = ofStatus.find(({ code }) => code !== undefined && codes.includes(code));
  return byCode ?? ofStatus.find(({ code }) => code === undefined);
}

/** Rows of one kind, by their codes. */
export function rowsOf(kind: RefusalKind, codes: readonly string[], status?: number): readonly RefusalRow[] {
  return codes.map((code) => (status === undefined ? { code, kind } : { status, code, kind }));
}

export function kindOfStatus(status: number): RefusalKind {
  switch (status) {
    case 400:
    case 422:
      return "request";
    case 401:
      return "credential";
    case 402:
    case 403:
      return "forbidden";
    case 408:
    case 504:
      return "timeout";
    case 413:
      return "size";
    case 501:
      return "feature";
    case 429:
      return "rate";
    case 503:
    case 529:
      return "unavailable";
    default:
      return "failure";
  }
}

/** Words that decided what a refusal is about. Where they are the client's own, repeated, they say nothing. */
export interface JudgedWords {
  readonly said: string;
  /** The refusal without them. */
  readonly otherwise: GatewayError;
}

/** What an upstream refused with, as the cause of the refusal for our client: for the log, and for the routes. */
export class UpstreamRefusal extends Error {
  readonly kind: RefusalKind;
  /** 0 where it told none, amid a stream. */
  readonly status: number;

  constructor(
    private readonly told: ToldRefusal,
    /** Present where a sentence alone decided. */
    readonly words?: JudgedWords,
  ) {
    const { kind, status, names } = told;
    const said = [status === 0 ? "" : String(status), ...names].filter((name) => name !== "");
    super(`the upstream said ${said.join(" ")}`);
    this.name = "UpstreamRefusal";
    [this.kind, this.status] = [kind, status];
  }

  /** For operators: its sentence, else its page as text, else its codes. Without secrets; empty where it has none. */
  get said(): string {
    return this.told.message || this.told.page || this.told.names.join(" ");
  }

  /** The same as a refusal of the one request that it answered, which the upstream cannot serve. */
  ofRequest(): GatewayError {
    const { told } = this;
    const message =
      told.message || `The model's upstream fails on this request (status ${told.status}), and serves others.`;
    return new GatewayError("ERROR_REASON_UPSTREAM_REJECTED", shown({ ...told, message }), { cause: this });
  }
}

/** The refusal for our client, by what the wire makes of its codes and words. `rows` count before the wire's own. */
export function toldRefusal(
  told: Omit<ToldRefusal, "kind">,
  grammar: RefusalGrammar,
  rows: readonly RefusalRow[] = [],
): GatewayError {
  return refusalByWords({ ...told, kind: kindOf(told.status, told.names, [...rows, ...grammar.rows]) }, grammar.ours);
}

/** The same once its status and codes are read, which words add to where these are vague. */
export function refusalByWords(told: ToldRefusal, ours: readonly RegExp[] = []): GatewayError {
  const { kind, message } = told;
  const words = wordsIn(message);
  if (kind === "context") return upstreamRefusal(withCounts(told, words));
  if (!VAGUE.has(kind) || told.status === GATEWAYS_OWN) return upstreamRefusal(told);
  if (words !== undefined && OF_REQUEST.has(words.kind))
    return upstreamRefusal(withCounts({ ...told, kind: words.kind }, words));
  const otherwise = upstreamRefusal(told);
  const about = kind === "request" || kind === "size" ? ours : [];
  const said = about.map((sentence) => sentence.exec(message)?.[0]).find((found) => found !== undefined);
  if (said !== undefined) return upstreamRefusal({ ...told, kind: "forbidden" }, { said, otherwise });
  if (words === undefined) return otherwise;
  return upstreamRefusal({ ...told, kind: words.kind }, { said: words.said, otherwise });
}

function withCounts(told: ToldRefusal, words: SaidWords | undefined): ToldRefusal {
  return words === undefined || told.counts !== undefined ? told : { ...told, counts: words };
}

/** The refusal for our client. Its cause tells the log what the upstream said, in names. */
function upstreamRefusal(told: ToldRefusal, words?: JudgedWords): GatewayError {
  const { kind, status, counts } = told;
  const cause = new UpstreamRefusal(told, words);
  const refuse = (reason: ReasonName, metadata: ErrorMetadata = {}): GatewayError =>
    new GatewayError(reason, metadata, { cause });
  const wait: ErrorMetadata = told.waitMs === undefined ? {} : { retry_after_ms: String(told.waitMs) };
  switch (kind) {
    case "no_funds":
      return refuse("ERROR_REASON_UPSTREAM_CREDENTIAL", { problem: "the operator's account there has no funds" });
    case "credential":
      return refuse("ERROR_REASON_UPSTREAM_CREDENTIAL", { problem: "its credential was refused" });
    case "access":
      return refuse("ERROR_REASON_UPSTREAM_CREDENTIAL", { problem: "its account has no access to the model" });
    case "forbidden":
      return refuse("ERROR_REASON_UPSTREAM_CREDENTIAL", { problem: `the request was refused with status ${status}` });
    case "model":
      // We list the model, so it is not the client's mistake.
      return refuse("ERROR_REASON_UPSTREAM_FAILED", { problem: "it does not have the model" });
    case "context":
      return refuse("ERROR_REASON_CONTEXT_TOO_LONG", {
        // Each client's wire has a code of its own for it.
        ...shown({ ...told, code: "" }),
        ...(counts?.actual === undefined ? {} : { actual: counts.actual }),
        ...(counts?.limit === undefined ? {} : { limit: counts.limit }),
        param: toldName(told.contextParam, PARAM_CHARACTERS_MAX),
      });
    case "size":
      return refuse("ERROR_REASON_BODY_TOO_LARGE");
    case "request":
    case "feature":
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

function named(key: "param" | "code", name: string): ErrorMetadata {
  return name === "" ? {} : { [key]: name };
}

/** What of it a client may read. */
function shown({ message, param, code }: ToldRefusal): ErrorMetadata {
  return {
    ...(message === "" ? {} : { message }),
    ...named("param", toldName(param, PARAM_CHARACTERS_MAX)),
    ...named("code", toldName(code, PARAM_CHARACTERS_MAX)),
  };
}
