/** What an operator does daily, by commands against a running gateway. */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chat, postChat, readAll } from "../support/chat-call.js";
import type { CommandResult } from "../support/command.js";
import { commandsOfOneProcess } from "../support/commands.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../support/gateway-process.js";
import { Management } from "../support/management.js";
import { PATIENCE_MS } from "../support/patience.js";

const SETTINGS = `upstreams: { sim: { family: sim } }
models:
  sim-1: { targets: [{ upstream: sim }], price: free }
  sim-2:
    targets: [{ upstream: sim, model: sim-1 }]
    context_tokens: 8000
    output_tokens_max: 100
    price: { input: "1", output: "2" }
`;

const tollgate = commandsOfOneProcess();
let gateway: GatewayProcess;
/** The script for bash, which is the same for all. */
let completion: Promise<string[]> | undefined;
let keyId: string;
let requestId: string;
const today = new Date().toISOString().slice(0, 10);

beforeAll(async () => {
  gateway = await startGateway({ settings: SETTINGS });
  const management = new Management(gateway);
  await management.account("acme", 1_000_000_000n);
  const { secret, id } = await management.makeKey("acme");
  keyId = id;
  for (const model of ["sim-1", "sim-2", "sim-2"]) {
    const response = await postChat(gateway, secret, chat("Hello", { model }));
    requestId = response.headers.get("x-request-id") ?? "";
    expect(response.status, await readAll(response)).toBe(200);
  }
});
afterAll(async () => {
  await gateway.stop();
  rmSync(gateway.dataDirectory, { recursive: true });
});

function run(...args: string[]): Promise<CommandResult> {
  return tollgate(args, { TOLLGATE_GATEWAY: gateway.grpc, TOLLGATE_OPERATOR_KEY: OPERATOR_KEY });
}

async function lines(...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.trimEnd().split(/\r?\n/);
}

test("upstreams are listed with their health, and taken back into use", async () => {
  const [titles = "", sim = ""] = await lines("upstreams", "list");
  expect(titles).toMatch(/^UPSTREAM +FAMILY +HEALTH +RUNNING +EJECTED +MODELS$/);
  expect(sim).toMatch(/^sim +sim +healthy +0 +- +sim-1 sim-2 sim-embed-1 sim-moderation-1 sim-rerank-1 sim-speech-1$/);
  expect(await lines("upstreams")).toEqual([titles, sim]);
  expect(await lines("upstreams", "reset", "sim")).toEqual(["sim is back in use."]);
  expect((await run("upstreams", "reset", "nothing")).code).toBe(5);
});

test("requests are listed, newest first, and one is shown with its attempts and entries", async () => {
  const [titles = "", newest = ""] = await lines("requests", "list", "--account", "acme");
  expect(titles).toMatch(/^REQUEST +CREATED +ACCOUNT +KEY +MODEL +UPSTREAM +STATE +STATUS +MS +TOKENS OUT +USD$/);
  expect(newest).toContain(requestId);
  const shown = (await lines("requests", "show", requestId)).join("\n");
  for (const told of [/^model +sim-2$/m, /^state +settled$/m, /^1 +sim +sim-1 +answered +200 +\d+$/m, /^settle +0\.0/m])
    expect(shown).toMatch(told);
});

describe("usage is exported", () => {
  test("as CSV in USD, a line a day, account, key and model", async () => {
    const [titles, ...rows] = await lines("export", "usage", "--since", "7d");
    expect(titles).toMatch(/^day,account_id,key_id,model,requests,/);
    expect(rows.map((row) => row.split(",").slice(0, 5))).toEqual([
      [today, "acme", keyId, "sim-1", "1"],
      [today, "acme", keyId, "sim-2", "2"],
    ]);
  });

  test("as lines of JSON in nano-USD, whose sum is the ledger's", async () => {
    const rows = (await lines("export", "usage", "--format", "jsonl")).map(
      (row) => JSON.parse(row) as Record<string, unknown>,
    );
    const charged = rows.map(({ cost_nanos: cost }) => BigInt(String(cost))).reduce((sum, cost) => sum + cost, 0n);
    expect(charged).toBe((await new Management(gateway).balance("acme")).spentNanos);
  });

  test("by the columns of FOCUS, in periods that begin and end as it wants", async () => {
    const [titles = "", , row = ""] = await lines("export", "usage", "--format", "focus");
    const cells = new Map(titles.split(",").map((title, place) => [title, row.split(",")[place]]));
    expect(row.split(",")).toHaveLength(titles.split(",").length);
    expect(Object.fromEntries(cells)).toMatchObject({
      BillingAccountId: "acme",
      BillingCurrency: "USD",
      BillingPeriodStart: `${today.slice(0, 7)}-01T00:00:00Z`,
      ChargePeriodStart: `${today}T00:00:00Z`,
      ChargeCategory: "Usage",
      ServiceCategory: "AI and Machine Learning",
      SkuId: "sim-2",
      SubAccountId: keyId,
      x_Requests: "2",
    });
    expect(cells.get("BilledCost")).toMatch(/^0\.0\d+$/);
  });
});

test.each([
  { typed: "", begins: "upst", want: ["upstreams"] },
  { typed: "account", begins: "cre", want: ["create", "credit"] },
  { typed: "accounts", begins: "fre", want: ["freeze"] },
  { typed: "upstreams reset sim", begins: "--js", want: ["--json"] },
  { typed: "export usage", begins: "--form", want: ["--format"] },
])("bash completes 'tollgate $typed $begins'", async ({ typed, begins, want }) => {
  completion ??= lines("completion", "bash");
  const script = (await completion).join("\n");
  const words = ["tollgate", ...typed.split(" ").filter((word) => word !== ""), begins];
  const ask = `${script}
COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _tollgate; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", ask], { encoding: "utf8", timeout: PATIENCE_MS });
  expect({ words: stdout.trim().split("\n"), stderr }).toEqual({ words: want, stderr: "" });
});
