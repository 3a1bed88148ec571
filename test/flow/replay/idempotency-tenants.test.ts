/**
 * An Idempotency-Key is its own API key's: the same text of another account, or of another key of the same account,
 * never gets an answer that was not made for it, whatever it asks for, over HTTP and gRPC and on each store.
 */
import { rmSync } from "node:fs";
import { type Client, Metadata } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { firstOperator } from "../../support/browser.js";
import { clientOf, type DynamicUnary } from "../../support/dynamic-client.js";
import { type FakeUpstream, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { createDatabase } from "../../support/postgres.js";
import { STORE_DRIVERS } from "../../support/stores.js";
import { testStore } from "../../support/test-store.js";
import { settingsFor } from "../../support/world.js";

const SECRET = "a root secret of this test, long enough";
const IDEMPOTENCY_KEY = "order 1";
const drivers = STORE_DRIVERS.filter(({ id }) => testStore === "sqlite" || id === testStore);
const messages = [{ role: "user", content: "Hello" }];

interface Answer {
  readonly text: string;
  readonly isReplayed: boolean;
}

/** What asks with a key of the gateway's. Each way has an Idempotency-Key of its own, the same for all who go it. */
interface Way {
  readonly name: string;
  readonly ask: (secret: string) => Promise<Answer>;
}

describe.each(drivers)("on $name", ({ id: driver, missing }) => {
  let upstream: FakeUpstream;
  let gateway: GatewayProcess;
  let inference: Client;
  let secrets: readonly { readonly who: string; readonly secret: string }[];
  let drop = (): Promise<void> => Promise.resolve();
  let answers = 0;

  beforeAll(async () => {
    if (missing !== undefined) return;
    upstream = await startFakeUpstream();
    // No two answers of the upstream are alike, so that each answer shows for whom it was made.
    upstream.decide = () => ({ text: `Answer ${(answers += 1)}.` });
    const database = driver === "postgres" ? await createDatabase() : undefined;
    drop = database?.drop ?? drop;
    const env: Record<string, string> =
      database === undefined ? {} : { TOLLGATE_DATABASE_URL: database.url, TOLLGATE_SECRET: SECRET };
    gateway = await startGateway({ settings: settingsFor(upstream.url), env });
    inference = clientOf("tollgate.v1.InferenceService", gateway.grpc);
    const management = new Management(gateway);
    const made: { readonly who: string; readonly secret: string }[] = [];
    for (const account of ["acme", "bolt"]) {
      await management.account(account, 1_000_000_000n);
      for (const place of ["first", "second"])
        made.push({ who: `${account}'s ${place} key`, secret: (await management.makeKey(account, SCOPES)).secret });
    }
    secrets = made;
  });
  afterAll(async () => {
    if (missing !== undefined) return;
    inference.close();
    await gateway.stop();
    await upstream.close();
    await drop();
    rmSync(gateway.dataDirectory, { recursive: true, force: true });
  });

  const post =
    (path: string, body: object) =>
    async (secret: string): Promise<Answer> => {
      const authorization = `Bearer ${secret}`;
      const headers = { authorization, "content-type": "application/json", "idempotency-key": IDEMPOTENCY_KEY + path };
      const response = await fetch(gateway.url + path, { method: "POST", headers, body: JSON.stringify(body) });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      return { text, isReplayed: response.headers.get("idempotent-replayed") === "true" };
    };

  const call = (secret: string): Promise<Answer> => {
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${secret}`);
    metadata.set("idempotency-key", IDEMPOTENCY_KEY);
    const prompt = { messages: [{ role: "ROLE_USER", parts: [{ text: { text: "Hello" } }] }] };
    const request = { generation: { model: "fake-1", prompt } };
    const method: DynamicUnary = Reflect.get(inference, "Generate");
    let isReplayed = false;
    return new Promise((resolve, reject) => {
      const calling = method.call(inference, request, metadata, {}, (error, answer) =>
        error ? reject(error) : resolve({ text: JSON.stringify(answer), isReplayed }),
      ) as unknown as NodeJS.EventEmitter;
      calling.on("metadata", (head: Metadata) => (isReplayed = head.get("idempotent-replayed")[0] === "true"));
    });
  };

  const ways: readonly Way[] = [
    { name: "a whole answer", ask: post("/v1/chat/completions", { model: "fake-1", messages }) },
    {
      name: "a streamed answer",
      ask: post("/v1/chat/completions?streamed", { model: "fake-1", messages, stream: true }),
    },
    { name: "a message", ask: post("/v1/messages", { model: "fake-1", max_tokens: 9, messages }) },
    { name: "a response", ask: post("/v1/responses", { model: "fake-1", input: "Hello" }) },
    { name: "an answer over gRPC", ask: call },
    { name: "a new key", ask: post("/api/v1/keys", { settings: { name: "child", scopes: ["chat"] } }) },
  ];

  test.skipIf(missing !== undefined).each(ways)(
    "$name is its own key's, and comes again to it alone",
    async ({ ask }) => {
      const first = new Map<string, string>();
      for (const { who, secret } of secrets) {
        const { text, isReplayed } = await ask(secret);
        expect(
          [...first].filter(([, other]) => other === text),
          who,
        ).toEqual([]);
        expect(isReplayed, who).toBe(false);
        first.set(who, text);
      }
      for (const { who, secret } of secrets)
        expect(await ask(secret), who).toEqual({ text: first.get(who), isReplayed: true });
    },
  );

  test.skipIf(missing !== undefined)("at once, too", async () => {
    const ask = post("/v1/chat/completions?at-once", { model: "fake-1", messages });
    const asked = await Promise.all(
      secrets.flatMap(({ who, secret }) => [1, 2, 3].map(async () => ({ who, text: (await ask(secret)).text }))),
    );
    const texts = secrets.map(({ who }) => new Set(asked.filter((one) => one.who === who).map(({ text }) => text)));
    expect(texts.map(({ size }) => size)).toEqual(secrets.map(() => 1));
    expect(new Set(asked.map(({ text }) => text)).size).toBe(secrets.length);
  });

  test.skipIf(missing !== undefined)("a person's is the person's in one account", async () => {
    const person = await firstOperator(gateway);
    const make = async (account: string): Promise<{ readonly of: unknown; readonly secret: unknown }> => {
      person.account = account;
      const settings = { name: "child", scopes: ["chat"] };
      const { status, body } = await person.call("POST", "/keys", { settings }, { "idempotency-key": IDEMPOTENCY_KEY });
      expect(status, JSON.stringify(body)).toBe(200);
      return { of: (body["key"] as { account_id: string }).account_id, secret: body["secret"] };
    };
    const [acme, bolt] = [await make("acme"), await make("bolt")];
    expect([acme.of, bolt.of]).toEqual(["acme", "bolt"]);
    expect(await make("acme")).toEqual(acme);
    expect(await make("bolt")).toEqual(bolt);
  });
});

const SCOPES = { scopes: ["chat", "keys"] };
