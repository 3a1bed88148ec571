/** A gateway that is killed under load: records are lost for its last moments alone, and no event that it listed. */
import { rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { pace } from "../../support/pauses.js";
import { startReceiver } from "../../support/webhook-receiver.js";

type Json = Readonly<Record<string, unknown>>;

const SETTINGS = `upstreams: { sim: { family: sim } }
models:
  sim-2:
    targets: [{ upstream: sim, model: sim-1 }]
    context_tokens: 8000
    output_tokens_max: 100
    price: { input: "1", output: "2" }
`;
const ENV = { TOLLGATE_WEBHOOK_NETWORKS: "127.0.0.0/8", TOLLGATE_SECRET: "a root secret of this test, long enough" };
const CALLERS = 16;
const WATCHED = 40;
/** Of the posts that these events need, so many have come when it is killed. */
const POSTS = 5;
/** Several times what may be lost. */
const SERVED_MS = 4_000;
/** A crash may lose the records of the last second. */
const LOST_MS = 1_000;
/** Time counts while it served: in a slice in which nothing came the machine let nothing of it run. */
const SLICE_MS = 50;
/** What was on its way when it died waits until nobody can still be sending it. */
const PATIENT = { timeout: 240_000, interval: 250 };

let tag = 0;

interface Asked {
  readonly id: string;
  readonly tag: string;
}

/** One request with a tag of its own; undefined where the gateway died over it. */
async function ask(gateway: GatewayProcess, secret: string): Promise<Asked | undefined> {
  const own = `n=${(tag += 1)}`;
  const headers = { "x-tollgate-tags": own };
  const body = chat("Hi", { model: "sim-2", max_tokens: 4 });
  const response = await postChat(gateway, secret, body, { headers }).catch(() => undefined);
  if (response === undefined) return undefined;
  const text = await readAll(response).catch(() => undefined);
  expect(response.status).toBe(200);
  if (text === undefined) return undefined;
  return { id: response.headers.get("x-request-id") ?? "", tag: own };
}

/** The slice in which a request came, by the clock of the gateway, which is in its id. */
function sliceOf({ id }: Asked): number {
  return Math.floor(Number.parseInt(id.slice("req_".length, "req_".length + 12), 16) / SLICE_MS);
}

/** The tags of each request that has its own record: what the ledger alone knows has other ones, or none. */
async function tagsById(management: Management): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  for (let token = ""; ;) {
    const { body } = await management.call("GET", `/requests?account_id=loaded&page_size=1000&page_token=${token}`);
    for (const { id, detail } of body["requests"] as { id: string; detail?: { tags: string[] } }[])
      if (detail !== undefined) found.set(id, detail.tags);
    token = String(body["next_page_token"]);
    if (token === "") return found;
  }
}

const WHOLE =
  "what ended before its last second has its record, and each event comes to its webhook and is listed once";

test(WHOLE, { timeout: 400_000 }, async () => {
  const receiver = await startReceiver();
  // Slowly, so that some posts are over, some run and some wait when it dies.
  receiver.answer((response) => void pace(200).then(() => response.writeHead(204).end()));
  const first = await startGateway({ settings: SETTINGS, env: ENV });
  const { dataDirectory } = first;
  onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const before = new Management(first);
  await before.account("loaded", 10_000_000_000_000n);
  const { secret } = await before.makeKey("loaded");
  const answered: Asked[] = [];

  for (let at = 0; at < WATCHED; at += 1) await before.account(`low-${at}`, 1_000n);
  expect((await before.call("POST", "/webhooks", { settings: { url: receiver.url } })).status).toBe(200);
  const alert = { kind: "balance_low", name: "low", amount: "5.00 USD" };
  expect((await before.call("POST", "/alerts", { settings: alert })).status).toBe(200);
  let killed: Promise<void> | undefined;
  const work = async (): Promise<void> => {
    while (killed === undefined) {
      const asked = await ask(first, secret);
      if (asked !== undefined) answered.push(asked);
      const slices = new Set(answered.map(sliceOf)).size;
      if (receiver.received.length >= POSTS && slices * SLICE_MS > SERVED_MS) killed ??= first.kill();
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, work));
  await killed;

  receiver.answer((response) => response.writeHead(204).end());
  const second = await startGateway({ settings: SETTINGS, env: ENV, dataDirectory });
  onTestFinished(async () => void (await second.stop()));
  const after = new Management(second);
  const recorded = await tagsById(after);
  const lost = answered.filter(({ id, tag: own }) => recorded.get(id)?.join() !== own);
  const oldest = Math.min(...lost.map(sliceOf));
  // The slices in which it served from the oldest that is lost to its death.
  const lastSlices = new Set(answered.map(sliceOf).filter((slice) => slice >= oldest));
  expect(answered.length - lost.length).toBeGreaterThan(0);
  expect(lastSlices.size * SLICE_MS).toBeLessThanOrEqual(LOST_MS);

  const events = async (): Promise<readonly Json[]> =>
    (await after.call("GET", "/events?page_size=1000")).body["events"] as Json[];
  // The operator's own account is low as well.
  const subjects = async (): Promise<string[]> =>
    (await events())
      .map(({ subject }) => String(subject))
      .filter((subject) => subject.startsWith("account low-"))
      .toSorted();
  const low = Array.from({ length: WATCHED }, (_, at) => `account low-${at}`).toSorted();
  await expect.poll(subjects, PATIENT).toEqual(low);
  const undelivered = async (): Promise<unknown[]> => {
    const came = new Set(receiver.received.map(({ headers }) => headers["webhook-id"]));
    return (await events()).filter(({ id }) => !came.has(String(id)));
  };
  await expect.poll(undelivered, PATIENT).toEqual([]);
  await after.verify();
  expect(await subjects()).toEqual(low);
});
