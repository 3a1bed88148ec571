/** Refusals that need more than one request to a model: how each is provoked at a gateway that serves well. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { expect } from "vitest";
import WebSocket from "ws";
import { authenticator } from "../../support/authenticator.js";
import { Browser, FIRST } from "../../support/browser.js";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { script } from "../../support/fake-upstream.js";
import type { InferenceServiceClient, KeyServiceClient } from "../../support/grpc-clients.js";
import { failureOf, generateOverGrpc } from "../../support/grpc-refusal.js";
import { OPERATOR_KEY } from "../../support/gateway-process.js";
import type { World } from "../../support/world.js";
import { EDGES, overSocket, post, type Refused, refusedBy, refusedOverGrpc } from "./refusal-edges.js";

/** What a provocation may use. */
export interface Stage {
  readonly world: World;
  readonly grpc: InferenceServiceClient;
  readonly keysOverGrpc: KeyServiceClient;
  /** The first operator, signed in. */
  readonly operator: Browser;
}

export interface Provocation {
  readonly reason: string;
  readonly edge: string;
  readonly provoke: (stage: Stage) => Promise<Refused>;
}

const MIB = 1_048_576;
const PASSWORD = "another long enough password";
const BALANCE_TOKENS = 50;

async function manage(
  { world }: Stage,
  method: string,
  path: string,
  body?: unknown,
  secret = OPERATOR_KEY,
): Promise<Refused> {
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  const url = `${world.front.url}${path.startsWith("/v1") ? "" : "/api/v1"}${path}`;
  const response = await fetch(url, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
  await response.text();
  return refusedBy(response);
}

async function byBrowser(answer: ReturnType<Browser["call"]>): Promise<Refused> {
  return refusedBy(await answer);
}

/** Somebody new with a role in the account, signed in. */
async function member({ operator, world }: Stage, name: string, role: string): Promise<Browser> {
  const { body } = await operator.call("POST", "/accounts/acme/invitations", { role });
  const browser = new Browser(world.front);
  const wish = { token: body["token"], email: `${name}@example.com`, password: PASSWORD };
  expect((await browser.call("POST", "/invitations:accept", wish)).status).toBe(200);
  return browser;
}

async function withKey({ world }: Stage, settings: Readonly<Record<string, unknown>>): Promise<string> {
  return (await world.management.makeKey("acme", settings)).secret;
}

/** A body is announced that is larger than any may be; none of it is sent. */
async function tooLarge({ world }: Stage, path: string): Promise<Refused> {
  const headers = {
    authorization: `Bearer ${world.secret}`,
    "content-type": "application/json",
    "content-length": String(40 * MIB),
    "anthropic-version": "2023-06-01",
  };
  const asked = request(`${world.front.url}${path}`, { method: "POST", headers });
  asked.on("error", () => undefined);
  asked.flushHeaders();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  asked.destroy();
  const { headers: told, statusCode } = answer;
  return { id: String(told["x-request-id"]), reason: String(told["x-tollgate-reason"]), status: statusCode };
}

/** A WebSocket is asked for where there is none. */
async function upgrade({ world }: Stage, path: string): Promise<Refused> {
  const headers = { authorization: `Bearer ${world.secret}` };
  const socket = new WebSocket(world.front.url.replace(/^http/, "ws") + path, { headers });
  socket.on("error", () => undefined);
  const [, answer] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
  answer.resume();
  const { headers: told, statusCode } = answer;
  return { id: String(told["x-request-id"]), reason: String(told["x-tollgate-reason"]), status: statusCode };
}

async function balanceHeld(stage: Stage): Promise<Refused> {
  const { management, front, upstream } = stage.world;
  const body = chat("x", { max_tokens: BALANCE_TOKENS });
  const holdNanos = 10n * BigInt(JSON.stringify(body).length) + 100n * BigInt(BALANCE_TOKENS);
  await management.account("narrow-purse", 2n * holdNanos - 1n);
  const { secret } = await management.makeKey("narrow-purse");
  const leaving = new AbortController();
  const hanging = chat(script({ hang: true }), { max_tokens: BALANCE_TOKENS, user: "holds the purse" });
  const held = postChat(front, secret, hanging, { signal: leaving.signal }).catch(() => undefined);
  await upstream.waitFor(({ raw }) => raw.includes("holds the purse"));
  const refused = await post(stage.world, "/v1/chat/completions", secret, body);
  leaving.abort();
  await held;
  return refused;
}

/** The client leaves in the middle of its answer. */
async function cancelled({ world }: Stage): Promise<Refused> {
  const leaving = new AbortController();
  const body = chat(script({ words: 500, eventDelayMs: 20 }), { stream: true });
  const answer = await postChat(world.front, world.secret, body, { signal: leaving.signal });
  leaving.abort();
  await readAll(answer);
  return { id: answer.headers.get("x-request-id") ?? "", reason: "CANCELLED", status: 499 };
}

/** The same idempotency key with one request and then another; `second` is refused. */
async function repeated({ world }: Stage, name: string, first: unknown, second: unknown): Promise<Refused> {
  const headers = { "idempotency-key": name };
  await readAll(await postChat(world.front, world.secret, first, { headers }));
  const answer = await postChat(world.front, world.secret, second, { headers });
  await answer.text();
  return refusedBy(answer);
}

async function answerGone(stage: Stage): Promise<Refused> {
  const { upstream } = stage.world;
  const message = { role: "assistant", content: "word ".repeat((17 * MIB) / 5) };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  const usage = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };
  const answer = { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "fake-1", choices, usage };
  upstream.override = { body: JSON.stringify(answer) };
  try {
    return await repeated(stage, "a long answer", chat("x"), chat("x"));
  } finally {
    upstream.override = undefined;
  }
}

async function streamGone(stage: Stage): Promise<Refused> {
  const { front, secret } = stage.world;
  const plain = await postChat(front, secret, chat("Hello", { stream: true }));
  await readAll(plain);
  return manage(stage, "GET", `/v1/streams/${plain.headers.get("x-request-id")}`, undefined, secret);
}

async function ended({ world }: Stage): Promise<Refused> {
  const browser = new Browser(world.front);
  browser.cookies.set("tollgate", "x".repeat(43));
  return byBrowser(browser.call("GET", "/session"));
}

async function roleMissing(stage: Stage): Promise<Refused> {
  const viewer = await member(stage, "vera", "viewer");
  return byBrowser(viewer.call("POST", "/accounts/acme/invitations", { role: "viewer" }));
}

/** A person with a second factor signs in without its code. */
async function factorMissing(stage: Stage): Promise<Refused> {
  const person = await member(stage, "zoe", "viewer");
  const { body } = await person.call("POST", "/session/second-factor", {});
  const code = authenticator(String(body["secret"]))();
  expect((await person.call("POST", "/session/second-factor:confirm", { code })).status).toBe(200);
  return byBrowser(new Browser(stage.world.front).signIn("zoe@example.com", PASSWORD));
}

/** An account asks its people for one, and the person has none. */
async function factorRequired(stage: Stage): Promise<Refused> {
  const person = await member(stage, "yan", "viewer");
  const security = (isAsked: boolean): ReturnType<Browser["call"]> =>
    stage.operator.call("PATCH", "/accounts/acme/security", { requires_second_factor: isAsked });
  expect((await security(true)).status).toBe(200);
  const refused = await byBrowser(person.call("GET", "/accounts/acme/members"));
  expect((await security(false)).status).toBe(200);
  return refused;
}

async function lastOwner({ operator }: Stage): Promise<Refused> {
  const { body } = await operator.call("GET", "/session");
  return byBrowser(operator.call("DELETE", `/users/${(body["user"] as { id: string }).id}`));
}

async function unsupported(stage: Stage, edge: "completions" | "messages" | "gRPC"): Promise<Refused> {
  const { world, grpc } = stage;
  const suffix = { model: "fake-1", prompt: "a", suffix: "b" };
  if (edge === "gRPC") {
    const body = Buffer.from(JSON.stringify(suffix));
    return refusedOverGrpc(await generateOverGrpc(grpc, body, world.secret, "openai-completions"));
  }
  if (edge === "completions") return post(world, "/v1/completions", world.secret, suffix);
  const body = { model: "fake-1", max_tokens: 5, top_k: 3, messages: [{ role: "user", content: "x" }] };
  return post(world, "/v1/messages", await withKey(stage, { strict: true }), body);
}

const on = (edge: string, reason: string, provoke: Provocation["provoke"]): Provocation => ({ reason, edge, provoke });

/** Of every edge: a body that is none. */
const BROKEN_BODIES = EDGES.map((edge) =>
  on(edge.name, "BODY_INVALID", ({ world, grpc }) => edge.ask(world, grpc, world.secret, "{")),
);

export const PROVOCATIONS: readonly Provocation[] = [
  ...BROKEN_BODIES,
  on("a WebSocket", "BODY_INVALID", ({ world }) => overSocket(world, world.secret, "hello")),
  ...["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/embeddings"].map((path) =>
    on(path, "BODY_TOO_LARGE", (stage) => tooLarge(stage, path)),
  ),
  on("completions", "PARAMETER_UNSUPPORTED", (stage) => unsupported(stage, "completions")),
  on("Anthropic's messages", "PARAMETER_UNSUPPORTED", (stage) => unsupported(stage, "messages")),
  on("gRPC", "PARAMETER_UNSUPPORTED", (stage) => unsupported(stage, "gRPC")),
  on("HTTP", "PATH_UNKNOWN", ({ world }) => post(world, "/v1/nowhere", world.secret, {})),
  on("the management API", "PATH_UNKNOWN", (stage) => manage(stage, "GET", "/nothing")),
  on("HTTP", "UPGRADE_REFUSED", (stage) => upgrade(stage, "/v1/chat/completions")),
  on("the management API", "RESOURCE_UNKNOWN", (stage) => manage(stage, "GET", "/keys/key_none")),
  on("gRPC", "RESOURCE_UNKNOWN", async ({ keysOverGrpc }) =>
    refusedOverGrpc(
      await failureOf(OPERATOR_KEY, (metadata, done) => keysOverGrpc.getKey({ id: "key_none" }, metadata, done)),
    ),
  ),
  on("HTTP", "RESOURCE_UNKNOWN", (stage) => manage(stage, "GET", `/v1/streams/req_${"0".repeat(32)}`)),
  on("the management API", "ALREADY_EXISTS", (stage) => manage(stage, "POST", "/accounts", { id: "acme", name: "" })),
  on("the management API", "ETAG_STALE", (stage) =>
    manage(stage, "PATCH", "/accounts/acme", { settings: { concurrency: "7" }, etag: "an older one" }),
  ),
  on("the management API", "SCOPE_MISSING", (stage) =>
    manage(stage, "POST", "/accounts", { id: "x" }, stage.world.secret),
  ),
  on("the management API", "KEY_TOO_WIDE", async (stage) => {
    const secret = await withKey(stage, { scopes: ["keys"], concurrency: "1" });
    return manage(stage, "POST", "/keys", { settings: { scopes: ["keys"], concurrency: "2" } }, secret);
  }),
  on("the management API", "TOP_UP_CODE_INVALID", (stage) =>
    manage(stage, "POST", "/accounts/acme/top-up-codes:redeem", { code: "NOBODY-HAS-THIS-CODE" }),
  ),
  on("the management API", "CARD_PAYMENTS_OFF", (stage) =>
    manage(stage, "POST", "/accounts/acme/payments", { amount_nanos: "10000000000" }),
  ),
  on("the management API", "KEY_MISSING", ({ world }) => byBrowser(new Browser(world.front).call("GET", "/accounts"))),
  on("HTTP", "BALANCE_HELD", balanceHeld),
  on("HTTP", "CANCELLED", cancelled),
  on("HTTP", "IDEMPOTENCY_KEY_REUSED", (stage) => repeated(stage, "once", chat("a"), chat("b"))),
  on("HTTP", "ANSWER_GONE", answerGone),
  on("HTTP", "STREAM_GONE", streamGone),
  on("the console", "SESSION_ENDED", ended),
  on("the console", "SESSION_REFUSED", ({ operator }) =>
    byBrowser(operator.call("GET", "/session", undefined, { origin: "https://evil.example" })),
  ),
  on("the console", "USER_MISSING", (stage) => manage(stage, "GET", "/session")),
  on("the console", "ROLE_MISSING", roleMissing),
  on("the console", "SIGN_IN_REFUSED", ({ world }) =>
    byBrowser(new Browser(world.front).signIn(FIRST.email, "a wrong password")),
  ),
  on("the console", "SECOND_FACTOR_MISSING", factorMissing),
  on("the console", "SECOND_FACTOR_REQUIRED", factorRequired),
  on("the console", "LINK_INVALID", ({ world }) =>
    byBrowser(new Browser(world.front).call("POST", "/passwords", { token: "x", password: PASSWORD })),
  ),
  on("the console", "ISSUER_FAILED", ({ world }) =>
    byBrowser(new Browser(world.front).call("POST", "/oidc/gone:begin", {})),
  ),
  on("the console", "OIDC_SIGN_IN_REFUSED", ({ world }) =>
    byBrowser(new Browser(world.front).call("POST", "/oidc/gone:finish", { query: "state=x" })),
  ),
  on("the console", "LAST_OWNER", lastOwner),
];
