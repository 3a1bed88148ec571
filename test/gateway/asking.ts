/** One request at each edge, whole or streamed, and what its client was told of its end. */
import { Metadata, type ServiceError } from "@grpc/grpc-js";
import { ErrorInfo } from "../../gen/google/rpc/error_details.js";
import { Status } from "../../gen/google/rpc/status.js";
import type { Event, InferenceServiceClient } from "../../src/api/index.js";
import { GatewayError, type ReasonName, REASONS } from "../../src/base/errors.js";
import { GRPC_CODES } from "../../src/rpc/call/grpc-codes.js";
import { codeOf } from "../../src/wire/error/code.js";
import { typeOf } from "../../src/wire/openai/error.js";
import { chat, postChat } from "../support/chat-call.js";

export const EDGES = ["http", "grpc"] as const;
export type EdgeName = (typeof EDGES)[number];

export interface Asked {
  readonly content: string;
  readonly stream: boolean;
  /** Leaves at the first bytes. */
  readonly leaves?: boolean;
}

/** How a request ended for its client. */
export type Told =
  | { readonly kind: "answer" }
  | { readonly kind: "left" }
  /** As the table of refusals has it, whichever edge told it. */
  | { readonly kind: "error"; readonly reason: ReasonName }
  /** What no client should see. */
  | { readonly kind: "broken"; readonly what: string };

export interface Asking {
  readonly httpUrl: string;
  readonly grpc: InferenceServiceClient;
  readonly secret: string;
}

export function ask(edge: EdgeName, asked: Asked, at: Asking): Promise<Told> {
  if (edge === "http") return askHttp(asked, at);
  return asked.stream ? streamGrpc(asked, at) : askGrpc(asked, at);
}

async function askHttp({ content, stream, leaves }: Asked, { httpUrl, secret }: Asking): Promise<Told> {
  const leaving = new AbortController();
  const body = chat(content, { stream });
  const response = await postChat({ url: httpUrl }, secret, body, { signal: leaving.signal });
  let text = "";
  try {
    for await (const bytes of response.body ?? []) {
      text += Buffer.from(bytes as Uint8Array).toString();
      if (leaves !== true) continue;
      leaving.abort();
      return { kind: "left" };
    }
  } catch {
    if (leaving.signal.aborted) return { kind: "left" };
    return { kind: "broken", what: `the connection was cut behind ${text.slice(-200)}` };
  }
  if (response.status !== 200) return refusalOf(response.status, text, response.headers.get("x-should-retry"));
  if (!stream) return text.includes('"choices"') ? { kind: "answer" } : { kind: "broken", what: text };
  const error = /^data: (\{"error".*)$/m.exec(text)?.[1];
  const isDone = text.includes("data: [DONE]");
  if (error === undefined) return isDone ? { kind: "answer" } : { kind: "broken", what: text };
  return isDone ? { kind: "broken", what: text } : refusalOf(undefined, error, undefined);
}

/** As the fake upstream words its refusals, which are passed on as they are. */
const UPSTREAM_CODE = "fake";

/** The reason whose row says just this. A stream has no status, and no header to say whether to come again. */
function refusalOf(status: number | undefined, text: string, retry: string | null | undefined): Told {
  const { error } = JSON.parse(text) as {
    error: { message: string; type: string; param: string | null; code: string };
  };
  const isWhole = ["message", "type", "param", "code"].every((name) => Object.hasOwn(error, name));
  const found = Object.entries(REASONS).find(([name, row]) => {
    const refusal = new GatewayError(name as ReasonName);
    return (
      (codeOf(refusal) === error.code || (error.code === UPSTREAM_CODE && name === "ERROR_REASON_UPSTREAM_REJECTED")) &&
      typeOf(refusal) === error.type &&
      (status === undefined || row.http === status) &&
      (retry === undefined || String(row.retry) === retry)
    );
  });
  if (found === undefined || !isWhole) return { kind: "broken", what: `${status}, retry ${retry}: ${text}` };
  return { kind: "error", reason: found[0] as ReasonName };
}

function generationOf({ content, stream }: Asked): Parameters<InferenceServiceClient["generate"]>[0] {
  const body = Buffer.from(JSON.stringify(chat(content, { stream })));
  const input = { $case: "source" as const, value: { wire: "openai-chat", body, headers: {} } };
  return { generation: { model: "", input, outputTokensMax: undefined, clamp: false }, acceptWire: "" };
}

function keyOf({ secret }: Asking): Metadata {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${secret}`);
  return metadata;
}

function askGrpc(asked: Asked, at: Asking): Promise<Told> {
  return new Promise((resolve) => {
    at.grpc.generate(generationOf(asked), keyOf(at), (error, answer) => {
      if (error !== null) resolve(failureOf(error));
      else resolve(answer.answer === undefined ? { kind: "broken", what: "no answer" } : { kind: "answer" });
    });
  });
}

function streamGrpc(asked: Asked, at: Asking): Promise<Told> {
  return new Promise((resolve) => {
    const call = at.grpc.streamGenerate(generationOf(asked), keyOf(at));
    let last: Event | undefined;
    call.on("data", ({ events }: { readonly events: readonly Event[] }) => {
      last = events.at(-1) ?? last;
      if (asked.leaves !== true) return;
      resolve({ kind: "left" });
      call.cancel();
    });
    call.on("error", (error: ServiceError) => resolve(failureOf(error)));
    call.on("end", () => {
      if (last?.kind?.$case === "finish") resolve({ kind: "answer" });
    });
    call.on("status", ({ code }) => {
      if (code === 0 && last?.kind?.$case !== "finish") resolve({ kind: "broken", what: "an end without a finish" });
    });
  });
}

function failureOf(error: ServiceError): Told {
  const bytes = error.metadata.get("grpc-status-details-bin")[0];
  const details = bytes instanceof Buffer ? Status.decode(bytes).details : [];
  const info = details.find((detail) => detail.typeUrl.endsWith("google.rpc.ErrorInfo"));
  const { reason } = ErrorInfo.decode(info?.value ?? new Uint8Array());
  const found = Object.entries(REASONS).find(([name]) => name === `ERROR_REASON_${reason}` || name === reason);
  if (found === undefined || GRPC_CODES[found[0] as ReasonName] !== error.code)
    return { kind: "broken", what: `code ${error.code}, reason '${reason}': ${error.details}` };
  return { kind: "error", reason: found[0] as ReasonName };
}
