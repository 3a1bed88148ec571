/** Data that became read-only, as where its disk failed: the start says so, and ends. */
import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { programOf } from "../../support/program.js";

const base = mkdtempSync(join(tmpdir(), "tollgate-read-only-"));
const [stopped, killed] = [join(base, "stopped"), join(base, "killed")];

/** Permissions do not bind root, which needs a mount instead: one that nobody else sees, and that ends with it. */
const IS_ROOT = process.getuid?.() === 0;
const MOUNTED = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"';
const isMountable = IS_ROOT && spawnSync("unshare", ["-m", "sh", "-c", MOUNTED, base]).status === 0;
const PLACES = [
  { what: "a data directory", file: "", missing: IS_ROOT && !isMountable },
  // Whose file it is may write it again, so that there are no permissions for this.
  { what: "a database", file: "tollgate.db", missing: !isMountable },
];

beforeAll(async () => {
  const gateway = await startGateway();
  const { dataDirectory } = gateway;
  await new Management(gateway).account("acme", 1_000n);
  expect(await gateway.stop()).toBe(0);
  cpSync(dataDirectory, stopped, { recursive: true });
  const again = await startGateway({ dataDirectory });
  await new Management(again).account("other", 1_000n);
  await again.kill();
  cpSync(dataDirectory, killed, { recursive: true });
  rmSync(dataDirectory, { recursive: true });
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Starts a gateway that can read what is `locked`, and not write it. One that hangs has no status. */
function startOn(directory: string, locked: string): SpawnSyncReturns<string> {
  const doors = { TOLLGATE_HTTP: "127.0.0.1:0", TOLLGATE_GRPC: "127.0.0.1:0", TOLLGATE_ADMIN: "127.0.0.1:0" };
  const env = { PATH: process.env["PATH"] ?? "", ...doors, TOLLGATE_DATA: directory };
  const options = { env, encoding: "utf8", timeout: 60_000, killSignal: "SIGKILL" } as const;
  const serve = [programOf(""), "serve"];
  if (IS_ROOT) {
    const mounted = ["-m", "sh", "-c", `${MOUNTED} && exec "$@"`, locked, process.execPath, ...serve];
    return spawnSync("unshare", mounted, options);
  }
  chmodSync(locked, 0o500);
  try {
    return spawnSync(process.execPath, serve, options);
  } finally {
    chmodSync(locked, 0o700);
  }
}

describe.each(PLACES)("$what that became read-only", ({ file, missing }) => {
  describe.skipIf(missing)(
    missing ? "where root can mount it so" : "refuses the start in one line that names it",
    () => {
      test.each([
        { name: "after a clean stop", left: stopped },
        { name: "after a kill", left: killed },
      ])("$name", ({ left }) => {
        const directory = mkdtempSync(join(base, "case-"));
        cpSync(left, directory, { recursive: true });
        const locked = join(directory, file);
        const { status, stderr, stdout } = startOn(directory, locked);
        expect(stderr).toMatch(/^tollgate: [^\n]+\n$/);
        expect(stderr).toMatch(/EROFS|EACCES|EPERM|read-?only/i);
        expect(stderr).toContain(locked);
        expect(stderr).toContain("Set TOLLGATE_DATA to a directory that this process can write to");
        expect(stdout).not.toContain("ready");
        expect(status).toBeGreaterThan(0);
      });
    },
  );
});
