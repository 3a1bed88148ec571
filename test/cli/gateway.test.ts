/** The commands against a running gateway: each does its work over gRPC and prints it for people and for programs. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandResult, tollgate as tollgateProcess } from "../support/command.js";
import { commandsOfOneProcess } from "../support/commands.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../support/gateway-process.js";
import { freePort } from "../support/free-port.mjs";

/** Those that are about an exit code or the environment are processes of their own. */
const tollgate = commandsOfOneProcess();
let gateway: GatewayProcess;
let started: GatewayProcess | undefined;
beforeAll(async () => {
  gateway = started = await startGateway();
});
afterAll(async () => {
  await started?.stop();
  if (started !== undefined) rmSync(started.dataDirectory, { recursive: true });
});

const settings = (): Record<string, string> => ({
  TOLLGATE_GATEWAY: gateway.grpc,
  TOLLGATE_OPERATOR_KEY: OPERATOR_KEY,
});

function run(...args: string[]): Promise<CommandResult> {
  return tollgate(args, settings());
}

async function runJson(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await run(...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

test("an account is opened, credited once for each credit id, and shown", async () => {
  expect(await run("account", "create", "acme", "--name", "Acme")).toEqual({
    code: 0,
    stdout: "Opened the account acme.\n",
    stderr: "",
  });
  expect((await run("account", "credit", "acme", "25.00", "--id", "inv-7")).stdout).toBe(
    "Credited 25.00 USD to acme as inv-7. Available: 25.00 USD.\n",
  );
  expect((await run("account", "credit", "acme", "25", "--id", "inv-7")).stdout).toBe(
    "inv-7 was credited before, so nothing changed. Available: 25.00 USD.\n",
  );
  expect((await run("account", "balance", "acme")).stdout.split("\n")).toEqual([
    "             USD",
    "available  25.00",
    "held        0.00",
    "spent       0.00",
    "granted    25.00",
    "",
  ]);
  expect(await runJson("account", "balance", "acme")).toEqual({
    available_nanos: "25000000000",
    available: "25.00 USD",
    held_nanos: "0",
    held: "0.00 USD",
    spent_nanos: "0",
    spent: "0.00 USD",
    granted_nanos: "25000000000",
    granted: "25.00 USD",
    refunded_nanos: "0",
    refunded: "0.00 USD",
    debited_nanos: "0",
    debited: "0.00 USD",
    receivable_nanos: "0",
    receivable: "0.00 USD",
  });
  expect((await run("account", "entries", "acme")).stdout).toMatch(/credit +25\.00 +\+25\.00 +\S*inv-7\n$/);
  expect(await runJson("account", "entries", "acme")).toMatchObject({
    entries: [{ kind: "credit", amount_nanos: "25000000000", available_change_nanos: "25000000000" }],
    next_page_token: "",
  });
});

test("a credit without an id gets one of its own, so that two are two", async () => {
  await run("account", "create", "twice");
  const first = await run("account", "credit", "twice", "1");
  expect(first.stdout).toMatch(/^Credited 1\.00 USD to twice as cli-\S+\. Available: 1\.00 USD\.\n$/);
  expect((await run("account", "credit", "twice", "1")).stdout).toContain("Available: 2.00 USD.");
});

test("accounts are listed by id over as many pages as it takes", async () => {
  await run("account", "create", "z-last");
  const { accounts } = (await runJson("account", "list")) as { accounts: { id: string }[] };
  const ids = accounts.map((account) => account.id);
  expect(ids).toContain("z-last");
  expect(ids).toEqual([...ids].sort());
  expect((await run("account", "list", "--limit", "1")).stdout).toContain("There are more: raise --limit.");
});

test("a key is made, its secret alone goes to standard output, and it works until it is revoked", async () => {
  await run("account", "create", "keys");
  const made = await run("key", "create", "keys", "--name", "ci", "--scope", "models", "chat");
  expect(made.code).toBe(0);
  expect(made.stdout).toMatch(/^sk-\S{16,}\n$/);
  expect(made.stderr).toMatch(/^Made \S+ for the account keys\. This secret is shown once and cannot be shown again/);
  const secret = made.stdout.trim();
  const withIt = { TOLLGATE_GATEWAY: gateway.grpc, TOLLGATE_KEY: secret };
  expect((await tollgate(["models"], withIt)).code).toBe(0);

  const listed = (await runJson("key", "list", "--account", "keys")) as {
    keys: { id: string; account_id: string; settings: { name: string; scopes: string[] } }[];
  };
  expect(listed.keys).toMatchObject([{ account_id: "keys", settings: { name: "ci", scopes: ["models", "chat"] } }]);
  expect(JSON.stringify(listed)).not.toContain(secret);
  const id = listed.keys[0]?.id ?? "";
  expect((await run("key", "list", "--account", "keys")).stdout).toMatch(
    new RegExp(`^KEY .*\n${id} +keys +ci .* lives `),
  );

  expect((await run("key", "list", "--find", id.toUpperCase())).stdout).toContain(id);
  expect((await run("key", "list", "--account", "keys", "--find", "nightly")).stdout).toBe("No keys.\n");

  expect((await run("key", "revoke", id)).stdout).toBe(`Revoked ${id}.\n`);
  const refused = await tollgate(["models"], withIt);
  expect(refused).toMatchObject({ code: 4, stdout: "" });
  expect(refused.stderr).toMatch(/^tollgate: The API key sk-\S+ was revoked\. [^\n]*\n$/);
  expect((await run("key", "list", "--account", "keys")).stdout).toMatch(/ revoked \d{4}-/);
});

test("every setting of a key is passed on", async () => {
  await run("account", "create", "full");
  const settings = [
    "full --name n --scope chat --model gpt-* sim-* --deny-model gpt-5 --address 10.0.0.0/8 --refuse-unaffordable --strict",
    "--expires 2099-01-01T00:00:00Z --requests-per-minute 1 --tokens-per-minute 2 --concurrency 3 --budget-day 0.5",
    "--budget-month 6 --budget-total 7 --request-cost-max 0.000000008 --label team=a=b --label env=ci",
    "--retries-run-anew",
  ].join(" ");
  const made = await runJson("key", "create", ...settings.split(" "));
  expect(made).toMatchObject({
    secret: expect.stringMatching(/^sk-/),
    key: {
      settings: {
        name: "n",
        scopes: ["chat"],
        models: ["gpt-*", "sim-*"],
        models_denied: ["gpt-5"],
        addresses: ["10.0.0.0/8"],
        expire_time: "2099-01-01T00:00:00Z",
        requests_per_minute: "1",
        tokens_per_minute: "2",
        concurrency: "3",
        budget_day_nanos: "500000000",
        budget_month_nanos: "6000000000",
        budget_total_nanos: "7000000000",
        request_cost_max_nanos: "8",
        refuse_unaffordable: true,
        strict: true,
        metadata: { team: "a=b", env: "ci" },
        retries_run_anew: true,
      },
    },
  });
});

test("a rotated key's old secret lives on for the grace, or ends at once", async () => {
  await run("account", "create", "rotated");
  const first = (await run("key", "create", "rotated")).stdout.trim();
  const { keys } = (await runJson("key", "list", "--account", "rotated")) as { keys: { id: string }[] };
  const id = keys[0]?.id ?? "";
  const second = await run("key", "rotate", id, "--grace", "600");
  expect(second.stderr).toMatch(/^The old secret ends in 600 s\. /);
  const code = async (key: string) =>
    (await tollgate(["models"], { TOLLGATE_GATEWAY: gateway.grpc, TOLLGATE_KEY: key })).code;
  expect([await code(first), await code(second.stdout.trim())]).toEqual([0, 0]);
  const third = (await run("key", "rotate", id)).stdout.trim();
  expect([await code(second.stdout.trim()), await code(third)]).toEqual([4, 0]);
});

test("models are listed, and the built-in one is free", async () => {
  expect((await run("models")).stdout).toMatch(/^MODEL .*\n(.*\n)*sim-1 .* 0\.00 +0\.00 /m);
  expect(await runJson("models")).toMatchObject({
    models: [
      { id: "sim-1", kind: "chat", price: { input_picos: "0" } },
      { id: "sim-embed-1", kind: "embedding", price: { input_picos: "0" } },
      { id: "sim-moderation-1", kind: "moderation", price: { input_picos: "0" } },
      { id: "sim-rerank-1", kind: "rerank", price: { input_picos: "0" } },
      { id: "sim-speech-1", kind: "speech", price: { input_picos: "0" } },
    ],
  });
});

test("usage adds up what was asked", async () => {
  await run("account", "create", "asks");
  expect((await run("usage", "--account", "asks")).stdout).toBe("No requests.\n");
  const secret = (await run("key", "create", "asks")).stdout.trim();
  for (let asked = 0; asked < 2; asked++) {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sim-1", max_tokens: 20, messages: [{ role: "user", content: "Hello" }] }),
    });
    expect(response.status, await response.text()).toBe(200);
  }
  const { summaries } = (await runJson("usage", "--account", "asks")) as { summaries: object[] };
  expect(summaries).toMatchObject([{ account_id: "asks", model: "sim-1", request_count: "2", cost_nanos: "0" }]);
  const table = (await run("usage", "--account", "asks")).stdout;
  expect(table).toMatch(/ USD +COST +MARGIN\n/);
  expect(table).toMatch(/\ntotal +2 +\d+ +\d+ +0\.00 +0\.00 +0\.00\n$/);
});

test("the ledger holds", async () => {
  const { code, stdout } = await run("ledger", "verify");
  expect(stdout).toMatch(/^The ledger holds: \d+ accounts, \d+ transfers, 0 open holds\.\n$/);
  expect(code).toBe(0);
  expect(await runJson("ledger", "verify")).toMatchObject({ holds: true, problems: [], open_hold_count: "0" });
});

test.each([
  { args: ["account", "create", "acme"], want: 5, line: "The account 'acme' exists already" },
  { args: ["account", "balance", "nobody"], want: 5, line: "There is no account 'nobody'" },
  { args: ["key", "revoke", "key_nobody"], want: 5, line: "There is no key 'key_nobody'" },
  { args: ["account", "credit", "twice", "1", "--id", "inv-7"], want: 5, line: "The credit 'inv-7' exists already" },
  { args: ["models", "--key", "sk-0123456789abcdef"], want: 4, line: "Incorrect API key" },
])("$args is refused in one line, with $want", async ({ args, want, line }) => {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stdout }).toEqual({ code: want, stdout: "" });
  expect(stderr).toMatch(/^tollgate: [^\n]*\n$/);
  expect(stderr).toContain(line);
});

test("an address that speaks something else is named", async () => {
  const http = new URL(gateway.url).host;
  const { code, stderr } = await run("models", "--gateway", http);
  expect(code).toBe(6);
  expect(stderr).toMatch(/^tollgate: [^\n]*\n$/);
  expect(stderr).toContain(http);
});

test("each kind of end has a code of its own", async () => {
  const nobody = `127.0.0.1:${await freePort()}`;
  const ends = [
    ["models"],
    ["account", "create", "no id/at all"],
    ["models", "--no-such-option"],
    ["config", "check", "/nowhere/tollgate.yaml"],
    ["models", "--key", "sk-0123456789abcdef"],
    ["account", "balance", "nobody"],
    ["models", "--gateway", nobody],
  ];
  const codes: (number | null)[] = [];
  for (const args of ends) codes.push((await tollgateProcess(args, settings())).code);
  // The eighth is that of a ledger that does not hold.
  expect(codes).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test("TOLLGATE_CORE is a front end's: a command asks TOLLGATE_GATEWAY, whatever it says", async () => {
  const nobody = `127.0.0.1:${await freePort()}`;
  const key = { TOLLGATE_KEY: OPERATOR_KEY };
  const there = await tollgateProcess(["models"], { ...key, TOLLGATE_GATEWAY: gateway.grpc, TOLLGATE_CORE: nobody });
  expect({ code: there.code, stderr: there.stderr }).toEqual({ code: 0, stderr: "" });
  const gone = await tollgateProcess(["models"], { ...key, TOLLGATE_GATEWAY: nobody, TOLLGATE_CORE: gateway.grpc });
  expect({ code: gone.code, stdout: gone.stdout }).toEqual({ code: 6, stdout: "" });
  expect(gone.stderr).toContain(`no gateway answers at ${nobody}`);
});
