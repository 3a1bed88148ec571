/** A start finds what its data directory has lost, says in one line what to do about it, and ends; or goes on. */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqliteFile } from "../../../src/store/sqlite/database-file.js";
import { openSqliteStore } from "../../../src/store/sqlite/store.js";
import { holdsLedger, tracesOfLost } from "../../../src/store/data-directory.js";
import { readWitness } from "../../../src/store/witness.js";
import { type CommandResult, tollgate } from "../../support/command.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { makeDatabase, postgresMissing } from "../../support/postgres.js";
import { bySweep } from "../../support/sweep.js";
import { Sqlite } from "../../../src/store/sqlite/binding.js";

const base = mkdtempSync(join(tmpdir(), "tollgate-lost-"));
/** What a clean stop left, and the same directory after more credits and a kill. */
const stopped = join(base, "stopped");
const killed = join(base, "killed");
const foreign = join(base, "foreign");
/** What the very first process said, whose witness lies beside its database. */
let firstLog: readonly string[];
/** What a first start left that was killed before anything was copied out of its log. */
const unstopped = join(base, "unstopped");
const CREDITS = 40;
const FAST = { TOLLGATE_HTTP: "127.0.0.1:0", TOLLGATE_GRPC: "127.0.0.1:0" };

async function credit(gateway: GatewayProcess, name: string, count: number): Promise<void> {
  const management = new Management(gateway);
  for (let number = 1; number <= count; number++) {
    const body = { amount_nanos: "7", credit_id: `${name}-${number}` };
    expect((await management.call("POST", "/accounts/acme:credit", body)).status).toBe(200);
  }
}

/** What the audit log says of accepted losses. */
async function acceptedIn(gateway: GatewayProcess): Promise<{ readonly after: string }[]> {
  const { body } = await new Management(gateway).call("GET", "/audit_events?method=store.accept_loss");
  return body["audit_events"] as { after: string }[];
}

function witnessedSequence(directory: string): number {
  const note = readWitness(join(directory, "witness.json"));
  return typeof note === "object" ? note.head.sequence : -1;
}

beforeAll(async () => {
  const first = await startGateway();
  firstLog = first.log;
  await new Management(first).account("acme", 1_000n);
  expect(await first.stop()).toBe(0);
  cpSync(first.dataDirectory, stopped, { recursive: true });
  const second = await startGateway({ dataDirectory: first.dataDirectory });
  await credit(second, "more", CREDITS);
  // No stop and no further write: the witness knows what was acknowledged.
  expect(witnessedSequence(first.dataDirectory)).toBe(CREDITS + 1);
  await second.kill();
  cpSync(first.dataDirectory, killed, { recursive: true });
  rmSync(first.dataDirectory, { recursive: true });
  await (await openSqliteStore({ directory: foreign })).close();
  const third = await startGateway();
  await new Management(third).account("acme", 1_000n);
  await third.kill();
  cpSync(third.dataDirectory, unstopped, { recursive: true });
  rmSync(third.dataDirectory, { recursive: true });
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

function copyOf(original: string): string {
  const directory = mkdtempSync(join(base, "case-"));
  cpSync(original, directory, { recursive: true });
  return directory;
}

const WAL = "tollgate.db-wal";
const remove = (...names: readonly string[]) => {
  return (directory: string) => names.forEach((name) => rmSync(join(directory, name), { force: true }));
};
/** Another database in the place of this one. */
const putBack = (from: string) => (directory: string) => {
  remove(WAL, "tollgate.db-shm")(directory);
  cpSync(join(from, "tollgate.db"), join(directory, "tollgate.db"));
};

function halve(directory: string, name: string): void {
  const path = join(directory, name);
  truncateSync(path, Math.floor(readFileSync(path).length / 2));
}

function forge(directory: string): void {
  const database = new Sqlite(join(directory, "tollgate.db"));
  database.exec("DROP TRIGGER transfer_update; UPDATE transfer SET hash = zeroblob(32)");
  database.close();
}

interface Damage {
  readonly name: string;
  readonly damage: (directory: string) => void;
  readonly says: RegExp;
  readonly from?: string;
  /** What no flag makes good. */
  readonly final?: true;
  /** Where the whole program is started, rather than its store. */
  readonly program?: true;
}

const DAMAGES: readonly Damage[] = [
  { name: "the root secret is removed", damage: remove("secret"), says: /root secret .* is gone/, program: true },
  {
    name: "the root secret is another",
    damage: (directory) => writeFileSync(join(directory, "secret"), "x".repeat(64)),
    says: /root secret is not the one that was used here/,
    program: true,
  },
  { name: "the database is removed", damage: remove("tollgate.db", WAL), says: /database is gone, and it had 41 tr/ },
  {
    name: "the database is emptied",
    damage: (directory) => truncateSync(join(directory, "tollgate.db")),
    says: /database is empty, and it had 41 transfers/,
  },
  {
    name: "the database is removed with its witness",
    damage: remove("tollgate.db", WAL, "witness.json"),
    says: /database and its witness are gone, but of a ledger there is still secret/,
    program: true,
  },
  {
    name: "the log is halved",
    damage: (directory) => halve(directory, WAL),
    says: /ends at transfer \d+, but tra/,
    program: true,
  },
  { name: "the log is removed", damage: remove(WAL), says: /ends at transfer 1, but transfer 41 was written/ },
  { name: "an older backup is put back", damage: putBack(stopped), says: /ends at transfer 1, but transfer 41 was/ },
  { name: "another database is put there", damage: putBack(foreign), says: /not the one that was here/ },
  { name: "its last transfer was forged", damage: forge, says: /transfer 41 is not the one that was written/ },
  {
    name: "the witness is damaged",
    damage: (directory) => writeFileSync(join(directory, "witness.json"), "{}"),
    says: /witness.json is damaged/,
  },
  {
    name: "the witness is removed and the log is halved",
    damage: (directory) => {
      halve(directory, WAL);
      remove("witness.json")(directory);
    },
    says: /witness.json is gone/,
    program: true,
  },
  {
    name: "the witness is removed with the log",
    damage: remove("witness.json", WAL, "tollgate.db-shm"),
    says: /witness.json is gone/,
  },
  {
    name: "the witness is removed with the whole log of a first run",
    damage: remove("witness.json", WAL, "tollgate.db-shm"),
    says: /witness.json is gone/,
    from: unstopped,
  },
  {
    name: "the database is none",
    damage: (directory) => writeFileSync(join(directory, "tollgate.db"), "no database".repeat(500)),
    says: /tollgate.db' is damaged .*Restore it from a backup/,
    final: true,
  },
  {
    name: "the database is halved",
    damage: (directory) => halve(directory, "tollgate.db"),
    says: /tollgate.db' is damaged .*Restore it from a backup/,
    from: stopped,
    final: true,
  },
];

/** One line that says what to do, no stack, and an end. */
function expectRefusal({ code, stderr, stdout }: CommandResult, says: RegExp): void {
  expect(stderr).toMatch(says);
  expect(stderr).toMatch(/^tollgate: [^\n]+\n$/);
  expect(stdout).not.toContain("ready");
  expect(code).not.toBe(0);
  expect(code).not.toBeNull();
}

describe.each(DAMAGES)("where $name", ({ damage, says, from = killed, final, program }) => {
  test("the start is refused and says what to do, each time", async () => {
    const directory = copyOf(from);
    damage(directory);
    const remedy = final === true ? /Restore it/ : / serve --accept-loss/;
    if (program === true) {
      const result = await tollgate(["serve"], { ...FAST, TOLLGATE_DATA: directory });
      expectRefusal(result, says);
      expect(result.stderr).toMatch(remedy);
      return;
    }
    for (let time = 1; time <= 2; time += 1) {
      const refusal = refusalOf(directory);
      expect(refusal).toMatch(says);
      expect(refusal).toMatch(remedy);
      expect(refusal).not.toContain("\n");
    }
  });
});

/** What a start says of the directory, where it does not look at the secret. */
function refusalOf(directory: string): string {
  try {
    openSqliteFile(directory, undefined).close();
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}

/** A loss of each part: of the ledger, and of the secret. */
const ACCEPTED = [
  { name: "an older backup", damage: putBack(stopped), granted: 1_000n },
  { name: "a removed root secret", damage: remove("secret"), granted: 1_000n + 7n * BigInt(CREDITS) },
];
const ALL_ACCEPTED = [
  ...ACCEPTED,
  { name: "a removed database", damage: remove("tollgate.db", WAL), granted: undefined },
  {
    name: "a database removed with its witness",
    damage: remove("tollgate.db", WAL, "witness.json"),
    granted: undefined,
  },
  { name: "a removed witness", damage: remove("witness.json"), granted: 1_000n + 7n * BigInt(CREDITS) },
];

test.each(
  bySweep<readonly (typeof ALL_ACCEPTED)[number][]>({ short: ACCEPTED, long: ALL_ACCEPTED, all: ALL_ACCEPTED }),
)("$name is accepted with --accept-loss, which is written down", async ({ damage, granted }) => {
  const dataDirectory = copyOf(killed);
  damage(dataDirectory);
  const gateway = await startGateway({ dataDirectory, args: ["--accept-loss"] });
  expect(gateway.log.filter((line) => line.includes("lost state was accepted"))).toHaveLength(1);
  const management = new Management(gateway);
  if (granted !== undefined) expect((await management.balance("acme")).grantedNanos).toBe(granted);
  expect(await management.verify()).toMatchObject({ open_hold_count: "0" });
  const records = await acceptedIn(gateway);
  expect(records).toMatchObject([{ result: "done", resource: "store/sqlite", actor: { kind: "cli", name: "" } }]);
  expect(await gateway.stop()).toBe(0);
  const database = new Sqlite(join(dataDirectory, "tollgate.db"), { readonly: true });
  expect(database.prepare("SELECT count(*) FROM accepted_loss").pluck().get()).toBe(1);
  database.close();
  // What was accepted is not lost any more.
  const after = await startGateway({ dataDirectory });
  expect(after.log.join("\n")).not.toContain("accepted");
  expect(await acceptedIn(after)).toEqual(records);
  await after.stop();
});

test.skipIf(postgresMissing !== undefined)(
  "a lost PostgreSQL refuses the start, and is accepted with --accept-loss, which is written down",
  async () => {
    const witness = join(mkdtempSync(join(base, "w-")), "witness.json");
    const secret = { TOLLGATE_SECRET: "a root secret of this test, long enough" };
    const env = async () => ({ ...secret, TOLLGATE_DATABASE_URL: await makeDatabase(), TOLLGATE_WITNESS: witness });
    const [first, restored] = [await env(), await env()];
    const before = await startGateway({ env: first });
    await new Management(before).account("acme", 1_000n);
    await before.stop();
    expectRefusal(await tollgate(["serve"], { ...FAST, ...restored, TOLLGATE_DATA: before.dataDirectory }), /has lost/);
    const gateway = await startGateway({ env: restored, args: ["--accept-loss"] });
    expect(gateway.log.filter((line) => line.includes("lost state was accepted"))).toHaveLength(1);
    const records = await acceptedIn(gateway);
    expect(records).toMatchObject([{ result: "done", resource: "store/postgres", actor: { kind: "cli" } }]);
    expect(records[0]?.after).toContain("the database is not the one that was here");
    await new Management(gateway).verify();
    await gateway.stop();
    const after = await startGateway({ env: restored });
    expect(await acceptedIn(after)).toEqual(records);
    await after.stop();
  },
);

test("a first start that was killed at any moment is a first start again", () => {
  const directory = mkdtempSync(join(base, "first-"));
  expect(tracesOfLost(directory)).toEqual([]);
  // Killed here, and behind the making of its secret.
  expect(tracesOfLost(directory)).toEqual([]);
  expect(holdsLedger(directory)).toBe(false);
  writeFileSync(join(directory, "secret"), "x".repeat(64));
  expect(tracesOfLost(directory)).toEqual([]);
  rmSync(join(directory, "tollgate.db"));
  expect(tracesOfLost(directory)).toEqual(["secret"]);
});

test("a start says that its witness could be lost with its database, unless it is elsewhere", async () => {
  const told = "set TOLLGATE_WITNESS to a file on another disk";
  expect(firstLog.filter((line) => line.includes(told))).toHaveLength(1);
  const elsewhere = await startGateway({
    env: { TOLLGATE_WITNESS: join(mkdtempSync(join(base, "w-")), "witness.json") },
  });
  await elsewhere.stop();
  expect(elsewhere.log.join("\n")).not.toContain(told);
});

const UNUSABLE: readonly { name: string; make: (parent: string) => string; says: RegExp }[] = [
  {
    name: "a file",
    make: (parent) => {
      writeFileSync(join(parent, "file"), "");
      return join(parent, "file");
    },
    says: /not a directory/,
  },
  {
    name: "below a file",
    make: (parent) => {
      writeFileSync(join(parent, "file"), "");
      return join(parent, "file", "data");
    },
    says: /not a directory/,
  },
  {
    name: "a link to nothing",
    make: (parent) => {
      symlinkSync(join(parent, "nothing"), join(parent, "link"));
      return join(parent, "link");
    },
    says: /ENOENT/,
  },
  { name: "where nothing can be made", make: () => "/proc/tollgate", says: /ENOENT|EACCES|EPERM/ },
  { name: "where nothing can be written", make: () => "/proc/self", says: /E[A-Z]+/ },
  {
    name: "with a directory for a database",
    make: (parent) => {
      mkdirSync(join(parent, "tollgate.db"));
      return parent;
    },
    says: /tollgate.db' is not a file/,
  },
  ...["tollgate.db", "secret", "tollgate.lock", "witness.json"].map((name) => ({
    name: `with a pipe for ${name}`,
    make: (parent: string) => {
      execFileSync("mkfifo", [join(parent, name)]);
      return parent;
    },
    says: /is not a file/,
  })),
  {
    name: "with a damaged lock",
    make: (parent) => {
      writeFileSync(join(parent, "tollgate.lock"), "no database".repeat(500));
      return parent;
    },
    says: /tollgate.lock' is damaged .*It holds nothing: remove it/,
  },
  {
    name: "with another program's database",
    make: (parent) => {
      const database = new Sqlite(join(parent, "tollgate.db"));
      database.exec("CREATE TABLE theirs (id INTEGER)");
      database.close();
      writeFileSync(join(parent, "secret"), "x".repeat(64));
      return parent;
    },
    says: /is another program's database/,
  },
];

test.each(UNUSABLE)("a data directory $name is refused in one line", ({ make, says }) => {
  const directory = make(mkdtempSync(join(base, "case-")));
  const refusal = refusalOf(directory);
  expect(refusal).toMatch(says);
  expect(refusal).toContain(directory);
  expect(refusal).not.toContain("\n");
});

test.each(UNUSABLE.filter(({ name }) => /nothing can be made|pipe for secret|damaged lock/.test(name)))(
  "a gateway whose data directory is $name says so in one line, and ends",
  async ({ make, says }) => {
    const directory = make(mkdtempSync(join(base, "case-")));
    expectRefusal(await tollgate(["serve"], { ...FAST, TOLLGATE_DATA: directory }), says);
  },
);
