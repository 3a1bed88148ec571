/** A data directory that is gone whole is found by the mark that it left in the user's own state directory. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { leaveMark, markPath } from "../../src/store/ledger-mark.js";
import { tollgate } from "../support/command.js";
import { startGateway } from "../support/gateway-process.js";

/** A user's home and a data directory, for whom another directory is the temporary one. */
function user(): { readonly home: string; readonly data: string; readonly env: Readonly<Record<string, string>> } {
  const base = mkdtempSync(join(tmpdir(), "tollgate-mark-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [home, data, temporary] = [join(base, "home"), join(base, "data"), join(base, "tmp")];
  for (const directory of [home, temporary]) mkdirSync(directory);
  return { home, data, env: { HOME: home, TMPDIR: temporary } };
}

const marksOf = (home: string): string[] => {
  const directory = join(home, ".local/state/tollgate/ledgers");
  return existsSync(directory) ? readdirSync(directory) : [];
};

test("the start is refused, says what to do, and goes on where the loss is accepted", async () => {
  const { home, data, env } = user();
  const first = await startGateway({ dataDirectory: data, env });
  await first.stop();
  expect(marksOf(home)).toHaveLength(1);
  rmSync(data, { recursive: true });
  const listen = { TOLLGATE_HTTP: "127.0.0.1:0", TOLLGATE_GRPC: "127.0.0.1:0" };
  const refused = await tollgate(["serve"], { ...env, ...listen, TOLLGATE_DATA: data });
  expect(refused.stderr).toMatch(
    /^tollgate: [^\n]+has lost state[^\n]+of a ledger there is still [^\n]+\.json\.[^\n]+\n$/,
  );
  expect(refused.stderr).toContain(" serve --accept-loss");
  const accepted = await startGateway({ dataDirectory: data, env, args: ["--accept-loss"] });
  await accepted.stop();
  const after = await startGateway({ dataDirectory: data, env });
  await after.stop();
});

test("demonstrations leave none, and a witness elsewhere needs none", async () => {
  const { home, data, env } = user();
  for (const options of [
    { args: ["--demo"], env },
    { env: { ...env, TOLLGATE_WITNESS: join(home, "witness.json") } },
  ]) {
    const gateway = await startGateway({ dataDirectory: data, ...options });
    await gateway.stop();
    rmSync(data, { recursive: true });
    rmSync(join(home, "witness.json"), { force: true });
  }
  expect(marksOf(home)).toEqual([]);
});

test("where none can be kept the start goes on, and says so once", async () => {
  const { home, data, env } = user();
  writeFileSync(join(home, ".local"), "no directory");
  const gateway = await startGateway({ dataDirectory: data, env });
  expect(gateway.log.filter((line) => line.includes("no mark of the ledger can be kept"))).toHaveLength(1);
  await gateway.stop();
});

test.each([
  { name: "the state directory", env: { XDG_STATE_HOME: "/state", HOME: "/" }, want: /^\/state\/tollgate\/ledgers\// },
  { name: "a relative one counts as none", env: { XDG_STATE_HOME: "state", HOME: "/" }, want: /^\/\.local\/state\// },
  { name: "no home", env: {}, want: undefined },
  { name: "a home that is not there", env: { HOME: "/nonexistent" }, want: undefined },
  { name: "temporary data", directory: join(tmpdir(), "data"), env: { HOME: "/" }, want: undefined },
  { name: "data that holds it", directory: "/srv", env: { XDG_STATE_HOME: "/srv/state" }, want: undefined },
])("$name", ({ directory = "/srv/data", env, want }) => {
  const path = markPath(directory, env);
  if (want === undefined) expect(path).toBeUndefined();
  else expect(path).toMatch(want);
  expect(markPath(`${directory}2`, env)).not.toBe(path ?? "");
});

test("a place that takes no directory is told and not waited for", () => {
  expect(leaveMark("/proc/none/tollgate/a.json", "/srv/data")).toBeInstanceOf(Error);
});
