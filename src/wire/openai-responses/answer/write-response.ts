/** The object that tells a response as a whole: what was asked, repeated, and what came of it. */
import type { Usage } from "../../../api/index.js";
import { jsonOf } from "../../json/text.js";
import { listOf, objectOf, parsed } from "../../json/value.js";
import type { WireRequest } from "../../wire.js";
import { ResponsesRequest } from "../request/decode.js";
import { encodeUsage } from "./usage.js";

/** Fields that repeat the request, with what stands for those that it leaves out. */
const REPEATED: readonly (readonly [key: string, otherwise: string])[] = [
  ["instructions", "null"],
  ["max_output_tokens", "null"],
  ["max_tool_calls", "null"],
  ["metadata", "{}"],
  ["parallel_tool_calls", "true"],
  ["prompt_cache_key", "null"],
  ["reasoning", '{"effort":null,"summary":null}'],
  ["safety_identifier", "null"],
  ["service_tier", '"default"'],
  ["temperature", "1"],
  ["text", '{"format":{"type":"text"}}'],
  ["tool_choice", '"auto"'],
  ["tools", "[]"],
  ["top_logprobs", "0"],
  ["top_p", "1"],
  ["truncation", '"disabled"'],
  ["user", "null"],
];

/** What is so of every response: nothing is kept, and penalties are not of this wire. */
const FIXED =
  '"background":false,"store":false,"previous_response_id":null,"access_programs":null,' +
  '"presence_penalty":0,"frequency_penalty":0';

/** The members that repeat the request, as JSON. */
export function repeatedMembers(asked: WireRequest | undefined): string {
  const given = new Map<string, string>();
  if (asked instanceof ResponsesRequest) {
    const { body } = asked.source;
    for (const { key, valueStart, end } of asked.scan.members) given.set(key, body.toString("utf8", valueStart, end));
  }
  const tools = given.get("tools");
  if (tools !== undefined) given.set("tools", wholeTools(tools));
  const told = REPEATED.map(([key, otherwise]) => {
    const value = given.get(key);
    return `"${key}":${value === undefined || value === "null" ? otherwise : value}`;
  });
  return `${FIXED},${told.join(",")}`;
}

/** Readers of the wire want these of each tool, which a request may leave out. */
const OF_TOOLS: ReadonlyMap<unknown, object> = new Map([
  ["function", { description: null, parameters: null, strict: null }],
  ["namespace", { description: "" }],
]);

function wholeTools(json: string): string {
  const tools = listOf(parsed(json));
  return JSON.stringify(tools.map((tool) => Object.assign({}, OF_TOOLS.get(objectOf(tool)?.["type"]), tool)));
}

/** What of a response is known from its beginning. */
export interface ResponseHead {
  readonly id: string;
  readonly model: string;
  readonly createdSeconds: number;
  /** As `repeatedMembers` makes them. */
  readonly repeated: string;
}

export type ResponseStatus = "in_progress" | "completed" | "incomplete" | "failed";

/** The codes of a failed response that its readers act on; any other is to them what `server_error` is. */
const FAILURE_CODES: ReadonlySet<string> = new Set([
  "rate_limit_exceeded",
  "invalid_prompt",
  "context_length_exceeded",
  "insufficient_quota",
]);

/** How a failed response names its error: the wire has a closed list. */
export function failureCode(code: string): string {
  return FAILURE_CODES.has(code) ? code : "server_error";
}

/** How a response stands. */
export interface ResponseState {
  readonly status: ResponseStatus;
  /** Its items, as JSON. */
  readonly output: readonly string[];
  readonly usage?: Usage | undefined;
  readonly incompleteReason?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** The response as JSON, with every key that readers of the wire want. */
export function responseText(head: ResponseHead, state: ResponseState): string {
  const { status, output, usage, incompleteReason, error } = state;
  const details = incompleteReason === undefined ? "null" : `{"reason":"${incompleteReason}"}`;
  const isEnded = status === "completed";
  return (
    `{"id":${jsonOf(head.id)},"object":"response","created_at":${head.createdSeconds},` +
    `"completed_at":${isEnded ? head.createdSeconds : "null"},"status":"${status}",` +
    `"error":${error === undefined ? "null" : JSON.stringify(error)},"incomplete_details":${details},` +
    `"model":${jsonOf(head.model)},"output":[${output.join(",")}],${head.repeated},` +
    `"usage":${usage === undefined ? "null" : JSON.stringify(encodeUsage(usage))}}`
  );
}
