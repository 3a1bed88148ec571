/** Errors, both directions: what an upstream's refusal means for our client, and our own in the wire's envelope. */
import type { GatewayError } from "../../base/errors.js";
import { type JsonObject, listOf, objectOf, textOf } from "../json/value.js";
import type { WireError } from "../wire.js";
import { codeOf } from "../error/code.js";
import { contextMessage } from "../error/context-message.js";
import { redacted, toldName } from "../error/redact.js";
import { retryAfterMs } from "../error/retry-after.js";
import {
  type ContextCounts,
  errorReader,
  type RefusalGrammar,
  type RefusalRow,
  rowsOf,
  type Said,
  toldRefusal,
} from "../error/upstream-refusal.js";
import { wordsIn } from "../error/server-words.js";

/** What an upstream said, whichever of the known shapes it used; empty where it said nothing that can be shown. */
interface OpenAiSaid extends Said {
  readonly type: string;
  /** The status inside the error, where it names one. */
  readonly status: number | undefined;
}

const NAME_CHARACTERS_MAX = 200;
const NOTHING_SAID = saidOf({ message: "", type: "", param: "", code: "", status: undefined });

const OUR_MONEY = /insufficient[_ ](quota|balance|funds|credits)|credit balance|billing[_ ]hard[_ ]limit/i;
const OUR_KEY = /api[_ ]key[_ ](not[_ ]valid|invalid)|(invalid|incorrect)[_ ]api[_ ]key/i;

/**
 * Codes of OpenAI's, and of the many that took over its wire. Sources: platform.openai.com/docs/guides/error-codes,
 * console.groq.com/docs/errors, and the servers' own sources for Ollama and vLLM.
 */
const ROWS: readonly RefusalRow[] = [
  ...rowsOf("no_funds", ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active"]),
  ...rowsOf("credential", [
    "invalid_api_key",
    "account_deactivated",
    "organization_restricted",
    "unsupported_country_region_territory",
  ]),
  ...rowsOf("model", ["model_not_found", "model_not_exist", "not_found_model", "unknown_model", "invalid_model"]),
  ...rowsOf("model", ["model_decommissioned"]),
  ...rowsOf("model", ["not_found_error", "NotFoundError"], 404),
  ...rowsOf("context", ["context_length_exceeded", "exceed_context_size_error", "model_max_prompt_tokens_exceeded"]),
];

const GRAMMAR: RefusalGrammar = { rows: ROWS, ours: [OUR_MONEY, OUR_KEY] };

export const decodeError = errorReader(saidIn, GRAMMAR);

/** What an error inside a stream, or inside an answer that says 200, means. */
export function decodeToldError(told: unknown): GatewayError {
  const said = saidIn({ error: told });
  return toldRefusal(
    { ...said, status: said.status ?? statusOf(said), waitMs: retryAfterMs({}, said.message) },
    GRAMMAR,
  );
}

/** Our refusal in the client's envelope: four keys always. */
export function encodeError(error: GatewayError): WireError {
  return { status: error.http, body: Buffer.from(errorText(error)) };
}

export function errorText(error: GatewayError): string {
  const { param } = error;
  return JSON.stringify({ error: { message: messageOf(error), type: typeOf(error), param, code: codeOf(error) } });
}

/** Some clients know an input that is too long by the wire's own words for it, and not by its code. */
export function messageOf(error: GatewayError): string {
  return contextMessage(error, /context length|context window/i, {
    counted: (actual, limit) =>
      `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${actual} tokens.`,
    uncounted: "The input exceeds the model's maximum context length",
  });
}

/** How the wire calls our refusals, by their HTTP status. */
const TYPES: ReadonlyMap<number, string> = new Map([
  [402, "insufficient_quota"],
  [403, "permission_error"],
  [429, "requests"],
]);

/** The `type` of a refusal; of a limit of tokens it is `tokens`. */
export function typeOf({ http, metadata }: GatewayError): string {
  if (metadata["limit"] === "tokens_per_minute") return "tokens";
  return TYPES.get(http) ?? (http >= 500 ? "server_error" : "invalid_request_error");
}

function saidOf(said: Omit<OpenAiSaid, "names" | "contextParam">): OpenAiSaid {
  return { ...said, names: [said.code, said.type], contextParam: said.param || "messages" };
}

/** Reads OpenAI's envelope, its flat form, Gemini's list of one, FastAPI's `detail`, and a bare string. */
function saidIn(value: unknown): OpenAiSaid {
  const body = objectOf(Array.isArray(value) ? value[0] : value);
  if (body === undefined) return NOTHING_SAID;
  const error = body["error"] ?? body;
  const fields = objectOf(error);
  if (fields === undefined) return { ...NOTHING_SAID, message: redacted(textOf(error)) };
  const nested = objectOf(fields["error"]) ?? fields;
  const code = nested["code"];
  const number = Number(typeof code === "number" || /^\d{3}$/.test(textOf(code)) ? code : nested["status"]);
  return saidOf({
    // Mistral says where a parameter is wrong inside the message.
    message: redacted(
      textOf(nested["message"]) || detailOf(objectOf(nested["message"])?.["detail"] ?? nested["detail"]),
    ),
    type: toldName(nested["type"], NAME_CHARACTERS_MAX),
    param: toldName(nested["param"], NAME_CHARACTERS_MAX),
    code: /^\d+$/.test(textOf(code)) ? "" : toldName(code, NAME_CHARACTERS_MAX),
    status: number >= 400 && number <= 599 ? number : undefined,
    counts: countsIn(nested),
  });
}

/** llama.cpp tells both counts in fields, and in older versions nowhere else. */
function countsIn({ n_prompt_tokens: actual, n_ctx: limit }: JsonObject): ContextCounts | undefined {
  return typeof actual === "number" && typeof limit === "number"
    ? { actual: String(actual), limit: String(limit) }
    : undefined;
}

function detailOf(detail: unknown): string {
  if (typeof detail === "string") return detail;
  return listOf(detail)
    .slice(0, 8)
    .map((item) => {
      const fields = objectOf(item);
      return `${listOf(fields?.["loc"]).join(".")}: ${textOf(fields?.["msg"])}`;
    })
    .join("; ");
}

/** The status that an error inside a stream would have had. */
function statusOf({ type, code, message }: OpenAiSaid): number {
  const named = `${type} ${code}`;
  if (ROWS.some((row) => row.status === undefined && (row.code === code || row.code === type))) return 400;
  if (/rate_limit|too_many_requests/i.test(named)) return 429;
  if (/overloaded|unavailable/i.test(named)) return 503;
  if (/timeout/i.test(named)) return 504;
  if (/invalid_request|bad_request|invalid_value|content_policy/i.test(named)) return 400;
  return wordsIn(message)?.kind === "context" ? 400 : 500;
}
