/** What a process says of money that went otherwise than held: one line, with the request's id, and a count. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";
import { searchingModel, settingsFor } from "../../support/world.js";

const PATIENT = { timeout: 60_000, interval: 50 };
const STREAMS = 3;
type Line = Readonly<Record<string, unknown>>;

let upstream: FakeUpstream;
let settings = "";

beforeAll(async () => {
  upstream = await startFakeUpstream();
  settings = settingsFor(upstream.url) + searchingModel(1_000);
});
afterAll(() => upstream.close());

function linesOf(gateway: GatewayProcess): Line[] {
  return gateway.log.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Line);
}

/** The ids of requests that a line holds, wherever they stand in it, by the name that they stand under. */
function idsIn(value: unknown, name = ""): { readonly name: string; readonly id: string }[] {
  if (typeof value === "string") return /^req_[0-9a-f]{16,}$/.test(value) ? [{ name, id: value }] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => idsIn(inner, Array.isArray(value) ? name : key));
}

test("a cost above what the account had is one line with the request's id, and counted once", async () => {
  const gateway = await startGateway({ settings });
  const management = new Management(gateway);
  await management.account("poor", 20_000n);
  const { secret } = await management.makeKey("poor");
  const body = chat(script({ usageIs: { prompt_tokens: 9_000 } }), {
    model: "searching-1",
    max_tokens: 5,
    web_search_options: {},
  });
  const response = await postChat(gateway, secret, body);
  await readAll(response);
  expect(response.status).toBe(200);
  const id = response.headers.get("x-request-id") ?? "";
  await gateway.logged("cost more than its account had");
  const { body: told } = await management.call("GET", `/requests/${id}`);
  const { overage_nanos: overage } = told["request"] as { overage_nanos: string };
  expect(BigInt(overage)).toBeGreaterThan(0n);
  // What one thing is told twice of comes behind other things that are told.
  await readAll(await postChat(gateway, secret, chat("Hello")));
  expect(await gateway.stop()).toBe(0);
  const lines = linesOf(gateway);
  expect(lines.filter((line) => "overage_nanos" in line || String(line["msg"]).includes("cost more"))).toEqual([
    expect.objectContaining({ request_id: id, overage_nanos: overage }),
  ]);
  expect(lines.flatMap((line) => idsIn(line)).filter(({ name }) => name !== "request_id")).toEqual([]);
  rmSync(gateway.dataDirectory, { recursive: true });
});

test("holds that a killed process left are one line of the next one, and counted once", async () => {
  const killed = await startGateway({ settings });
  const operator = new Management(killed);
  await operator.account("acme", 1_000_000_000n);
  const { secret } = await operator.makeKey("acme");
  const body = chat(script({ words: 900, eventDelayMs: 300 }), { stream: true });
  const running = await Promise.all(Array.from({ length: STREAMS }, () => postChat(killed, secret, body)));
  expect(running.map(({ status }) => status)).toEqual([200, 200, 200]);
  await killed.kill();
  await Promise.all(running.map(readAll));

  const { dataDirectory } = killed;
  const gateway = await startGateway({ settings, dataDirectory });
  const management = new Management(gateway);
  await expect.poll(async () => (await management.balance("acme")).heldNanos, PATIENT).toBe(0n);
  const recovered = (): Line[] => linesOf(gateway).filter((line) => String(line["msg"]).includes("orphaned holds"));
  const countIn = ({ settled, voided }: Line): number => Number(settled) + Number(voided);
  const sum = (): number => recovered().reduce((all, line) => all + countIn(line), 0);
  await expect.poll(sum, PATIENT).toBe(STREAMS);
  const metrics = await readMetrics(gateway);
  expect(metrics.sum("tollgate_orphans_total")).toBe(STREAMS);
  expect(metrics.sum("tollgate_settles_lost_total")).toBe(0);
  await readAll(await postChat(gateway, secret, chat("Hello")));
  await management.verify();
  expect(await gateway.stop()).toBe(0);
  expect(sum()).toBe(STREAMS);
  expect(linesOf(gateway).filter((line) => "voided" in line || "settled" in line)).toEqual(recovered());
  rmSync(dataDirectory, { recursive: true });
});
