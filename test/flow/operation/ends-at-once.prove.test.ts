/**
 * A stream that must end with its key or account ends within ten of its events, which come 100 ms apart, and never
 * before the next one was read: a gateway that is slow to read is not given less time. So it is over HTTP, over gRPC
 * and over a WebSocket.
 */
import { type Client, Metadata } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, test } from "vitest";
import { chat, deliveredText, postChat } from "../../support/chat-call.js";
import { clientOf, type DynamicStream } from "../../support/dynamic-client.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { type PacedUpstream, startPacedUpstream, WORD } from "../../support/paced-upstream.js";
import { pace } from "../../support/pauses.js";
import { createDatabase, postgresMissing } from "../../support/postgres.js";
import { OWN_REDIS_MISSING, startRedis } from "../../support/redis-server.js";
import { SocketClient, type SocketEvent } from "../../support/websocket-client.js";
import { settingsFor } from "../../support/world.js";

const PACE_MS = 100;
/** One second of events. */
const EVENTS_MAX = 10;
/**
 * The word of the change goes over a third process, and no event waits for it: on a busy machine ten may pass before
 * all three had their turn. A node that missed the word would look anew only after more events than these.
 */
const EVENTS_MAX_APART = 40;
/** Of a stream that may finish: longer than any that must end goes on. */
const EVENTS_AFTER = 60;
const PATIENT = { timeout: 60_000, interval: 20 };
const SECRET = "a root secret of this test, long enough";

type Json = Readonly<Record<string, unknown>>;
interface Made {
  readonly account: string;
  readonly id: string;
  readonly secret: string;
}
interface Case {
  readonly name: string;
  readonly key?: Json;
  readonly act: (management: Management, made: Made) => Promise<{ status: number }>;
  /** What the stream ends with; it finishes where that is undefined. */
  readonly ends?: RegExp;
}

const revoke: Case["act"] = (management, { id }) => management.call("DELETE", `/keys/${id}`);
const freeze =
  (endStreams: boolean): Case["act"] =>
  (management, { account }) =>
    management.call("POST", `/accounts/${account}:freeze`, { reason: "chargeback", end_streams: endStreams });
/** Resolves once the key has expired, by the gateway's own clock. */
const expire: Case["act"] = (management, { id }) =>
  management.call("PATCH", `/keys/${id}`, {
    settings: { expire_time: new Date(Date.now() + 1_000).toISOString() },
    update_mask: "expire_time",
  });

const CASES: readonly Case[] = [
  { name: "its key is revoked: ends, by default", act: revoke, ends: /was revoked/ },
  { name: "its key is revoked: finishes where the key says so", key: { end_streams_on_revoke: false }, act: revoke },
  { name: "its key expires: finishes, by default", act: expire },
  {
    name: "its key expires: ends where the key says so",
    key: { end_streams_on_expiry: true },
    act: expire,
    ends: /expired at/,
  },
  { name: "its account is frozen so: ends", act: freeze(true), ends: /is frozen: chargeback/ },
  { name: "its account is frozen: finishes, by default", act: freeze(false) },
];

interface Reading {
  /** All that came, and why it ended. */
  text(): string;
  words(): number;
  ended(): boolean;
  /** True where it came to the end of the answer. */
  finished(): boolean;
}

interface Place {
  /** Where the stream is read. */
  readonly streaming: GatewayProcess;
  /** A gRPC address of where it is read; a front end apart has none, and its core has. */
  readonly grpc: string;
  /** Where the key is revoked. */
  readonly acting: GatewayProcess;
  readonly eventsMax: number;
  close(): Promise<void>;
}

async function oneProcess(settings: string): Promise<Place> {
  const gateway = await startGateway({ settings });
  const close = async (): Promise<void> => void (await gateway.stop());
  return { streaming: gateway, grpc: gateway.grpc, acting: gateway, eventsMax: EVENTS_MAX, close };
}

async function frontApart(settings: string): Promise<Place> {
  const core = await startGateway({ settings, env: { TOLLGATE_SECRET: SECRET } });
  const front = await startGateway({ env: { TOLLGATE_CORE: core.grpc, TOLLGATE_SECRET: SECRET } });
  const close = async (): Promise<void> => {
    await front.stop();
    await core.stop();
  };
  return { streaming: front, grpc: core.grpc, acting: core, eventsMax: EVENTS_MAX, close };
}

async function twoNodes(settings: string): Promise<Place> {
  const [redis, database] = [await startRedis(), await createDatabase()];
  const env = {
    TOLLGATE_DATABASE_URL: database.url,
    TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}`,
    TOLLGATE_SECRET: SECRET,
  };
  const [acting, streaming] = [await startGateway({ settings, env }), await startGateway({ settings, env })];
  const close = async (): Promise<void> => {
    await Promise.all([acting.stop(), streaming.stop()]);
    await Promise.all([redis.close(), database.drop()]);
  };
  return { streaming, grpc: streaming.grpc, acting, eventsMax: EVENTS_MAX_APART, close };
}

const PLACES = [
  { where: "in one process", open: oneProcess, missing: undefined },
  { where: "of a front end apart", open: frontApart, missing: undefined },
  { where: "on another node", open: twoNodes, missing: postgresMissing ?? OWN_REDIS_MISSING },
];

type Ask = (place: Place, secret: string, content: string) => Promise<Reading>;

/** Reads a stream as it comes. */
const overHttp: Ask = async ({ streaming }, secret, content) => {
  const response = await postChat(streaming, secret, chat(content, { stream: true }));
  let text = "";
  let ended = false;
  const decoder = new TextDecoder();
  const read = async (): Promise<void> => {
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes as Uint8Array, { stream: true });
  };
  read()
    .catch(() => undefined)
    .finally(() => (ended = true));
  const words = (): number => deliveredText(text).split(WORD).length - 1;
  return { text: () => text, words, ended: () => ended, finished: () => text.includes("[DONE]") };
};

const overGrpc: Ask = async ({ grpc }, secret, content) => {
  const client: Client = clientOf("tollgate.v1.InferenceService", grpc);
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${secret}`);
  const method: (request: object, metadata: Metadata) => DynamicStream = Reflect.get(client, "StreamGenerate");
  const prompt = { messages: [{ role: "ROLE_USER", parts: [{ text: { text: content } }] }] };
  const call = method.call(client, { generation: { model: "fake-1", prompt } }, metadata);
  let text = "";
  let isEnded = false;
  let isWhole = false;
  const over = (): void => {
    isEnded = true;
    client.close();
  };
  call.on("data", (message) => (text += JSON.stringify(message)));
  call.on("error", (error) => {
    text += error.details;
    over();
  });
  call.on("end", () => {
    isWhole = !isEnded;
    over();
  });
  const words = (): number => text.split(WORD).length - 1;
  return { text: () => text, words, ended: () => isEnded, finished: () => isWhole };
};

const overSocket: Ask = async ({ streaming }, secret, content) => {
  const client = await SocketClient.open(streaming.url, secret);
  client.create({ model: "fake-1", input: content });
  const told = (type: string): SocketEvent[] => client.events.filter((event) => event["type"] === type);
  const finished = (): boolean => told("response.completed").length > 0;
  return {
    text: () => client.frames.join("\n"),
    words: () => told("response.output_text.delta").length,
    // A connection whose response finished stays open.
    ended: () => finished() || client.closed !== undefined,
    finished,
  };
};

const CHANNELS = [
  { channel: "http", ask: overHttp },
  { channel: "grpc", ask: overGrpc },
  { channel: "websocket", ask: overSocket },
];
const ASKED = CHANNELS.flatMap((way) => CASES.map((one) => ({ ...way, ...one })));

describe.each(PLACES)("a stream $where", ({ where, open, missing }) => {
  describe.skipIf(missing !== undefined)(`${missing ?? "when"}`, () => {
    let upstream: PacedUpstream;
    let place: Place;
    beforeAll(async () => {
      upstream = await startPacedUpstream();
      place = await open(settingsFor(upstream.url));
    });
    afterAll(async () => {
      await place.close();
      await upstream.close();
    });

    test.concurrent.for(ASKED)("over $channel, $name", async ({ channel, ask, name, key, act, ends }, { expect }) => {
      const management = new Management(place.acting);
      const account = `${channel}-${CASES.findIndex((one) => one.name === name)}`;
      await management.account(account, 1_000_000_000n);
      const made: Made = { account, ...(await management.makeKey(account, key)) };
      const content = `${channel}, ${where}, ${name}`;
      const asked = ask(place, made.secret, content);
      await expect.poll(() => upstream.streams.has(content), PATIENT).toBe(true);
      const stream = upstream.streams.get(content)!;
      // The head comes with the first word: before that another upstream could still answer.
      stream.word();
      const client = await asked;

      /** Sends an event and waits until it was read, or the stream is over. */
      const step = async (): Promise<void> => {
        const before = client.words();
        stream.word();
        await expect.poll(() => client.ended() || client.words() > before, PATIENT).toBe(true);
      };
      for (let count = 0; count < 3; count++) await step();
      expect((await act(management, made)).status).toBe(200);
      if (act === expire) await expect.poll(() => nextStatus(place, made.secret), PATIENT).toBe(401);
      let events = 0;
      const most = ends === undefined ? EVENTS_AFTER : place.eventsMax + 1;
      while (!client.ended() && events < most) {
        await pace(PACE_MS);
        if (client.ended()) break;
        events += 1;
        await step();
      }
      if (ends === undefined) {
        expect(client.words()).toBe(4 + EVENTS_AFTER);
        stream.finish();
        await expect.poll(() => client.ended(), PATIENT).toBe(true);
        expect(client.finished()).toBe(true);
      } else {
        expect(events).toBeLessThanOrEqual(place.eventsMax);
        expect(client.text()).toMatch(ends);
        expect(client.finished()).toBe(false);
        // Nor does the upstream go on generating what nobody reads.
        await expect.poll(() => stream.left, PATIENT).toBe(true);
      }
    });
  });
});

async function nextStatus({ streaming }: Place, secret: string): Promise<number> {
  const response = await fetch(`${streaming.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
  await response.text();
  return response.status;
}
