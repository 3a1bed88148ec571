/** A gateway whose old transfers were archived while it serves: every edge says so, and nothing ends in silence. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import { UsageServiceService } from "../../../src/api/index.js";
import { archiveLedger } from "../../../src/store/archive/archive.js";
import { creditOf, holdOf, settleOf } from "../../ledger/operations.js";
import { TEST_ACT } from "../../support/acts.js";
import { tollgate } from "../../support/command.js";
import { OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { onEachStore } from "../../support/stores.js";

const MARCH_MS = Date.parse("2026-03-10T12:00:00Z");
const JUNE_MS = Date.parse("2026-06-10T12:00:00Z");
const BEFORE = "2026-04-01";
const SECRET = "a root secret of this test, long enough";
const OLD = idAt(MARCH_MS);
const NEW = idAt(JUNE_MS);

function idAt(timeMs: number): string {
  return `req_${timeMs.toString(16).padStart(12, "0")}${"a".repeat(20)}`;
}

function filesDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-archived-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

onEachStore((driver) => {
  test("refunds, receipts, entries, statements and proofs say what is archived, whoever asks and however", async () => {
    const place = await driver.place();
    const store = await place.open();
    await store.accounts.create({ id: "acme", name: "Acme", createTimeMs: MARCH_MS }, TEST_ACT);
    const money = { accountId: "acme", costNanos: 20n } as const;
    for (const [requestId, nowMs] of [
      [OLD, MARCH_MS],
      [NEW, JUNE_MS],
    ] as const)
      await store.ledger.commit([
        creditOf(1_000n, { accountId: "acme", creditId: requestId, nowMs }),
        holdOf({ accountId: "acme", requestId, nowMs, amountNanos: 50n }),
        settleOf({ requestId, nowMs, costNanos: money.costNanos }),
      ]);
    await store.close();

    const env = { ...place.env, TOLLGATE_SECRET: SECRET };
    const { TOLLGATE_DATA: dataDirectory = filesDirectory() } = place.env;
    const gateway = await startGateway({ dataDirectory, env });
    onTestFinished(() => gateway.kill());
    const management = new Management(gateway);
    expect((await management.call("GET", `/requests/${OLD}`)).body).not.toHaveProperty("archived_before");

    const directory = filesDirectory();
    const database = await place.archive();
    const asked = { act: TEST_ACT, nowMs: Date.now(), onProgress: () => undefined };
    const { months, transferCount } = await archiveLedger({ ...asked, database, directory, before: "2026-04" });
    expect({ months, transferCount }).toEqual({ months: ["2026-03"], transferCount: 3 });

    const says = `The request '${OLD}' is older than ${BEFORE}, and its transfers are archived. It cannot be refunded`;
    const refund = { refund_id: "one", reason: "the answer was cut" };
    const refused = await management.call("POST", `/requests/${OLD}:refund`, refund);
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([404, expect.stringContaining(says)]);
    expect(JSON.stringify((await management.call("GET", `/requests/late`)).body)).toContain("There is no request");
    const never = await management.call("POST", `/requests/${idAt(Date.now())}:refund`, refund);
    expect([never.status, JSON.stringify(never.body)]).toEqual([404, expect.stringContaining("There is no request")]);
    expect((await management.call("POST", `/requests/${NEW}:refund`, refund)).status).toBe(200);
    const overRpc = await refundByRpc(gateway.grpc, OLD);
    expect(overRpc.details).toContain(says);
    // What the message tells the operator to do is taken.
    const given = await management.call("POST", "/accounts/acme:credit", {
      amount_nanos: "20",
      credit_id: "back",
      reason: `back for ${OLD}`,
    });
    expect(given.status).toBe(200);

    const archived = `${BEFORE}T00:00:00Z`;
    const receipt = (await management.call("GET", `/requests/${OLD}`)).body;
    expect(JSON.stringify(receipt)).toContain(says);
    expect((await management.call("GET", `/requests/${NEW}`)).body).not.toHaveProperty("archived_before");
    const first = (await management.call("GET", "/accounts/acme/entries?page_size=2")).body;
    expect(first).not.toHaveProperty("archived_before");
    const token = encodeURIComponent(String(first["next_page_token"]));
    const rest = (await management.call("GET", `/accounts/acme/entries?page_size=9&page_token=${token}`)).body;
    expect(rest).toMatchObject({ next_page_token: "", archived_before: archived });
    const statement = (await management.call("GET", "/accounts/acme/statement")).body;
    expect(statement).toMatchObject({ archived_before: archived, opening: { available_nanos: "980" } });
    const since = (await management.call("GET", "/accounts/acme/statement?from=2026-06-01")).body;
    expect(since).not.toHaveProperty("archived_before");
    const proof = (await management.call("POST", "/ledger:verify", {})).body;
    expect(proof).toMatchObject({ holds: true, archived_before: archived, archived_transfer_count: "2" });

    const run = (...args: string[]) =>
      tollgate(args, { TOLLGATE_GATEWAY: gateway.grpc, TOLLGATE_KEY: OPERATOR_KEY, ...env });
    const command = await run("request", "refund", OLD, "--reason", "the answer was cut");
    expect(command.code).not.toBe(0);
    expect(command.stderr).toContain(says);
    const note = `Before ${BEFORE}: `;
    expect((await run("account", "entries", "acme")).stdout).toContain(`${note}older entries are archived`);
    expect((await run("account", "entries", "acme", "--limit", "1")).stdout).not.toContain(note);
    expect((await run("account", "statement", "acme")).stdout).toContain(`${note}entries before the opening are`);
    expect((await run("account", "statement", "acme", "--csv")).stdout).toContain("entries before are archived");
    expect((await run("export", "entries", "--account", "acme")).stderr).toContain(`acme: ${note}entries are archived`);
    const proven = (await run("ledger", "verify")).stdout;
    expect(proven).toContain("The ledger holds");
    expect(proven).toContain(`${note}2 transfers are archived; 'tollgate store verify --archive DIR' proves them.`);
    expect((await run("ledger", "verify", "--help")).stdout).toContain("tollgate store verify --archive DIR");
    const beside = await run("store", "verify", "--archive", directory);
    expect(beside.stdout).toContain(`${note}2 transfers that are archived were proven too.`);
    expect((await run("store", "verify")).stdout).toContain("--archive DIR proves them too");
  });
});

function refundByRpc(address: string, id: string): Promise<ServiceError> {
  const { path, requestSerialize, responseDeserialize } = UsageServiceService.refundRequest;
  const client = new Client(address, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${OPERATOR_KEY}`);
  const asked = { id, amountNanos: undefined, amount: undefined, refundId: "two", reason: "the answer was cut" };
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, asked, metadata, (error) => {
      client.close();
      if (error === null) reject(new Error("it was refunded"));
      else resolve(error);
    });
  });
}
