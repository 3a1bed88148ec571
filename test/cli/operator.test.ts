/** What an operator does by commands where upstreams fail, keys change, and somebody asks what happens now. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chat, postChat, readAll } from "../support/chat-call.js";
import type { CommandResult } from "../support/command.js";
import { commandsOfOneProcess } from "../support/commands.js";
import { script } from "../support/fake-upstream.js";
import { OPERATOR_KEY } from "../support/gateway-process.js";
import { startWorld, type World } from "../support/world.js";

type Json = Readonly<Record<string, unknown>>;

const tollgate = commandsOfOneProcess();
let world: World;
let keyId: string;
let secret: string;

beforeAll(async () => {
  world = await startWorld();
  ({ secret, id: keyId } = await world.management.makeKey("acme", { name: "ci" }));
  await world.management.call("POST", "/accounts", { id: "named", name: "Named Ltd" });
  await ask(chat("Hello", { user: "ann" }));
  await ask(chat("Hello", { model: "other-1" }));
  await ask(chat(script({ status: 400 })));
});
afterEach(() => {
  world.upstream.override = undefined;
});
afterAll(async () => {
  await world.close();
  rmSync(world.core.dataDirectory, { recursive: true });
});

async function ask(body: unknown): Promise<number> {
  const response = await postChat(world.front, secret, body);
  await readAll(response);
  return response.status;
}

function run(...args: string[]): Promise<CommandResult> {
  return tollgate(args, { TOLLGATE_GATEWAY: world.core.grpc, TOLLGATE_OPERATOR_KEY: OPERATOR_KEY });
}

async function text(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

async function json(...args: string[]): Promise<Json> {
  return JSON.parse(await text(...args, "--json")) as Json;
}

describe("an upstream", () => {
  test("is tested with its credential, and what failed is said", async () => {
    const well = await text("upstreams", "test", "fake");
    expect(well).toMatch(/^fake is well: it lists 1 models and answered in \d+ ms\./);
    expect(well).toContain("Its list lacks org/deep-1, renamed, which the settings name.");
    const gone = await run("upstreams", "test", "gone");
    expect(gone).toMatchObject({ code: 6, stdout: "gone: unreachable: the list cannot be reached.\n" });
    expect(await json("upstreams", "test", "fake")).toMatchObject({ result: "well", http_status: 200 });
    expect((await run("upstreams", "test", "nobody")).code).toBe(5);
  });

  test("that is drained lets those end that run, and gets no new ones until undrain or reset", async () => {
    const slow = chat(script({ words: 60, held: "drained", heldAfter: 10 }), { stream: true });
    const running = await postChat(world.front, secret, slow);
    expect(await text("upstreams", "drain", "fake")).toMatch(
      /^fake gets no new requests; 1 run there, at the node that answers.\n$/,
    );
    expect(await text("upstreams")).toMatch(/^fake +openai-compatible +drained +\d /m);
    const refused = await postChat(world.front, secret, chat("x"));
    await refused.text();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "30"]);
    world.upstream.release("drained");
    expect((await readAll(running)).trimEnd()).toMatch(/data: \[DONE\]$/);
    expect(await text("upstreams", "undrain", "fake")).toBe("fake gets requests again.\n");
    expect(await ask(chat("x"))).toBe(200);
    await text("upstreams", "drain", "fake");
    expect(await text("upstreams", "reset", "fake")).toBe("fake is back in use.\n");
    expect(await ask(chat("x"))).toBe(200);
  });
});

test("an account is shown with what is on it, its limits and its freeze", async () => {
  await text("accounts", "update", "named", "--budget-day", "5");
  await text("accounts", "debit", "named", "1", "--reason", "a test");
  await text("accounts", "freeze", "named", "--reason", "unpaid");
  const shown = await text("accounts", "show", "named");
  for (const told of [/^name +Named Ltd$/m, /^state +frozen .*: unpaid$/m, /^receivable +1\.00$/m, /^day +5\.00$/m])
    expect(shown).toMatch(told);
  expect(await json("accounts", "show", "named")).toMatchObject({
    account: { id: "named", settings: { budget_day_nanos: "5000000000" } },
    balance: { available_nanos: "0", receivable_nanos: "1000000000" },
  });
  await text("accounts", "unfreeze", "named");
});

test("a key is shown with how full its limits are, and changed in what is named alone", async () => {
  const shown = await text("keys", "show", keyId);
  for (const told of [/^name +ci$/m, /^account +acme$/m, /^state +lives$/m, /^USD a day +- +0\.0\d+$/m])
    expect(shown).toMatch(told);
  const change = ["--budget-day", "9.00", "--strict", "--label", "team=search"];
  expect(await text("keys", "update", keyId, ...change)).toBe(`Changed budget-day, label, strict of ${keyId}.\n`);
  await text("keys", "update", keyId, "--no-strict", "--concurrency", "7");
  const { key } = (await json("keys", "show", keyId)) as { key: { settings: Json; etag: string } };
  expect(key.settings).toMatchObject({
    name: "ci",
    budget_day_nanos: "9000000000",
    concurrency: "7",
    metadata: { team: "search" },
  });
  expect(key.settings["strict"]).not.toBe(true);
  expect((await run("keys", "update", keyId)).code).toBe(2);
  const stale = await run("keys", "update", keyId, "--concurrency", "8", "--etag", "older");
  expect(stale).toMatchObject({ code: 5, stderr: expect.stringContaining("was changed since") });
});

test("lists name people's names beside ids", async () => {
  await world.management.makeKey("named", { name: "theirs" });
  expect(await text("keys", "list", "--account", "named")).toContain("named (Named Ltd)");
  expect(await text("requests", "list", "--user", "ann")).toContain(`${keyId} (ci)`);
});

test("usage is added up by what is asked for, as a table, as CSV and as JSON", async () => {
  const table = await text("usage", "--by", "model,key", "--since", "7d");
  expect(table).toMatch(/^MODEL +KEY +REQUESTS +FAILED +TOKENS IN +TOKENS OUT +USD +COST +MARGIN +FIRST MS P50 /);
  expect(table).toContain(`fake-1   ${keyId} (ci)`);
  const [head = "", ...rows] = (await text("usage", "--by", "model,key", "--since", "7d", "--csv")).split("\r\n");
  expect(head).toMatch(/^model,key,key_name,request_count,/);
  expect(rows.some((row) => row.startsWith(`other-1,${keyId},ci,1,`))).toBe(true);
  // The fake upstream's price is not set, so that nobody knows what it costs the operator.
  expect(table).toMatch(/^fake-1 .* unknown +unknown /m);
  const { sums } = (await json("usage", "--by", "reason", "--account", "acme")) as { sums: readonly Json[] };
  expect(sums).toEqual(expect.arrayContaining([expect.objectContaining({ values: ["UPSTREAM_REJECTED"] })]));
  expect((await text("usage", "--since", "1d", "--csv")).split("\r\n")[0]).toMatch(/^day,account_id,/);
  for (const wrong of [
    ["--by", "colour"],
    ["--by", "day,model,key"],
    ["--since", "soon"],
    ["--by", "day", "--from", "2026-11-01"],
    ["--csv", "--json"],
  ])
    expect((await run("usage", ...wrong)).code).toBe(2);
});

test("requests are listed by what they were", async () => {
  expect(await text("requests", "list", "--reason", "UPSTREAM_REJECTED", "--since", "1h")).toMatch(
    /fake-1 +fake +\w+ +400 UPSTREAM_REJECTED /,
  );
  expect(await text("requests", "list", "--status", "418")).toBe("No requests.\n");
  const { requests } = (await json("requests", "list", "--user", "ann")) as { requests: readonly Json[] };
  expect(requests).toHaveLength(1);
  const shown = await text("requests", "show", String(requests[0]?.["id"]));
  expect(shown).toMatch(/^end user +ann$/m);
});

/** What `requests watch` printed until there was a line. */
async function watched(...more: readonly string[]): Promise<string> {
  const program = new URL("../../dist/program/main.js", import.meta.url).pathname;
  const env = { PATH: process.env["PATH"] ?? "", TOLLGATE_GATEWAY: world.core.grpc, TOLLGATE_KEY: OPERATOR_KEY };
  const args = [program, "requests", "watch", "--model", "other-1", ...more];
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  let lines = "";
  child.stdout.on("data", (bytes: Buffer) => (lines += bytes.toString()));
  try {
    // It watches from some moment on: asked again until one is seen.
    await expect
      .poll(async () => (await ask(chat("seen", { model: "other-1" }))) && lines, { timeout: 60_000, interval: 200 })
      .toContain("\n");
  } finally {
    child.kill();
    await once(child, "close");
  }
  return lines.split("\n")[0] ?? "";
}

test("why a request was refused is shown, and told its client, in USD", async () => {
  await text("account", "create", "poor");
  await text("account", "credit", "poor", "0.000000001", "--id", "poor-1");
  const [poor = ""] = (await run("key", "create", "poor")).stdout.split(/\s/);
  const refused = await postChat(world.front, poor, chat("Hello"));
  expect(refused.status).toBe(402);
  expect(await refused.text()).toMatch(/can cost up to 0\.0\d+ USD, and 0\.000000001 USD is available/);
  const shown = await text("requests", "show", refused.headers.get("x-request-id") ?? "");
  expect(shown).toMatch(/^why +needed 0\.0\d+ USD, available 0\.000000001 USD$/m);
});

test("a key that only manages is used", async () => {
  const { keys } = (await json("keys", "list", "--account", "operator")) as { keys: readonly Json[] };
  expect(keys.map(({ figures }) => (figures as Json | undefined)?.["last_use_time"])).toContainEqual(
    expect.any(String),
  );
});

test("requests are printed as they end", async () => {
  expect(JSON.parse(await watched("--json"))).toMatchObject({ model: "other-1", detail: { http_status: 200 } });
});

test("requests that are printed as they end name whose they are, as the list does", async () => {
  const line = await watched();
  const id = /req_\w+$/.exec(line)?.[0] ?? "";
  const [, listed = ""] = new RegExp(`${id} +\\S+Z +(.+?) +other-1 `).exec(await text("requests", "list")) ?? [];
  expect(listed).toMatch(/\(.+\)/);
  expect(line.replaceAll(/ +/g, " ")).toContain(` ${listed.replaceAll(/ +/g, " ")} other-1 `);
});

test("what a request would cost is said without asking a model", async () => {
  const asked = world.upstream.requests.length;
  const told = await text("estimate", "fake-1", "Why is the sky blue?", "--max-tokens", "20");
  for (const fact of [/^model +fake-1$/m, /^tokens out +at most 20, /m, /^most USD +0\.0\d+$/m, /^fake +fake-1 +1 /m])
    expect(told).toMatch(fact);
  expect(await json("estimate", "fake-1", "Hello", "--max-tokens", "20")).toMatchObject({ model: "fake-1" });
  expect(world.upstream.requests).toHaveLength(asked);
  expect((await run("estimate", "fake-1")).code).toBe(2);
});

describe("top", () => {
  test("prints one screen of what happens now", async () => {
    const screen = await text("top", "--once");
    expect(screen).toMatch(/^tollgate {2}\d{4}-\S+Z {2}last 5 min {2}\d+ requests \(\d+\.\d\d\/s\) {2}\d+ failed {2}/);
    for (const table of [/^MODEL +REQUESTS +FAILED /m, /^fake-1 +\d+ /m, /^ACCOUNT +REQUESTS /m, /^UPSTREAM +FAMILY /m])
      expect(screen).toMatch(table);
    expect(screen).toMatch(/^UPSTREAM_REJECTED +\d+$/m);
    expect(screen).not.toContain("\u001b");
  });

  test("as JSON is a line each time", async () => {
    const told = JSON.parse(await text("top", "--once", "--json", "--minutes", "60")) as Json;
    expect(told).toMatchObject({ minutes: 60, totals: { request_count: expect.any(String) } });
    expect(told["upstreams"]).toHaveLength(2);
  });

  test("draws its screen anew until it is ended", async () => {
    const program = new URL("../../dist/program/main.js", import.meta.url).pathname;
    const env = { PATH: process.env["PATH"] ?? "", TOLLGATE_GATEWAY: world.core.grpc, TOLLGATE_KEY: OPERATOR_KEY };
    const child = spawn(process.execPath, [program, "top", "--every", "1"], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let screens = "";
    child.stdout.on("data", (bytes: Buffer) => (screens += bytes.toString()));
    await expect.poll(() => screens.split("\u001b[H").length).toBeGreaterThan(2);
    child.kill("SIGINT");
    await once(child, "close");
    expect(screens.startsWith("\u001b[H\u001b[J")).toBe(true);
  });

  test("by an account's key shows that account, and no upstreams", async () => {
    const env = { TOLLGATE_GATEWAY: world.core.grpc, TOLLGATE_KEY: secret };
    const { code, stdout } = await tollgate(["top", "--once"], env);
    expect(code).toBe(0);
    expect(stdout).toContain("fake-1");
    expect(stdout).not.toContain("UPSTREAM  ");
  });
});
