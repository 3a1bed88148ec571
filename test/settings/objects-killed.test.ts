/**
 * A process that is killed at a random moment around a commit of settings objects leaves the old set or the new one, as
 * a whole, and the revisions and the audit log say which. A few kills with all tests; TOLLGATE_KILLS makes more.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { SecretSeal } from "../../src/alerts/seal.js";
import { SettingsObjects } from "../../src/settings/settings-objects.js";
import type { AuditRow, Store } from "../../src/store/store.js";
import { javascriptOf } from "../support/javascript-of.js";
import { administer } from "../support/postgres.js";
import { type Random, randomOf } from "../support/random.js";
import { onEachStore, type StorePlace } from "../support/stores.js";
import { AROUND } from "./fixtures.js";
import { shownSet, type ToldCommit } from "./killed.js";

const KILLS = Number(process.env["TOLLGATE_KILLS"] ?? 4);
const SEED = Number(process.env["TOLLGATE_SEED"] ?? 20_261_130);
/** A child makes at most so many commits before it is killed, and at least one: that tells how long one takes. */
const COMMITS_MAX = 6;
/** The kill comes within so many times as long after the next one begins: before its commit, in it, or behind it. */
const SPREAD = 1.5;
const NOTHING: ToldCommit = { id: "", revision: 0, resources: [], set: "[]" };

onEachStore((driver) => {
  test(
    `${KILLS} kills leave the old set or the new one (TOLLGATE_SEED=${SEED})`,
    { timeout: 60_000 + KILLS * 5_000 },
    async () => {
      const random = randomOf(SEED);
      const key = randomBytes(32);
      const place = await driver.place();
      await (await place.open()).close();
      const script = fileURLToPath(await javascriptOf(new URL("objects-child.ts", import.meta.url)));
      const committed: ToldCommit[] = [];
      let unacknowledged = 0;
      for (let kill = 0; kill < KILLS; kill += 1) {
        const child = spawn(process.execPath, [script, key.toString("hex"), String(SEED + kill)], {
          stdio: ["ignore", "pipe", "inherit"],
          env: { PATH: process.env["PATH"] ?? "", ...place.env },
        });
        const { did, open } = await killedCommits(child, random);
        committed.push(...did);
        await goneFrom(place);
        const store = await place.open();
        const newest = await newestOf(store, key);
        if (open !== undefined && newest.id === open.id) {
          unacknowledged += 1;
          committed.push(open);
        }
        expect(newest, `kill ${kill}`).toEqual(committed.at(-1) ?? NOTHING);
        const events = await eventsOf(store);
        expect(events, `kill ${kill}`).toEqual(
          committed.flatMap(({ id, resources }) => named(id, resources)).toSorted(),
        );
        await store.close();
      }
      process.stdout.write(`${KILLS} kills, ${committed.length} commits, of ${unacknowledged} no process was told\n`);
    },
  );
});

interface Killed {
  /** Acknowledged to the child. */
  readonly did: readonly ToldCommit[];
  /** Told of, and not acknowledged. */
  readonly open: ToldCommit | undefined;
}

/** Kills the child around one of its first commits. */
async function killedCommits(child: ChildProcess, random: Random): Promise<Killed> {
  const after = 1 + Math.floor(random() * COMMITS_MAX);
  const lines: string[] = [];
  let begunMs = 0;
  let tookMs = 0;
  let acknowledgedCount = 0;
  const hear = (line: string): void => {
    lines.push(line);
    const isBegun = line.startsWith("will ");
    if (isBegun && acknowledgedCount === after) setTimeout(() => child.kill("SIGKILL"), random() * SPREAD * tookMs);
    if (isBegun) begunMs = performance.now();
    else tookMs = performance.now() - begunMs;
    if (line.startsWith("did ")) acknowledgedCount += 1;
  };
  // A line that the kill cut has no end, and is not heard.
  let rest = "";
  child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
    const whole = (rest + piece).split("\n");
    rest = whole.pop() ?? "";
    whole.forEach(hear);
  });
  await once(child, "close");
  expect(child.signalCode).toBe("SIGKILL");
  const told = lines.flatMap((line) => (line.startsWith("will ") ? [JSON.parse(line.slice(5)) as ToldCommit] : []));
  const acknowledged = new Set(lines.flatMap((line) => (line.startsWith("did ") ? [idIn(line)] : [])));
  const did = told.filter(({ id }) => acknowledged.has(id));
  return { did, open: told.find(({ id }) => !acknowledged.has(id)) };
}

function idIn(line: string): string {
  return (JSON.parse(line.slice(4)) as { readonly id: string }).id;
}

/** PostgreSQL may still run what a killed client asked of it. */
async function goneFrom({ env }: StorePlace): Promise<void> {
  const url = env["TOLLGATE_DATABASE_URL"];
  if (url === undefined) return;
  const others = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
  await expect.poll(() => administer(others, url), { timeout: 60_000 }).toEqual([]);
}

/** What a process that starts finds: its set, and what the newest revision says of itself. */
async function newestOf(store: Store, key: Buffer): Promise<ToldCommit> {
  const seal = new SecretSeal({ keys: [key] });
  const objects = new SettingsObjects({ store: store.people, seal, env: {}, nowMs: Date.now });
  await objects.refresh();
  expect(objects.usable(AROUND).aside).toEqual(new Map());
  const [newest, before] = await objects.revisions(Number.MAX_SAFE_INTEGER, 2);
  expect(newest?.revision ?? 0).toBe(objects.set.revision);
  expect(before?.revision ?? 0).toBe(Math.max(0, objects.set.revision - 1));
  const resources = (newest?.changed ?? []).map(({ kind, name }) => `settings/${kind}/${name}`);
  return { id: newest?.actor ?? "", revision: objects.set.revision, resources, set: shownSet(objects.set) };
}

/** Which commit recorded which resource. */
async function eventsOf({ audit }: Store): Promise<readonly string[]> {
  const rows: AuditRow[] = [];
  for (let token = ""; ;) {
    const page = await audit.list({ methods: ["test.commit"] }, { size: 1_000, token });
    rows.push(...page.rows);
    token = page.nextPageToken;
    if (token === "") return rows.map(({ actor, resource }) => `${actor.id} ${resource}`).toSorted();
  }
}

function named(id: string, resources: readonly string[]): readonly string[] {
  return resources.map((resource) => `${id} ${resource}`);
}
