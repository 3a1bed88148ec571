/** Snapshots of published prices as a publisher makes them: the program's own list, with some changes. */
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type ModelInfo, waitForUpdate } from "@pydantic/genai-prices";
import { keyTextOf, type Snapshot, type SnapshotModel, writeSnapshot } from "../../src/price-lists/snapshot.js";

const PAIR = generateKeyPairSync("ed25519");
export const SNAPSHOT_KEY = keyTextOf(PAIR.publicKey);
const DAY_MS = 86_400_000;

/** Prices of a model of OpenAI that are others than before. `others`: what a second list says. */
export interface Changed {
  readonly id: string;
  readonly prices: Readonly<Record<string, number>>;
  readonly others?: Readonly<Record<string, number>>;
}

/** The models of OpenAI in the program's own list, as a snapshot with some changes. */
export async function snapshotOf(
  serial: number,
  changed: readonly Changed[],
  times: Partial<Pick<Snapshot, "made" | "expires">> = {},
): Promise<string> {
  const provider = (await waitForUpdate())?.find(({ id }) => id === "openai");
  const models = (provider?.models ?? []).map(({ id, match, prices }): ModelInfo => ({ id, match, prices }));
  const byId = new Map(models.map((model): [string, SnapshotModel] => [model.id, { model, others: {} }]));
  for (const { id, prices, others = {} } of changed) {
    const before = byId.get(id)?.model;
    const model = { id, match: before?.match ?? { equals: id }, prices: { ...before?.prices, ...prices } };
    byId.set(id, { model, others: { other: others } });
  }
  const made = new Date().toISOString();
  const expires = new Date(Date.now() + 30 * DAY_MS).toISOString();
  const providers = new Map([["openai", [...byId.values()]]]);
  return writeSnapshot({ serial, made, expires, ...times, providers }, [PAIR.privateKey]);
}

/** A server that answers with what was published last. */
export async function startPublisher() {
  const published = { text: "", status: 200 };
  const server = createServer((_, response) => response.writeHead(published.status).end(published.text));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { published, url: `http://127.0.0.1:${port}/prices.json`, close };
}
