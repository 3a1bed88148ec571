/** The command line without a gateway: help, versions, and every way to be wrong, in one line. */
import { readFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { tollgate as tollgateProcess } from "../support/command.js";
import { commandsOfOneProcess } from "../support/commands.js";
import { freePort } from "../support/free-port.mjs";
import { bySweep } from "../support/sweep.js";

/** Each code and each stream is a process of its own once; the words of the others come from one. */
const tollgate = commandsOfOneProcess();
const directory = mkdtempSync(join(tmpdir(), "tollgate-cli-"));
afterAll(() => rmSync(directory, { recursive: true }));

const KEY = { TOLLGATE_OPERATOR_KEY: "sk-0123456789abcdef" };
/** What help.test.ts finds of every command, a process says of some: of the first, where the sweep is short. */
const CALLS = [
  ["key", "create"],
  ["key", "list"],
  ["key", "revoke", "k"],
  ["key", "rotate", "k"],
  ["account", "create", "a"],
  ["account", "list"],
  ["account", "credit", "a", "1"],
  ["account", "balance", "a"],
  ["account", "entries", "a"],
  ["usage"],
  ["models"],
  ["ledger", "verify"],
].slice(0, bySweep({ short: 1, long: Infinity, all: Infinity }));

test("says its version", async () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  expect(await tollgateProcess(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

test.concurrent.each([[[]], [["serve"]], ...CALLS.map((call) => [call]), [["config", "check"]]])(
  "%j has help that fits a terminal",
  async (call) => {
    const { code, stdout, stderr } = await tollgate([...call, "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`Usage: ${["tollgate", ...call.filter((word) => word.length > 1)].join(" ")}`);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  },
);

describe("a wrong command line is one line and exits with 2", () => {
  test.concurrent.each([
    { args: ["srve"], line: "unknown command 'srve' (Did you mean serve?)" },
    { args: ["key", "list", "--jsn"], line: "unknown option '--jsn' (Did you mean --json?)" },
    { args: ["account", "balance"], line: "missing required argument 'id'" },
    {
      args: ["account", "credit", "acme", "1.0000000001"],
      line:
        "command-argument value '1.0000000001' is invalid for argument 'usd'. " +
        "Write USD such as 25.00, with at most nine decimal places.",
    },
    {
      args: ["key", "create", "--requests-per-minute", "-1"],
      line: "option '--requests-per-minute <n>' argument '-1' is invalid. Write a whole number.",
    },
    {
      args: ["key", "create", "--expires", "tomorrow"],
      line: "option '--expires <time>' argument 'tomorrow' is invalid. Write a time such as 2027-01-01T00:00:00Z.",
    },
    {
      args: ["key", "create", "--label", "team"],
      line: "option '--label <name=text>' argument 'team' is invalid. Write name=text.",
    },
    {
      args: ["usage", "--from", "2026-02-30"],
      line: "option '--from <day>' argument '2026-02-30' is invalid. Write a day such as 2026-11-21.",
    },
    {
      args: ["key", "create", "--expires", "2027-02-30T00:00:00Z"],
      line:
        "option '--expires <time>' argument '2027-02-30T00:00:00Z' is invalid. " +
        "Write a time such as 2027-01-01T00:00:00Z.",
    },
    {
      args: ["alerts", "create", "budget_share", "--percent", "80%"],
      line: "option '--percent <n>' argument '80%' is invalid. Write a whole number.",
    },
    {
      args: ["account", "credit", "acme", "50,00"],
      line:
        "command-argument value '50,00' is invalid for argument 'usd'. " +
        "It may be 50.00 or 5000.00. Write the one that you mean.",
    },
    { args: ["account", "credit", "acme", "0"], line: "a credit must be above 0" },
    {
      args: ["models", "--gateway", "nowhere"],
      line: '"nowhere" is no host:port such as 127.0.0.1:8081 (--gateway, TOLLGATE_GATEWAY)',
    },
    { args: ["models", "--key", "sk-\n"], line: "the key holds characters that no key has" },
  ])("$line", async ({ args, line }) => {
    expect(await tollgate(args, KEY)).toEqual({ code: 2, stdout: "", stderr: `tollgate: ${line}\n` });
  });
});

test("without a key it says where to get one", async () => {
  expect(await tollgateProcess(["models"])).toEqual({
    code: 2,
    stdout: "",
    stderr: "tollgate: no key: set TOLLGATE_OPERATOR_KEY to the key that the first start showed, or use --key\n",
  });
});

test("where nothing listens, it says how to start a gateway", async () => {
  const port = await freePort();
  expect(await tollgateProcess(["models"], { ...KEY, TOLLGATE_GATEWAY: `127.0.0.1:${port}` })).toEqual({
    code: 6,
    stdout: "",
    // As this one was started: no other machine knows a command of that name.
    stderr:
      `tollgate: no gateway answers at 127.0.0.1:${port}: start one with "node dist/program/main.js serve", ` +
      "or say where it is with --gateway or TOLLGATE_GATEWAY\n",
  });
});

test("a gateway that cannot start says why in one line", async () => {
  expect(await tollgateProcess(["serve"], { TOLLGATE_HTTP: "nowhere" }, directory)).toEqual({
    code: 3,
    stdout: "",
    stderr:
      'tollgate: TOLLGATE_HTTP="nowhere" must be "off" or host:port such as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080\n',
  });
});

describe("config check", () => {
  const good = join(directory, "tollgate.yaml");
  writeFileSync(
    good,
    "upstreams: { u: { family: openai, api_key: k } }\nmodels: { m: { targets: [{ upstream: u }], price: free } }\n",
  );
  const bad = join(directory, "bad.yaml");
  writeFileSync(bad, "upstreams:\n  u: { family: opnai }\nkeys: 3\n");

  test("says what a right file holds, and takes tollgate.yaml by itself", async () => {
    expect(await tollgate(["config", "check"], {}, directory)).toEqual({
      code: 0,
      stdout:
        "tollgate.yaml is right: upstreams 1, models 1, accounts 0, keys 0.\n" +
        "MODEL  USD/M IN  USD/M OUT  PRICE\nm          0.00       0.00  of the settings\n",
      stderr: "",
    });
    const seeds = join(directory, "seeds.yaml");
    writeFileSync(seeds, "accounts: { acme: { credit: 1 } }\n");
    const { stdout } = await tollgate(["config", "check", seeds]);
    expect(stdout).toMatch(
      /accounts 1, keys 0\.\nAccounts and keys are made from a file once.*tollgate account update/,
    );
    const json = await tollgate(["config", "check", good, "--json"]);
    expect(JSON.parse(json.stdout)).toEqual({
      upstreams: 1,
      models: 1,
      accounts: 0,
      keys: 0,
      sold: [{ id: "m", input: "0.00", output: "0.00", source: "of the settings", losses: [] }],
    });
  });

  test("lists what is wrong, a line each, and exits with 3", async () => {
    const { code, stdout, stderr } = await tollgateProcess(["config", "check"], { TOLLGATE_CONFIG: bad });
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr.split("\n")).toEqual([
      expect.stringMatching(/^tollgate: .*bad\.yaml:2:16 upstreams\.u\.family: must be one of .*openai/),
      `tollgate: ${bad}:3:7 keys: must be a list of keys`,
      "",
    ]);
  });

  test("finds models without a known price, and keys of accounts that nobody declares", async () => {
    const unpriced = join(directory, "unpriced.yaml");
    const head = "upstreams: { u: { family: openai, api_key: k } }\nmodels:\n";
    writeFileSync(
      unpriced,
      `${head}  gpt-5: { targets: [{ upstream: u }] }\n  own-1: { targets: [{ upstream: u }] }\n`,
    );
    const { code, stderr } = await tollgate(["config", "check", unpriced]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^tollgate: .*unpriced\.yaml:4:10 models\.own-1: has no price.*set 'price'\n$/);
    writeFileSync(unpriced, "keys: [{ account: acme, secret: sk-0123456789abcdef }]\n");
    expect((await tollgate(["config", "check", unpriced])).stderr).toContain("unpriced.yaml:1:19 keys[0].account");
  });

  test("a file that is not there", async () => {
    expect(await tollgate(["config", "check", "no.yaml"], {}, directory)).toEqual({
      code: 3,
      stdout: "",
      stderr: "tollgate: no.yaml: cannot be read: there is no such file\n",
    });
  });
});
