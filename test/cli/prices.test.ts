/** The commands for published prices: a snapshot is made of public lists, and an operator decides on its changes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { generateKeyPairSync } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { keyTextOf, readSnapshot } from "../../src/price-lists/snapshot.js";
import type { CommandResult } from "../support/command.js";
import { commandsOfOneProcess } from "../support/commands.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../support/gateway-process.js";
import { SNAPSHOT_KEY, snapshotOf, startPublisher } from "../support/price-snapshots.js";

const tollgate = commandsOfOneProcess();
const directory = mkdtempSync(join(tmpdir(), "tollgate-prices-"));
let publisher: Awaited<ReturnType<typeof startPublisher>>;
let gateway: GatewayProcess;

beforeAll(async () => {
  publisher = await startPublisher();
  const settings = `prices: { refresh: propose, url: "${publisher.url}", keys: ["${SNAPSHOT_KEY}"] }\n`;
  gateway = await startGateway({ settings });
});
afterAll(async () => {
  await gateway.stop();
  await publisher.close();
  for (const path of [gateway.dataDirectory, directory]) rmSync(path, { recursive: true });
});

function run(...args: string[]): Promise<CommandResult> {
  return tollgate(args, { TOLLGATE_GATEWAY: gateway.grpc, TOLLGATE_OPERATOR_KEY: OPERATOR_KEY });
}

async function text(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run("prices", ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

test("changes are listed with their reasons, and accepted, rejected and rolled back", async () => {
  expect(await text()).toContain("In force: genai-prices 0.1.8. Refresh: propose.");
  publisher.published.text = await snapshotOf(4, [
    { id: "gpt-4o", prices: { input_mtok: 3 }, others: { input_mtok: 3 } },
    { id: "gpt-4o-mini", prices: { input_mtok: 150 } },
  ]);
  expect(await text("refresh")).toContain("Pending changes: 2.");
  const listed = await text("pending");
  expect(listed).toMatch(/openai\/gpt-4o#\w+ +changed +input_mtok 2\.5 -> 3 \(other 3\) +-/);
  expect(listed).toMatch(/openai\/gpt-4o-mini#\w+ .*input_mtok more than doubles/);
  const [mini = ""] = /openai\/gpt-4o-mini#\w+/.exec(listed) ?? [];
  expect(await text("reject", mini)).toContain("1 changes are rejected.");
  expect(await text("accept", "--all")).toContain("1 changes are in force.");
  expect(await text()).toContain("In force: price snapshot 4, which prices 1 models.");
  expect(await text("rollback", "0")).toContain("In force: genai-prices 0.1.8.");
  expect(await run("prices", "accept")).toMatchObject({ code: 2, stderr: expect.stringContaining("--all") });
});

test("a snapshot is made of three lists, signed with two keys, and says what the lists differ in", async () => {
  const pairs = [generateKeyPairSync("ed25519"), generateKeyPairSync("ed25519")];
  const place = (name: string, content: unknown): string => {
    const path = join(directory, name);
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  };
  const keys = pairs.map(({ privateKey }, index) =>
    place(`${index}.pem`, privateKey.export({ format: "pem", type: "pkcs8" }).toString()),
  );
  const model = { id: "gpt-9", match: { equals: "gpt-9" }, prices: { input_mtok: 2, output_mtok: 8 } };
  const lists = [
    ["--genai-prices", place("genai.json", [{ id: "openai", models: [model] }])],
    ["--models-dev", place("dev.json", { openai: { models: { "gpt-9": { cost: { input: 2, output: 8 } } } } })],
    ["--litellm", place("litellm.json", { "gpt-9": { litellm_provider: "openai", input_cost_per_token: 0.2 } })],
  ].flat();
  const out = join(directory, "snapshot.json");
  const made = await run("prices", "make", ...lists, "--serial", "7", "--out", out, "--sign-with", ...keys);
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/openai\/gpt-9 +input_mtok +2 +LiteLLM 200000/)]);
  for (const { publicKey } of pairs) {
    expect(made.stderr).toContain(keyTextOf(publicKey));
    const { serial, providers } = readSnapshot(readFileSync(out, "utf8"), [keyTextOf(publicKey)]);
    expect([serial, providers.get("openai")?.[0]?.model]).toEqual([7, model]);
  }
  const cut = await run(
    "prices",
    "make",
    ...lists,
    "--serial",
    "8",
    "--out",
    out,
    "--sign-with",
    place("no.pem", "no key"),
  );
  expect(cut.code).not.toBe(0);
  expect(
    readSnapshot(
      readFileSync(out, "utf8"),
      pairs.map(({ publicKey }) => keyTextOf(publicKey)),
    ).serial,
  ).toBe(7);
});
