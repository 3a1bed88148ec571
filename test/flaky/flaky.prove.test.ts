/** The order in which the command runs tests, and what it leaves behind: nothing. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { makeToys, run, runs, start, written } from "./toys.js";

let directory = "";
beforeEach(() => {
  directory = makeToys();
});

test("files and tests run in an order that the seed alone gives", async () => {
  const orderOf = async (seed: string): Promise<string[]> => {
    rmSync(join(directory, "ran"), { force: true });
    await run(directory, ["--runs", "1", "--hogs", "0", "--seed", seed, "one", "two", "three"]);
    return readFileSync(join(directory, "ran"), "utf8").trim().split("\n");
  };
  const first = await orderOf("11");
  const other = await orderOf("12");
  expect(await orderOf("11")).toEqual(first);
  expect(first.toSorted()).toEqual(other.toSorted());
  expect(first).toHaveLength(12);
  const filesOf = (order: readonly string[]): string[] => [...new Set(order.map((line) => line.split(" ")[0] ?? ""))];
  expect(filesOf(other)).not.toEqual(filesOf(first));
  const testsOf = (order: readonly string[]): string[] => order.filter((line) => line.startsWith("one"));
  expect(testsOf(other)).not.toEqual(testsOf(first));
});

test("what a run leaves behind is a failure, and its processes are ended", async ({ skip }) => {
  skip(process.platform !== "linux", "processes are looked for on Linux");
  const { code, said } = await run(directory, ["--runs", "1", "--hogs", "0", "--wait", "1", "leaves"]);
  const [pid, left] = written(directory, "left");
  rmSync(String(left), { recursive: true });
  expect(said).toMatch(/^1 of 1 {6}left behind: process .*setTimeout/m);
  expect(said).toContain(`${String(left)} outlives the run`);
  await expect.poll(() => runs(Number(pid))).toBe(false);
  expect(code).toBe(1);
});

test.each([{ how: "SIGKILL" }, { how: "SIGTERM" }] as const)(
  "nothing outlives the command, ended by $how",
  async ({ how }) => {
    const command = start(directory, ["--runs", "1", "--hogs", "2", "hangs"]);
    onTestFinished(() => void command.kill("SIGKILL"));
    let said = "";
    command.stdout?.on("data", (bytes: Buffer) => (said += bytes.toString()));
    await expect.poll(() => written(directory, "hanging")).toHaveLength(2);
    const [, first, second] = /spin the processes (\d+), (\d+)/.exec(said) ?? [];
    const all = [...written(directory, "hanging"), first, second].map(Number);
    expect(all.filter(runs)).toEqual(all);
    command.kill(how);
    await expect.poll(() => all.filter(runs)).toEqual([]);
  },
);
