/** The one way to the gateway: each method by its own path and verb, as the person who is signed in. */
import type { Method } from "../../gen/console/shape.js";
import { readMessage, writeMessage } from "./json.ts";
import { noteReach } from "./network.ts";

/** What a request may leave out: the service takes the default for it. */
export type RequestFields<Message> = {
  readonly [Name in keyof Message]?: RequestField<Message[Name]>;
};
type RequestField<Value> = Value extends Date | bigint | string | number | boolean | undefined
  ? Value
  : Value extends readonly (infer Each)[]
    ? readonly RequestField<Each>[]
    : RequestFields<Value> | undefined;

/** A refusal of the gateway, as its headers and its envelope tell it. */
export class Refusal extends Error {
  readonly status: number;
  /** Such as SIGN_IN_REFUSED; empty where something in between answered. */
  readonly reason: string;
  readonly requestId: string;
  readonly param: string;

  constructor(answer: Response, envelope: { readonly message: string; readonly param: string }) {
    super(envelope.message);
    this.status = answer.status;
    this.reason = answer.headers.get("x-tollgate-reason") ?? "";
    this.requestId = answer.headers.get("x-request-id") ?? "";
    this.param = envelope.param;
  }
}

/** True where it was refused because the digits of a second factor were not given with the password, or were wrong. */
export function needsCode(error: unknown): boolean {
  return error instanceof Refusal && error.reason === "SECOND_FACTOR_MISSING";
}

/** The gateway was not reached at all. */
export class Unreached extends Error {}

export interface CallOptions {
  /** The account in which the call acts; the person's first one where it is empty. */
  readonly account?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Headers of every call: a form cannot send them, so the cookie alone is not enough for another site. */
export function callHeaders(account: string): Record<string, string> {
  const headers: Record<string, string> = { "x-tollgate-console": "1" };
  if (account !== "") headers["x-tollgate-account"] = account;
  return headers;
}

/** Calls a method. Rejects with a Refusal or with Unreached. */
export async function call<Request, Response>(
  method: Method<Request, Response>,
  request: RequestFields<Request>,
  { account = "", signal }: CallOptions = {},
): Promise<Response> {
  const { url, body } = addressOf(method, writeMessage(method.input, request));
  const headers = callHeaders(account);
  if (body !== undefined) headers["content-type"] = "application/json";
  const answer = await send(url, { method: method.verb, headers, body: body ?? null, signal: signal ?? null });
  // The edge: the shape is made of the same proto as the type.
  return readMessage(method.output, await answer.json()) as Response;
}

/** Calls a method with a body in a form of its own, such as a request just as a client would send it. */
export async function callWith<Request, Response>(
  method: Method<Request, Response>,
  body: unknown,
  { account = "", signal }: CallOptions = {},
): Promise<Response> {
  const headers = { ...callHeaders(account), "content-type": "application/json" };
  const init = { method: method.verb, headers, body: JSON.stringify(body), signal: signal ?? null };
  const answer = await send(method.path, init);
  return readMessage(method.output, await answer.json()) as Response;
}

/** The address of a method's answer as a file, such as a statement as CSV. */
export function fileAddress<Request, Response>(
  method: Method<Request, Response>,
  request: RequestFields<Request>,
  more: Readonly<Record<string, string>>,
): string {
  const { url } = addressOf(method, writeMessage(method.input, request));
  const query = new URLSearchParams(more).toString();
  return url + (url.includes("?") ? "&" : "?") + query;
}

/** Sends something, and rejects with a Refusal where the answer is none that was asked for. */
export async function send(url: string, init: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(url, { ...init, credentials: "same-origin" });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    noteReach(false);
    throw new Unreached("The gateway was not reached.", { cause: error });
  }
  noteReach(true);
  if (answer.ok) return answer;
  throw new Refusal(answer, await envelopeOf(answer));
}

function addressOf<Request, Response>(
  { path, verb, name }: Method<Request, Response>,
  json: Readonly<Record<string, unknown>>,
): { readonly url: string; readonly body: string | undefined } {
  const rest = new Map(Object.entries(json));
  const url = path.replaceAll(/\{(\w+)(=\*\*)?\}/g, (_, field: string, isLong: string | undefined) => {
    const value = String(rest.get(field) ?? "");
    if (value === "") throw new Error(`${name} needs ${field}`);
    rest.delete(field);
    return isLong === undefined ? encodeURIComponent(value) : value.split("/").map(encodeURIComponent).join("/");
  });
  if (verb !== "GET" && verb !== "DELETE") return { url, body: JSON.stringify(Object.fromEntries(rest)) };
  const query = new URLSearchParams();
  for (const [field, value] of rest)
    for (const each of [value].flat()) if (each !== "") query.append(field, String(each));
  const text = query.toString();
  return { url: text === "" ? url : `${url}?${text}`, body: undefined };
}

async function envelopeOf(answer: Response): Promise<{ readonly message: string; readonly param: string }> {
  const text = await answer.text().catch(() => "");
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown; param?: unknown } };
    if (typeof error?.message === "string")
      return { message: error.message, param: typeof error.param === "string" ? error.param : "" };
  } catch {
    // Something in between answered with a page of its own.
  }
  return { message: `The answer was ${answer.status} ${answer.statusText}`.trim(), param: "" };
}
