/** A link holds as long as whoever gave it may give it: each kind of link, giver, way to lose the right, and way in. */
import { expect, test } from "vitest";
import { KeySettings } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import type { SignedIn } from "../../src/identity/new-session.js";
import { digestOf, makeToken } from "../../src/identity/tokens.js";
import type { Caller } from "../../src/keys/caller.js";
import { mayGive } from "../../src/store/link-givers.js";
import { settingsOf } from "../keys/key-world.js";
import { TEST_EVENT } from "../support/acts.js";
import { onEachStore, openStore } from "../support/stores.js";
import {
  act,
  HOME,
  keyRow,
  NO_FACTOR,
  openPeople,
  OPERATOR,
  PASSWORD,
  type PeopleWorld,
  reasonOf,
  START_MS,
} from "./people-world.js";

/** What a link leads to, and what is told of one that does not hold. */
interface Link {
  readonly name: string;
  /** Whether admins and owners of an account give it too; else operators alone. */
  readonly byMembers: boolean;
  give(world: PeopleWorld, giver: Caller): Promise<string>;
  /** Resolves where the link lets in. */
  use(world: PeopleWorld, token: string): Promise<unknown>;
}

let count = 0;

function accept({ identity }: PeopleWorld, token: string): Promise<unknown> {
  const wish = { email: `new-${++count}@example.com`, name: "", password: PASSWORD, ...NO_FACTOR };
  return identity.acceptInvitation(token, wish, HOME, act());
}

function setPassword({ identity }: PeopleWorld, token: string): Promise<unknown> {
  return identity.setPassword(token, `${PASSWORD} 2`, HOME.address, act());
}

/** As somebody new comes in from an issuer with the token of an invitation. */
async function comeFromIssuer({ store, clock }: PeopleWorld, token: string): Promise<void> {
  const id = `user_oidc${++count}`;
  const names = { id, email: `${id}@example.com`, name: id, password: null, installationRole: null } as const;
  const times = { createTimeMs: clock.nowMs, useTimeMs: clock.nowMs, proofTimeMs: clock.nowMs };
  const device = { address: "", userAgent: "", method: "oidc" } as const;
  const entry = {
    way: "new",
    identity: { issuer: "https://issuer.example", subject: id },
    used: digestOf(id),
    usedUntilMs: clock.nowMs + 9_000,
    user: { ...names, createTimeMs: clock.nowMs, signInTimeMs: null, secondFactor: false },
    session: { id: `session_${id}`, digest: digestOf(`session ${id}`), userId: id, ...device, ...times },
    invitation: digestOf(token),
    otherwise: null,
  } as const;
  if ((await store.people.oidcSignIn(entry, [TEST_EVENT])) !== "done")
    throw new GatewayError("ERROR_REASON_LINK_INVALID");
}

const toAccount = { accountId: "acme", role: "admin", installationRole: null, email: "", ttlSeconds: 0 } as const;
const toInstallation = { ...toAccount, accountId: null, role: null, installationRole: "operator" } as const;

const invitation = async (world: PeopleWorld, giver: Caller): Promise<string> =>
  (await world.identity.members.invite(toAccount, giver, act())).token;

const LINKS: readonly Link[] = [
  { name: "a place in an account", byMembers: true, give: invitation, use: accept },
  { name: "a place in an account, by an issuer", byMembers: true, give: invitation, use: comeFromIssuer },
  {
    name: "a role in the installation",
    byMembers: false,
    give: async ({ identity }, giver) => (await identity.members.invite(toInstallation, giver, act())).token,
    use: accept,
  },
  {
    name: "the first password of somebody who was made",
    byMembers: false,
    give: async ({ identity }, giver) => {
      const wish = { email: `made-${++count}@example.com`, name: "", installationRole: null, accountId: null };
      return (await identity.members.create({ ...wish, role: "member" }, giver, act())).token;
    },
    use: setPassword,
  },
  {
    name: "a new password",
    byMembers: false,
    give: async (world, giver) => {
      const { user } = await world.person(`reset-${++count}`, "member");
      return world.identity.members.reset(user.id, false, giver, act());
    },
    use: setPassword,
  },
];

/** Who gives, and how the right to it goes. */
interface Loss {
  readonly name: string;
  readonly isMember: boolean;
  /** Returns the giver, and what takes the right away. */
  open(world: PeopleWorld): Promise<{ readonly giver: Caller; readonly lose: () => unknown }>;
}

async function member(world: PeopleWorld, role: "owner" | "admin"): Promise<{ giver: Caller; signedIn: SignedIn }> {
  const signedIn = await world.person(`giver-${++count}`, role);
  return { signedIn, giver: await world.caller(signedIn) };
}

async function operator(world: PeopleWorld): Promise<{ giver: Caller; id: string }> {
  const signedIn = await world.person(`giver-${++count}`, "member");
  const { id } = signedIn.user;
  await world.identity.members.setInstallationRole(id, "operator", OPERATOR, act());
  return { giver: await world.caller(signedIn), id };
}

function ofMember(name: string, role: "owner" | "admin", lose: (world: PeopleWorld, id: string) => unknown): Loss {
  return {
    name: `${role} ${name}`,
    isMember: true,
    open: async (world) => {
      const { giver, signedIn } = await member(world, role);
      return { giver, lose: () => lose(world, signedIn.user.id) };
    },
  };
}

function ofOperator(name: string, lose: (world: PeopleWorld, id: string) => unknown): Loss {
  return {
    name: `operator ${name}`,
    isMember: false,
    open: async (world) => {
      const { giver, id } = await operator(world);
      return { giver, lose: () => lose(world, id) };
    },
  };
}

function keyCaller(keyId: string): Caller {
  return { user: undefined, keyId, hasScope: () => true } as never;
}

const removed = ({ identity }: PeopleWorld, id: string) => identity.members.remove(id, true, OPERATOR, act());
const roleTo = (role: "admin" | "member" | "viewer") => (world: PeopleWorld, id: string) =>
  world.identity.members.change("acme", id, role, OPERATOR, act());
const left = ({ identity }: PeopleWorld, id: string) => identity.members.leave("acme", id, true, OPERATOR, act());
const office = (role: "auditor" | null) => (world: PeopleWorld, id: string) =>
  world.identity.members.setInstallationRole(id, role, OPERATOR, act());

const LOSSES: readonly Loss[] = [
  ...(["owner", "admin"] as const).flatMap((role) => [
    ofMember("who is a member now", role, roleTo("member")),
    ofMember("who is a viewer now", role, roleTo("viewer")),
    ofMember("who left the account", role, left),
    ofMember("who was removed", role, removed),
  ]),
  ofOperator("who is none now", office(null)),
  ofOperator("who is an auditor now", office("auditor")),
  ofOperator("who was removed", removed),
  {
    name: "key that is revoked",
    isMember: false,
    open: async ({ store }) => {
      const row = keyRow(`key_${++count}`);
      await store.keys.create(row, TEST_EVENT);
      const over = { ...row, revokeTimeMs: START_MS, revision: 2 };
      return { giver: keyCaller(row.id), lose: () => store.keys.replace(over, TEST_EVENT) };
    },
  },
  {
    name: "key that expires",
    isMember: false,
    open: async ({ store, clock }) => {
      const expireTime = new Date(clock.nowMs + 60_000);
      const settings = KeySettings.encode(settingsOf({ scopes: ["operator"], expireTime })).finish();
      const row = keyRow(`key_${++count}`, { settings });
      await store.keys.create(row, TEST_EVENT);
      return { giver: keyCaller(row.id), lose: () => (clock.nowMs += 60_000) };
    },
  },
  {
    name: "key whose maker is no operator now",
    isMember: false,
    open: async (world) => {
      const { id } = await operator(world);
      const made = keyRow(`key_${++count}`, { makerUserId: id });
      const child = keyRow(`key_${++count}`, { makerId: made.id });
      for (const row of [made, child]) await world.store.keys.create(row, TEST_EVENT);
      return { giver: keyCaller(child.id), lose: () => office(null)(world, id) };
    },
  },
];

onEachStore((driver) => {
  for (const link of LINKS)
    test(`a link to ${link.name} ends with the right of its giver`, async () => {
      const world = await openPeople(await openStore(driver));
      // An account and an installation keep somebody in office.
      await world.person("stays", "owner");
      await operator(world);
      for (const { name, isMember, open } of LOSSES) {
        if (isMember && !link.byMembers) continue;
        // So often nobody may try within a minute.
        world.clock.nowMs += 120_000;
        const { giver, lose } = await open(world);
        const [used, kept] = [await link.give(world, giver), await link.give(world, giver)];
        await link.use(world, used);
        await lose();
        expect(`${name}: ${await reasonOf(() => link.use(world, kept))}`).toBe(`${name}: LINK_INVALID`);
      }
    });

  test("a link of a build that kept no givers, and one of the gateway itself, hold", async () => {
    const world = await openPeople(await openStore(driver));
    const { text, digest } = makeToken((bytes) => Buffer.alloc(bytes, 5));
    const leads = { accountId: "acme", role: "member", installationRole: null, email: null, userId: null } as const;
    const times = { createTimeMs: START_MS, expireTimeMs: START_MS + 9_000 };
    const link = { ...leads, id: "link_old", digest, giverUserId: null, giverKeyId: null, ...times };
    await world.store.people.invite({ ...link, kind: "invitation" }, TEST_EVENT);
    await accept(world, text);
  });
});

test("what may be given: operators all, owners and admins a place in their account, admins none of an owner", () => {
  const place = (role: "owner" | "member") => ({ kind: "invitation", accountId: "acme", role }) as const;
  const password = { kind: "password", accountId: null, role: null } as const;
  const given = (role: Parameters<typeof mayGive>[0]): boolean[] =>
    [place("owner"), place("member"), password].map((link) => mayGive(role, link));
  expect(given("operator")).toEqual([true, true, true]);
  expect(given("owner")).toEqual([true, true, false]);
  expect(given("admin")).toEqual([false, true, false]);
  for (const role of ["member", "viewer", "auditor", "none"] as const)
    expect(given(role)).toEqual([false, false, false]);
});
