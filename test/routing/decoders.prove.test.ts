/**
 * What the decoders of the servers behind a wire take of a body that leaves is what the gateway wrote: Python's, which
 * minds every letter, and Go's, which minds no letter's case.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { expectOurs, sent, wires } from "./sent-bodies.js";

const FOLDER = fileURLToPath(new URL("../wire/decoders/", import.meta.url));
const built = mkdtempSync(join(tmpdir(), "tollgate-decoders-"));
afterAll(() => rmSync(built, { recursive: true, force: true }));

/** A decoder that is a program of its own: it reads all bodies of a wire at once. */
function expectTaken(wire: string, command: string, args: readonly string[]): void {
  const asked = sent.filter((one) => one.wire === wire);
  const input = asked.map(({ paths, body }) => `${paths.join(" ")}\t${body}\n`).join("");
  const { status, stdout, stderr } = spawnSync(command, args, { input, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  const lines = stdout.trim().split("\n");
  expect(lines).toHaveLength(asked.length);
  for (const [place, one] of asked.entries()) expectOurs(one, JSON.parse(lines[place] ?? "") as unknown[]);
}

const works = (command: string, args: readonly string[]): boolean => spawnSync(command, args).status === 0;
const python = ["/usr/bin/python3", "python3"].find((command) => works(command, ["-c", "import json"]));
const hasGo = works("go", ["version"]);

describe.each(wires)("of a body in the wire %s", (wire) => {
  test("Python's takes ours", (context) => {
    if (python === undefined) return context.skip("Python is not there");
    expectTaken(wire, python, [join(FOLDER, "decode.py")]);
  });

  test("Go's, which minds no letter's case, takes ours", (context) => {
    if (!hasGo) return context.skip("Go is not there");
    const program = join(built, "decode");
    const made = spawnSync("go", ["build", "-o", program, join(FOLDER, "decode.go")], { encoding: "utf8" });
    expect(made.status, made.stderr).toBe(0);
    expectTaken(wire, program, []);
  });
});
