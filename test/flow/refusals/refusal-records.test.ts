/**
 * Every refusal leaves its record: each reason of the table is provoked at each edge where it can happen, over a real
 * gateway, and its record is found by its reason, its status and its request's id. What is refused to the caller leaves
 * a line of the log as well.
 */
import { rmSync } from "node:fs";
import { credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { isReasonName, REASONS, reasonOfWord, reasonWord } from "../../../src/base/errors.js";
import { firstOperator } from "../../support/browser.js";
import { chat } from "../../support/chat-call.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { InferenceServiceClient, KeyServiceClient } from "../../support/grpc-clients.js";
import { generateOverGrpc } from "../../support/grpc-refusal.js";
import { Management } from "../../support/management.js";
import { RawClient, rawPost } from "../../support/raw-http.js";
import { bySweep } from "../../support/sweep.js";
import { settingsFor, startWorld, type World } from "../../support/world.js";
import { openCallers, resetUpstreams, useUp } from "./error-callers.js";
import { NO_HEALTHY_UPSTREAM, ROWS } from "./error-rows.js";
import { EDGES, type Refused, refusedBy, refusedOverGrpc, VECTOR_MODELS } from "./refusal-edges.js";
import { PROVOCATIONS, type Stage } from "./refusal-provocations.js";

/** Reasons that nothing here provokes, and why. */
const NOT_PROVOKED: Readonly<Record<string, string>> = {
  PROOF_NEEDED: "A session must be half an hour old; its refusal leaves a record as each other one of a person does.",
  PASSKEYS_OFF: "The gateway must have no host name; test/identity/passkeys.test.ts has one that has none.",
  CARD_PAYMENTS_UNAVAILABLE: "Stripe must be away; test/payments/card-payments.test.ts has one that is.",
  STRIPE_EVENT_REFUSED: "Payments by card must be set up; test/flow/money/card-payments.test.ts looks for its record.",
  UPSTREAM_FULL: "An upstream must have limits; test/flow/upstreams/limits.test.ts shows what its client gets.",
  QUOTA_EXCEEDED: "A key must have a quota; test/flow/limits/quotas.test.ts shows what its client gets.",
  NO_COMPLIANT_TARGET: "A demand needs a header; test/flow/upstreams/demands.test.ts sends it in every form.",
  CONNECTION_TOO_OLD: "A WebSocket must be an hour old; test/http/websocket.test.ts shows what it tells the record of.",
};
/** Refusals that leave no record, and why: each comes before there is a request. */
export const LEAVES_NONE = [
  "Bytes that are no HTTP request: nobody knows a path, a key or a client.",
  "A gRPC method that does not exist, and a gRPC message above its limit: the transport answers for itself.",
  "A WebSocket message above its limit: the connection is closed with 1009 while its bytes come.",
] as const;

/** The statuses of what is refused to a caller for its key, its permissions, its money or its limits. */
const TOLD_IN_LOG: ReadonlySet<number> = new Set([401, 402, 403, 429]);
/** It has such a status, and is the upstream's own refusal. */
const OF_THE_UPSTREAM = "UPSTREAM_RATE_LIMITED";

/** One row of each reason. */
const FIRST_OF_REASON = ROWS.filter(
  (row) => row.name !== NO_HEALTHY_UPSTREAM && row === ROWS.find(({ reason }) => reason === row.reason),
);

/** A block of the settings file of its own, behind the models. */
const ISSUER = 'identity: { oidc: { gone: { issuer: "http://127.0.0.1:9", client_id: tollgate } } }\n';

let stage: Stage;
let world: World;
let faulty: GatewayProcess;
let overGrpc: InferenceServiceClient;
const keys: Record<string, string> = {};
const seen = new Set<string>();

beforeAll(async () => {
  world = await startWorld("one process", undefined, VECTOR_MODELS + ISSUER);
  world.core.expectOddAnswers();
  await openCallers(world, keys);
  const grpc = new InferenceServiceClient(world.core.grpc, credentials.createInsecure());
  const keysOverGrpc = new KeyServiceClient(world.core.grpc, credentials.createInsecure());
  stage = { world, grpc, keysOverGrpc, operator: await firstOperator(world.core) };
  faulty = await startGateway({
    settings: settingsFor(world.upstream.url),
    env: { TOLLGATE_FAILPOINTS: "before_hold=throw", TOLLGATE_BODY_MEMORY_MIB: "64" },
  });
  overGrpc = new InferenceServiceClient(faulty.grpc, credentials.createInsecure());
});
afterAll(async () => {
  for (const client of [stage.grpc, stage.keysOverGrpc, overGrpc]) client.close();
  await faulty.kill();
  await world.close();
  for (const { dataDirectory } of [faulty, world.core]) rmSync(dataDirectory, { recursive: true });
});

/** Its record is there, by each of its filters, and says what its client was told. */
async function expectRecord(refused: Refused, reason: string, gateway: GatewayProcess = world.front): Promise<void> {
  const name = reasonOfWord(reason);
  if (name === undefined) throw new Error(`there is no reason ${reason}`);
  // Anthropic's clients read 529 where a service is busy; the record says what the table does.
  const status = REASONS[name].http;
  expect([status, 529, undefined]).toContain(refused.status);
  expect(refused).toMatchObject({ reason, id: expect.stringMatching(/^req_/) });
  const list = async (query: Record<string, string>): Promise<readonly object[]> => {
    const { body } = await new Management(gateway).call("GET", `/requests?${new URLSearchParams(query)}`);
    return body["requests"] as object[];
  };
  const { id } = refused;
  await expect.poll(() => list({ reason, query: id })).toHaveLength(1);
  const [found] = await list({ http_status: String(status), query: id });
  expect(found, `${reason} with ${status}`).toMatchObject({
    id,
    detail: { error_reason: reason, http_status: status },
  });
  if (TOLD_IN_LOG.has(status) && reason !== OF_THE_UPSTREAM) await expectLine(refused, status, gateway);
  seen.add(reason);
}

/** One line of the log says that it was refused, and no second one does. */
async function expectLine({ id, reason }: Refused, status: number, gateway: GatewayProcess): Promise<void> {
  const told = JSON.parse(await gateway.logged('"a caller was refused"', `"${id}"`)) as object;
  const path = expect.stringMatching(/./) as string;
  expect(told).toMatchObject({ level: "warn", request_id: id, reason, status, path });
  const lines = gateway.log.filter((line) => line.includes('"a caller was refused"') && line.includes(`"${id}"`));
  expect(lines).toHaveLength(1);
}

describe.each(FIRST_OF_REASON)("$name", (row) => {
  const asked = EDGES.map((edge) => ({ edge, name: edge.name, body: edge.body(row) })).filter(
    ({ body }) => body !== undefined,
  );
  // In the short form each reason is met at one edge in three, in turn.
  const turn = FIRST_OF_REASON.indexOf(row) % Math.min(3, asked.length);
  const short = asked.filter((_, place) => place % 3 === turn);
  beforeEach(async () => {
    await resetUpstreams(world);
    await useUp(world, keys, row.key);
  });

  test.each(bySweep({ short, long: asked, all: asked }))("leaves its record over $name", async ({ edge, body }) => {
    const secret = keys[row.key ?? ""] ?? row.key ?? world.secret;
    await expectRecord(await edge.ask(world, stage.grpc, secret, body), row.reason);
  });
});

describe.each(PROVOCATIONS)("$reason over $edge", ({ reason, provoke }) => {
  test("leaves its record", async () => {
    await resetUpstreams(world);
    await expectRecord(await provoke(stage), reason);
  });
});

test("whoever leaves a question of management before its answer is over was refused nothing", async () => {
  const headers = { authorization: `Bearer ${OPERATOR_KEY}` };
  const port = Number(new URL(world.core.url).port);
  const clients = await Promise.all(Array.from({ length: 60 }, () => RawClient.open(port)));
  const head = `GET /api/v1/keys?page_size=1000 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${OPERATOR_KEY}\r\n\r\n`;
  for (const client of clients) client.write(head);
  // Some have no answer yet when the first one has.
  await expect.poll(() => clients.some(({ text }) => text !== ""), { interval: 1 }).toBe(true);
  for (const client of clients) client.socket.destroy();
  // What is refused afterwards has its record once what ended before has its own.
  const later = await fetch(`${world.core.url}/api/v1/keys/none`, { headers });
  await later.text();
  await expectRecord(refusedBy(later), "RESOURCE_UNKNOWN", world.core);
  const { body } = await new Management(world.core).call("GET", "/requests?reason=CANCELLED");
  expect((body["requests"] as { detail: { path: string } }[]).map(({ detail }) => detail.path)).not.toContain(
    "/api/v1/keys",
  );
});

describe("a gateway that fails", () => {
  const body = JSON.stringify(chat("x"));
  const ask = async (path: string, sent: object, at = faulty): Promise<Refused> => {
    const headers = { authorization: `Bearer ${OPERATOR_KEY}`, "content-type": "application/json" };
    const answer = await fetch(at.url + path, { method: "POST", headers, body: JSON.stringify(sent) });
    await answer.text();
    return refusedBy(answer);
  };

  test("leaves a record of its own fault, over HTTP and over gRPC", async () => {
    await expectRecord(await ask("/v1/chat/completions", chat("x")), "INTERNAL", faulty);
    await expectRecord(await ask("/v1/messages", { ...chat("x"), max_tokens: 5 }), "INTERNAL", faulty);
    const failure = await generateOverGrpc(overGrpc, Buffer.from(body), OPERATOR_KEY);
    await expectRecord(refusedOverGrpc(failure), "INTERNAL", faulty);
  });

  test("leaves a record of what there is no room for", async () => {
    const management = new Management(faulty);
    await management.account("loud", 1n);
    const large = { "content-length": String(31 * 1_048_576) };
    const clients: RawClient[] = [];
    for (let count = 0; count < 3; count++) {
      const { secret } = await management.makeKey("loud");
      const client = await RawClient.open(Number(new URL(faulty.url).port));
      clients.push(client);
      client.write(rawPost("/v1/chat/completions", "{", { ...large, authorization: `Bearer ${secret}` }));
    }
    // Two find room: whichever comes last is refused, and the others wait for their bodies.
    const answered = (): readonly string[] => clients.map(({ text }) => text).filter((text) => text !== "");
    await expect.poll(() => answered().join("")).toContain("\r\n\r\n");
    const told = (name: string): string => new RegExp(`^${name}: (.*)\r$`, "im").exec(answered().join(""))?.[1] ?? "";
    const refused = { id: told("x-request-id"), reason: told("x-tollgate-reason"), status: 503 };
    for (const client of clients) client.socket.destroy();
    await expectRecord(refused, "OVERLOADED", faulty);
  });

  test("leaves a record of what its ledger could not take", async () => {
    // One of its own: a gateway commits by itself as well, so that one which is long there is at its end too soon.
    const env = { TOLLGATE_FAILPOINTS: "before_commit=throw:60" };
    const full = await startGateway({ settings: settingsFor(world.upstream.url), env });
    onTestFinished(async () => {
      await full.kill();
      rmSync(full.dataDirectory, { recursive: true });
    });
    await new Management(full).account("loud", 1n);
    let refused: Refused;
    let count = 0;
    do {
      refused = await ask("/api/v1/accounts/loud:credit", { credit_id: `more-${count}`, amount_nanos: "1" }, full);
      count += 1;
    } while (refused.reason === "" && count < 200);
    await expectRecord(refused, "LEDGER_UNAVAILABLE", full);
  });
});

test("every reason of the table was met, or it is said why not", () => {
  const missing = Object.keys(REASONS)
    .filter(isReasonName)
    .map(reasonWord)
    .filter((word) => !seen.has(word) && NOT_PROVOKED[word] === undefined);
  expect(missing).toEqual([]);
  expect(Object.keys(NOT_PROVOKED).filter((word) => seen.has(word))).toEqual([]);
});
