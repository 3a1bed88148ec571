/** A gateway that is killed loses records and no money: what the ledger charged has records again. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { tamperDatabase } from "../../support/database-behind.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { allowTimeToFail } from "../../support/pauses.js";
import { testStore } from "../../support/test-store.js";

const SETTINGS = `upstreams: { sim: { family: sim } }
models:
  sim-2:
    targets: [{ upstream: sim, model: sim-1 }]
    context_tokens: 8000
    output_tokens_max: 100
    price: { input: "1", output: "2" }
`;
const REQUESTS = 1_200;
const CALLERS = 24;
/** A list looks through so many of the ledger's newest for those without a record. */
const NEWEST_ROWS = 100;
/** Records are on the disk within a second; of one that is not a list would find the gap, and prove less. */
const STORED_MS = 3_000;

/** An account with a key, in a directory that goes with the test. */
async function opened(gateway: GatewayProcess): Promise<{ readonly dataDirectory: string; readonly secret: string }> {
  const { dataDirectory } = gateway;
  onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const management = new Management(gateway);
  await management.account("acme", 10_000_000_000n);
  const { secret } = await management.makeKey("acme");
  return { dataDirectory, secret };
}

const THOUSAND = "a thousand requests whose records a kill took have records again, and sums are the ledger's";

test(THOUSAND, { timeout: 600_000 }, async () => {
  const first = await startGateway({ settings: SETTINGS });
  const { dataDirectory, secret } = await opened(first);
  let left = REQUESTS;
  const work = async (): Promise<void> => {
    while (left-- > 0) {
      const response = await postChat(first, secret, chat("Hi", { model: "sim-2", max_tokens: 4 }));
      expect(response.status, await readAll(response)).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, work));
  await first.kill();
  // A crash takes the last second of records; this one takes all of them.
  if (testStore === "postgres") await tamperDatabase(dataDirectory, "DELETE FROM record_chunk");
  for (const ending of ["", "-wal", "-shm"]) rmSync(join(dataDirectory, `records.db${ending}`), { force: true });

  const second = await startGateway({ settings: SETTINGS, dataDirectory });
  onTestFinished(async () => void (await second.stop()));
  const management = new Management(second);
  // What was not settled when it died is settled or freed by recovery.
  await expect.poll(async () => (await management.balance("acme")).heldNanos).toBe(0n);
  const { body } = await management.call("GET", "/usage");
  const { total } = body as unknown as { total: { cost_nanos: string; request_count: string } };
  const charged = Number(total.request_count);
  expect(charged).toBeGreaterThan(1_000);
  const cost = async (by: string): Promise<string> => {
    const answer = await management.call("GET", `/usage:query?group_by=${by}&start_time=2020-01-01T00:00:00Z`);
    const sums = answer.body["sums"] as { cost_nanos: string }[];
    return String(sums.reduce((sum, one) => sum + BigInt(one.cost_nanos), 0n));
  };
  // What ended in the last seconds may still be on its way.
  await expect.poll(() => cost("day"), { timeout: 60_000, interval: 250 }).toBe(total.cost_nanos);
  for (const by of ["day", "user", "key", "reason"]) expect([by, await cost(by)]).toEqual([by, total.cost_nanos]);
  // And those that were freed, which cost nothing.
  const adopted = async (): Promise<number> => {
    let count = 0;
    for (let token = ""; ;) {
      const page = await management.call("GET", `/requests?reason=unknown&page_size=1000&page_token=${token}`);
      count += (page.body["requests"] as unknown[]).length;
      if ((token = String(page.body["next_page_token"])) === "") return count;
    }
  };
  await expect.poll(adopted, { timeout: 60_000, interval: 250 }).toBeGreaterThanOrEqual(charged);
  for (const by of ["day", "user", "model"]) expect([by, await cost(by)]).toEqual([by, total.cost_nanos]);
  await management.verify();
});

test("a request that a kill cut is in the list again, though nobody asked and many came after it", async () => {
  const first = await startGateway({ settings: SETTINGS });
  const { dataDirectory, secret } = await opened(first);
  const long = await postChat(first, secret, chat("sim:slow=1000 sim:words=90", { model: "sim-2", stream: true }));
  const id = String(long.headers.get("x-request-id"));
  // More than a list looks through of the ledger's newest.
  const ended = Promise.allSettled([readAll(long)]);
  for (let count = 0; count < NEWEST_ROWS + 10; count += 1)
    expect((await postChat(first, secret, chat("Hi", { model: "sim-2", max_tokens: 4 }))).status).toBe(200);
  const listed = async (management: Management, path: string): Promise<readonly unknown[]> => {
    const { body } = await management.call("GET", path);
    return (body["requests"] as { readonly id: string }[]).map((request) => request.id);
  };
  // Of those that have ended each has its record, so that a list finds none without one.
  const management = new Management(first);
  const ends = (): Promise<readonly unknown[]> => listed(management, "/requests?http_status=200&page_size=1000");
  await expect.poll(async () => (await ends()).length, { timeout: 60_000 }).toBe(NEWEST_ROWS + 10);
  await allowTimeToFail(STORED_MS);
  await first.kill();
  await ended;

  const second = await startGateway({ settings: SETTINGS, dataDirectory });
  onTestFinished(async () => void (await second.stop()));
  const again = new Management(second);
  await expect.poll(() => listed(again, "/requests?page_size=1000"), { timeout: 60_000 }).toContain(id);
  expect((await again.call("GET", `/requests/${id}`)).status).toBe(200);
});
