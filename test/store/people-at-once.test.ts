/**
 * What is done for a person while something else is done for the same one, in a database that runs both at once: one of
 * the two is held after each of its statements in turn, while the other one runs. SQLite writes one thing at a time.
 */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LinkRow, SessionRow, UserRow } from "../../src/store/people-rows.js";
import { type PeopleScript, peopleScript } from "../../src/store/people-store.js";
import type { OidcEntry } from "../../src/store/oidc-scripts.js";
import type { NewPasskey } from "../../src/store/passkey-scripts.js";
import { Postgres } from "../../src/store/postgres/connection.js";
import { askPeople, runPeople } from "../../src/store/postgres/people.js";
import { sql } from "../../src/store/postgres/sql.js";
import { openPostgresStore } from "../../src/store/postgres/store.js";
import { runScriptAsync } from "../../src/store/script.js";
import type { PEOPLE_SCRIPTS } from "../../src/store/people-scripts.js";
import { Gate } from "../keys/key-world.js";
import { TEST_ACT, TEST_EVENT } from "../support/acts.js";
import { createDatabase, postgresMissing } from "../support/postgres.js";

const NOW_MS = 1_000;
const CODES = 10;

type Of<Result> = (userId: string) => Result;

/** What it does for a person, and what must have been done before. */
interface Writer {
  readonly of: Of<Call>;
  readonly before?: Of<readonly Call[]>;
}

/** One script with its arguments. */
interface Call {
  readonly name: PeopleScript;
  readonly args: readonly unknown[];
}

function call<Name extends PeopleScript>(name: Name, ...args: Parameters<(typeof PEOPLE_SCRIPTS)[Name]>): Call {
  return { name, args };
}

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

function userOf(id: string): UserRow {
  const names = { id, email: `${id}@example.com`, name: id, password: "old", installationRole: null };
  return { ...names, createTimeMs: NOW_MS, signInTimeMs: null, secondFactor: false };
}

function sessionOf(userId: string, id: string): SessionRow {
  const device = { address: "192.0.2.1", userAgent: "a browser", method: "password" as const };
  const times = { createTimeMs: NOW_MS, useTimeMs: NOW_MS, proofTimeMs: NOW_MS };
  return { id: `${userId} ${id}`, digest: digestOf(`${userId} ${id}`), userId, ...device, ...times };
}

function linkOf(userId: string, kind: LinkRow["kind"]): LinkRow {
  const leads = { accountId: kind === "invitation" ? "other" : null, role: kind === "invitation" ? "owner" : null };
  const id = `${kind} ${userId}`;
  const given = { giverUserId: null, giverKeyId: null };
  const whom = { ...given, email: null, installationRole: null, userId: kind === "password" ? userId : null };
  return { id, digest: digestOf(id), kind, ...leads, ...whom, createTimeMs: NOW_MS, expireTimeMs: 9_000 } as LinkRow;
}

function signInOf(userId: string, way: OidcEntry["way"]): OidcEntry {
  // A person has one identity at an issuer.
  const identity = { issuer: way === "bind" ? "https://other.example" : "https://issuer.example", subject: userId };
  const used = { used: digestOf(`sign-in ${userId}`), usedUntilMs: 9_000 };
  return {
    way,
    identity,
    user: userOf(userId),
    session: sessionOf(userId, "oidc"),
    ...used,
    invitation: null,
    otherwise: null,
  };
}

const codesOf = (userId: string, set: string): Buffer[] =>
  Array.from({ length: CODES }, (_, at) => digestOf(`${userId} ${set} ${at}`));

/** A second factor that is confirmed. */
const confirmedBefore = (id: string): readonly Call[] => [
  call("confirmSecondFactor", confirmed(id), codesOf(id, "first"), TEST_EVENT),
];

/** A passkey, with a number that tells it from others. */
const passkeyOf = (userId: string, number = 1): NewPasskey => {
  const id = `passkey_${number} ${userId}`;
  const kept = { credentialId: digestOf(id), publicKey: digestOf("key"), rpId: "llm.example.com", transports: "" };
  const passkey = { id, userId, ...kept, counter: 0, name: "Phone", createTimeMs: NOW_MS, useTimeMs: null };
  return { passkey, challenge: challengeOf(`create ${id}`), sessionId: `${userId} first` };
};
const challengeOf = (text: string) => ({ digest: digestOf(text), keptUntilMs: 9_000, nowMs: NOW_MS });
const adds = (id: string, number?: number): Call =>
  call("addPasskey", passkeyOf(id, number), codesOf(id, "passkey"), TEST_EVENT);
const passkeyBefore = (id: string): readonly Call[] => [adds(id)];
const uses = (userId: string): Call => {
  const { id } = passkeyOf(userId).passkey;
  return call("usePasskey", { userId, id, counter: 1, challenge: challengeOf(`use ${id}`) }, TEST_EVENT);
};

/** What writes for a person who is there; those that only change rows must not bring any back. */
const WRITERS: readonly Writer[] = [
  { of: (id) => call("startSession", sessionOf(id, "new"), userOf(id), TEST_EVENT) },
  { of: (id) => call("makeLink", linkOf(id, "password")) },
  { of: (id) => call("acceptInvitation", acceptance(id), TEST_EVENT) },
  { of: (id) => call("playgroundKey", id, "acme", `key_${id}`) },
  { of: (id) => call("oidcSignIn", signInOf(id, "bound"), [TEST_EVENT]) },
  { of: (id) => call("oidcSignIn", signInOf(id, "bind"), [TEST_EVENT]) },
  { of: (id) => call("enrolSecondFactor", factorOf(id), TEST_EVENT) },
  { of: (id) => call("confirmSecondFactor", confirmed(id), codesOf(id, "first"), TEST_EVENT) },
  { of: (id) => call("replaceRecoveryCodes", id, codesOf(id, "other"), TEST_EVENT), before: confirmedBefore },
  { of: (id) => adds(id) },
  { of: uses, before: passkeyBefore },
  { of: (id) => call("renamePasskey", id, passkeyOf(id).passkey.id, "Ring", TEST_EVENT), before: passkeyBefore },
  { of: (id) => call("dropPasskey", id, passkeyOf(id).passkey.id, TEST_EVENT), before: passkeyBefore },
  { of: (id) => call("nameUser", id, "Another name", TEST_EVENT) },
  { of: (id) => call("changeMember", memberParams(id, "admin"), TEST_EVENT) },
  { of: (id) => call("setPassword", id, "new", { password: "old" }, TEST_EVENT) },
];

const removal = (id: string): Call => call("removeUser", id, false, NOW_MS, TEST_EVENT);
const acceptance = (id: string) => ({
  link: linkOf(id, "invitation"),
  user: userOf(id),
  session: sessionOf(id, "invited"),
  isNew: false,
});
const factorOf = (userId: string) => ({ userId, sealed: digestOf("seal"), lastStep: 1, createTimeMs: NOW_MS });
const confirmed = (userId: string) => ({ userId, step: 2, sessionId: `${userId} first`, nowMs: NOW_MS });
const memberParams = (userId: string, role: "admin" | null) => ({
  accountId: "acme",
  userId,
  role,
  byOwner: true,
  keepsKeys: false,
  nowMs: NOW_MS,
});

describe.skipIf(postgresMissing !== undefined)("on PostgreSQL", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());

  test.each(WRITERS.map(({ of, before }) => ({ of, before, name: nameOf(of("user")) })))(
    "$name leaves nothing of a person who is removed meanwhile, and does its work where nobody is",
    async ({ of, before }) => {
      const gone = async (id: string): Promise<void> => {
        expect(await world.tablesWith(id)).toEqual([]);
      };
      await world.everyOrder(of, removal, gone, before);
      expect(await world.alone(of, before)).toSatisfy(
        (result) => [true, "done", "first"].includes(result) || String(result).startsWith("key_"),
      );
    },
  );

  test("a hidden key is made before its person leaves the account, and ends then, or it is not made", async () => {
    const leaves = (id: string): Call => call("changeMember", memberParams(id, null), TEST_EVENT);
    await world.everyOrder(
      (id) => call("playgroundKey", id, "acme", `key_${id}`),
      leaves,
      async (id) => {
        expect(await world.countOf("playground_key", id)).toBe(0);
      },
    );
  });

  const BEGINNINGS: readonly { readonly name: string; readonly of: Of<Call> }[] = [
    { name: "a sign-in", of: (id) => call("startSession", sessionOf(id, "new"), userOf(id), TEST_EVENT) },
    { name: "an invitation", of: (id) => call("acceptInvitation", acceptance(id), TEST_EVENT) },
    { name: "an identity that is bound", of: (id) => call("oidcSignIn", signInOf(id, "bind"), [TEST_EVENT]) },
  ];
  const changesPassword = (id: string): Call => call("setPassword", id, "new", { password: "old" }, TEST_EVENT);

  test.each(BEGINNINGS)("$name begins no session by a password that was changed meanwhile", async ({ of }) => {
    await world.everyOrder(of, changesPassword, async (id) => expect(await world.countOf("session", id)).toBe(0));
  });

  test.each([
    ...BEGINNINGS,
    { name: "an identity that was bound", of: (id: string) => call("oidcSignIn", signInOf(id, "bound"), [TEST_EVENT]) },
  ])("$name begins no session without a second factor that was confirmed meanwhile", async ({ of }) => {
    await world.everyOrder(
      of,
      (id) => call("confirmSecondFactor", confirmed(id), [], TEST_EVENT),
      // The one in which it was confirmed.
      async (id) => expect(await world.countOf("session", id)).toBe(1),
    );
  });

  test.each(BEGINNINGS)("$name begins no session without a passkey that was added meanwhile", async ({ of }) => {
    await world.everyOrder(of, adds, async (id) => expect(await world.countOf("session", id)).toBe(1));
  });

  test("of two first second factors at once one brings the recovery codes", async () => {
    await world.everyOrder(
      adds,
      (id) => call("confirmSecondFactor", confirmed(id), codesOf(id, "app"), TEST_EVENT),
      async (id, results) => {
        expect(results.toSorted()).toEqual(["added", "first"]);
        expect(await world.countOf("recovery_code", id)).toBe(CODES);
      },
    );
  });

  test("an answer of a passkey that is used twice at once counts once", async () => {
    const isOnce = (_id: string, results: readonly unknown[]): Promise<void> =>
      Promise.resolve(expect(results.toSorted()).toEqual(["answered", "done"]));
    await world.everyOrder(uses, uses, isOnce, passkeyBefore);
  });

  test("a tenth and an eleventh passkey at once leave ten", async () => {
    const nine = (id: string): readonly Call[] => Array.from({ length: 9 }, (_, at) => adds(id, at + 1));
    const tenth = (id: string): Call => adds(id, 10);
    const eleventh = (id: string): Call => adds(id, 11);
    await world.everyOrder(
      tenth,
      eleventh,
      async (id, results) => {
        expect(results.toSorted()).toEqual(["added", "many"]);
        expect(await world.countOf("passkey", id)).toBe(10);
      },
      nine,
    );
  });

  test("of two changes from one old password one is made", async () => {
    await world.everyOrder(changesPassword, changesPassword, async (_id, results) => {
      expect(results.toSorted()).toEqual([false, true]);
    });
  });

  test("two sets of recovery codes that are made at once leave one", async () => {
    await world.everyOrder(
      (id) => call("replaceRecoveryCodes", id, codesOf(id, "one"), TEST_EVENT),
      (id) => call("replaceRecoveryCodes", id, codesOf(id, "other"), TEST_EVENT),
      async (id) => expect(await world.countOf("recovery_code", id)).toBe(CODES),
      confirmedBefore,
    );
  });
});

function nameOf({ name, args }: Call): string {
  const way = (args[0] as Partial<OidcEntry>).way;
  return way === undefined ? name : `${name} (${way})`;
}

/** Whether the first call had so many statements, and what both answered. */
interface Held {
  readonly isHeld: boolean;
  readonly results: readonly unknown[];
}

async function openWorld() {
  const { url, drop } = await createDatabase();
  const store = await openPostgresStore({ url, nodeId: "node_1" });
  const database = await Postgres.open(url);
  for (const id of ["acme", "other"]) await store.accounts.create({ id, name: id, createTimeMs: NOW_MS }, TEST_ACT);
  const tables = await database.rows<{ name: string }>(
    sql(`SELECT table_name AS name FROM information_schema.columns
      WHERE table_schema = current_schema() AND column_name = 'user_id' ORDER BY table_name`),
  );
  expect(tables.length).toBeGreaterThan(7);
  let people = 0;

  const countOf = async (table: string, userId: string): Promise<number> => {
    const [found] = await database.rows<{ count: bigint }>(
      sql(`SELECT COUNT(*) AS count FROM ${table} WHERE user_id = ?`),
      [userId],
    );
    return Number(found?.count);
  };

  /** Somebody in `acme` with a session, an identity at an issuer, an unconfirmed second factor and an invitation. */
  const person = async (): Promise<string> => {
    const id = `user_${(people += 1)}`;
    const link = { ...linkOf(id, "password"), id: `first ${id}`, digest: digestOf(`first ${id}`) };
    await store.people.createUser({ user: userOf(id), link, accountId: "acme", role: "admin" }, TEST_EVENT);
    await store.people.startSession(sessionOf(id, "first"), userOf(id), TEST_EVENT);
    await store.people.enrolSecondFactor(factorOf(id), TEST_EVENT);
    await store.people.makeLink(linkOf(id, "invitation"));
    await database.run(
      sql("INSERT INTO oidc_identity (issuer, subject, user_id, create_time_ms) VALUES (?, ?, ?, ?)"),
      ["https://issuer.example", id, id, NOW_MS],
    );
    return id;
  };

  const personAfter = async (before: Of<readonly Call[]> = () => []): Promise<string> => {
    const id = await person();
    for (const { name, args } of before(id)) await runPeople(database, name, args);
    return id;
  };

  /** Runs the one call up to behind a statement, then the other as far as it comes, and then both to their ends. */
  const held = async (one: Call, other: Call, atStep: number): Promise<Held> => {
    let step = 0;
    let isHeld = false;
    const gate = new Gate();
    const first = database.transact((session) =>
      runScriptAsync(peopleScript(one.name, one.args), async (asked) => {
        const answer = await askPeople(session, asked);
        step += 1;
        if (step === atStep) {
          isHeld = true;
          await gate.pass();
        }
        return answer;
      }),
    );
    // It may have fewer statements.
    await Promise.race([gate.reached, first]);
    let isOver = false;
    const second = runPeople(database, other.name, other.args).finally(() => (isOver = true));
    await expect.poll(async () => isOver || (await isWaiting()), { interval: 2 }).toBe(true);
    gate.open();
    return { isHeld, results: await Promise.all([first, second]) };
  };

  const isWaiting = async (): Promise<boolean> =>
    (
      await database.rows(
        sql("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"),
      )
    ).length > 0;

  return {
    close: async () => {
      await database.close();
      await store.close();
      await drop();
    },
    countOf,
    tablesWith: async (userId: string): Promise<string[]> => {
      const counts = await Promise.all(tables.map(({ name }) => countOf(name, userId)));
      return tables.flatMap(({ name }, at) => (counts[at] === 0 ? [] : [name]));
    },
    /** What it answers where nothing else is done for the person. */
    alone: async (of: Of<Call>, before?: Of<readonly Call[]>): Promise<unknown> => {
      const { name, args } = of(await personAfter(before));
      return runPeople(database, name, args);
    },
    everyOrder: async (
      one: Of<Call>,
      other: Of<Call>,
      check: (userId: string, results: readonly unknown[]) => Promise<void>,
      before?: Of<readonly Call[]>,
    ): Promise<void> => {
      for (const [first, second] of [
        [one, other],
        [other, one],
      ] as const)
        for (let step = 1, isHeld = true; isHeld; step += 1) {
          const id = await personAfter(before);
          const { results, ...was } = await held(first(id), second(id), step);
          await check(id, results);
          ({ isHeld } = was);
        }
    },
  };
}
