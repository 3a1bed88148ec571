/** What real decoders take of a body that leaves is what the gateway wrote: the model, and every name of the limit. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { GatewayError } from "../../src/errors.js";
import { leaving, LIMIT, MODEL, read, ENDPOINTS } from "./asked.js";

const FOLDER = fileURLToPath(new URL("../wire/decoders/", import.meta.url));
const built = mkdtempSync(join(tmpdir(), "tollgate-decoders-"));
afterAll(() => rmSync(built, { recursive: true, force: true }));

const NAMES = (
  "model Model MODEL mod\\u0065l model\\u0000 m\\u006fdel " +
  "max_tokens MAX_TOKENS Max_Tokens max_to\u212aens max_token\u017f max_token\\u0073 maxTokens " +
  "max_completion_tokens Max_Completion_Tokens n_predict N_PREDICT n_pred\\u0069ct"
).split(" ");
const VALUES = ['"m"', '"dear"', "1", "999999", "1e3", "null", "-1", "0.5"];

/** Every pair of members behind a request, and before it. */
function bodies(): string[] {
  const said = ['"model":"m"', '"messages":[{"role":"user","content":"Hi"}]'];
  return NAMES.flatMap((one, first) =>
    NAMES.flatMap((other, second) => {
      const members = [one, other].map((name, at) => `"${name}":${VALUES[(first * 3 + second + at) % VALUES.length]}`);
      return [[...said, ...members], [...members, ...said], said.concat(members[0] ?? "")].map(
        (all) => `{${all.join(",")}}`,
      );
    }),
  );
}

/** The bodies that some family's upstream would get, each once. */
function sentBodies(): string[] {
  const sent = new Set<string>();
  for (const body of bodies()) {
    for (const { family, endpoint } of ENDPOINTS) {
      if (endpoint.wire.name !== "openai-chat") continue;
      try {
        sent.add(leaving(read("openai-chat", body), family, endpoint).toString());
      } catch (error) {
        if (!(error instanceof GatewayError) || error.http !== 400) throw error;
      }
    }
  }
  return [...sent];
}

const sent = sentBodies();

function taken(command: string, args: readonly string[]): unknown[][] {
  const { status, stdout, stderr } = spawnSync(command, args, { input: `${sent.join("\n")}\n`, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown[]);
}

function expectOurs(seen: readonly unknown[][]): void {
  expect(seen).toHaveLength(sent.length);
  for (const [place, [model, ...limits]] of seen.entries()) {
    expect(model, sent[place]).toBe(MODEL);
    // At least one name of the limit is there, and none says another.
    expect(
      limits.filter((limit) => limit !== 0 && limit !== null),
      sent[place],
    ).not.toEqual([]);
    for (const limit of limits) expect([0, null, LIMIT], sent[place]).toContain(limit);
  }
}

const works = (command: string, args: readonly string[]): boolean => spawnSync(command, args).status === 0;

test("Node's takes ours", () => {
  // Most are refused, and what passes ends up nearly the same.
  expect(sent.length).toBeGreaterThan(8);
  expectOurs(
    sent.map((body) => {
      const read = JSON.parse(body) as Record<string, unknown>;
      return ["model", "max_tokens", "max_completion_tokens", "n_predict"].map((name) => read[name] ?? 0);
    }),
  );
});

test.runIf(works("/usr/bin/python3", ["-c", "import json"]))("Python's takes ours", () => {
  expectOurs(taken("/usr/bin/python3", [join(FOLDER, "decode.py")]));
});

test.runIf(works("go", ["version"]))("Go's, which minds no letter's case, takes ours", { timeout: 120_000 }, () => {
  const program = join(built, "decode");
  const made = spawnSync("go", ["build", "-o", program, join(FOLDER, "decode.go")], { encoding: "utf8" });
  expect(made.status, made.stderr).toBe(0);
  expectOurs(taken(program, []));
});
