/** A second factor: enrolled, confirmed, asked for, used once, lost and taken away; on each database. */
import { describe, expect, test } from "vitest";
import { type SealKeys, SecretSeal } from "../../src/alerts/seal.js";
import type { Identity } from "../../src/identity/identity.js";
import type { SignedIn } from "../../src/identity/new-session.js";
import { codeOf, stepAt } from "../../src/identity/totp.js";
import { onEachStore, openStore, SQLITE } from "../support/stores.js";
import { act, HOME, NO_FACTOR, openPeople, PASSWORD, type PeopleWorld, reasonOf, OPERATOR } from "./people-world.js";

const STEP_MS = 30_000;

interface Enrolled {
  readonly world: PeopleWorld;
  readonly ada: SignedIn;
  readonly recoveryCodes: readonly string[];
  /** The code that the authenticator shows now. */
  code(): string;
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((sign) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(sign).toString(2).padStart(5, "0"));
  return Buffer.from((bits.join("").match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
}

async function enrolled(world: PeopleWorld): Promise<Enrolled> {
  const ada = await world.person("ada");
  const { secret, uri } = await world.identity.secondFactors.enrol(ada.user, act());
  expect(uri).toContain(`secret=${secret}&`);
  const code = (): string => codeOf(fromBase32(secret), stepAt(world.clock.nowMs));
  const recoveryCodes = await world.identity.secondFactors.confirm(ada.user, ada.session.id, code(), act());
  world.clock.nowMs += STEP_MS;
  return { world, ada, recoveryCodes, code };
}

onEachStore((driver) => {
  const open = async (): Promise<Enrolled> => enrolled(await openPeople(await openStore(driver)));

  test("nobody is asked for a second factor before it is confirmed, and then at each sign-in", async () => {
    const world = await openPeople(await openStore(driver));
    const ada = await world.person("ada");
    const { secret } = await world.identity.secondFactors.enrol(ada.user, act());
    const other = await world.signIn("ada@example.com");
    expect(await reasonOf(() => world.identity.secondFactors.confirm(ada.user, ada.session.id, "000000", act()))).toBe(
      "SIGN_IN_REFUSED",
    );
    const right = codeOf(fromBase32(secret), stepAt(world.clock.nowMs));
    await world.identity.secondFactors.confirm(ada.user, ada.session.id, right, act());
    // Sessions that began without it are over; the one that confirmed it stays.
    expect(await reasonOf(() => world.caller(other))).toBe("SESSION_ENDED");
    expect((await world.caller(ada)).open.user.secondFactor).toBe(true);
    expect(await reasonOf(() => world.signIn("ada@example.com"))).toBe("SECOND_FACTOR_MISSING");
    expect(await reasonOf(() => world.signIn("ada@example.com", "wrong password"))).toBe("SIGN_IN_REFUSED");
  });

  test("a code is good once, also in the hands of whoever read along, and on another node", async () => {
    const { world, code } = await open();
    const shown = code();
    expect((await world.signIn("ada@example.com", PASSWORD, shown)).user.email).toBe("ada@example.com");
    const elsewhere: Identity = world.node();
    for (const identity of [world.identity, elsewhere]) {
      const again = { email: "ada@example.com", password: PASSWORD, code: shown, passkey: "" };
      const device = { address: "192.0.2.9", userAgent: "" };
      expect(await reasonOf(() => identity.signIn(again, device, act()))).toBe("SIGN_IN_REFUSED");
    }
    world.clock.nowMs += STEP_MS;
    await world.signIn("ada@example.com", PASSWORD, code());
  });

  test("a rotation of the root secret seals it anew, and the authenticator goes on after it", async () => {
    const [before, after] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
    const { world, code } = await open();
    const unconfirmed = await world.person("bob");
    await world.identity.secondFactors.enrol(unconfirmed.user, act());
    const nodeOf = (keys: SealKeys): Identity => world.node({ seal: new SecretSeal(keys) });
    expect(await nodeOf({ keys: [before, after] }).secondFactors.sealAnew()).toBe(0);
    const both = nodeOf({ keys: [after, before], previous: before });
    expect(await both.secondFactors.sealAnew()).toBe(2);
    expect(await both.secondFactors.sealAnew()).toBe(0);
    const shown = { email: "ada@example.com", password: PASSWORD, code: code(), passkey: "" };
    const { user } = await nodeOf({ keys: [after] }).signIn(shown, HOME, act());
    expect(user.email).toBe("ada@example.com");
  });

  test("of two who show the same code at once one signs in", async () => {
    const { world, code } = await open();
    const shown = code();
    const tries = await Promise.allSettled([1, 2, 3].map(() => world.signIn("ada@example.com", PASSWORD, shown)));
    expect(tries.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
  });

  test("each recovery code is good once, however it is typed, and new ones end the old", async () => {
    const { world, ada, recoveryCodes } = await open();
    expect(new Set(recoveryCodes).size).toBe(10);
    const [first = "", second = "", third = ""] = recoveryCodes;
    await world.signIn("ada@example.com", PASSWORD, ` ${first.toUpperCase().replaceAll("-", " ")} `);
    expect(await reasonOf(() => world.signIn("ada@example.com", PASSWORD, first))).toBe("SIGN_IN_REFUSED");
    const { user } = await world.signIn("ada@example.com", PASSWORD, second);
    expect((await world.identity.secondFactors.state(user)).recoveryCodesLeft).toBe(8);
    const [fresh = ""] = await world.identity.secondFactors.newRecoveryCodes(ada.user, act());
    expect(await reasonOf(() => world.signIn("ada@example.com", PASSWORD, third))).toBe("SIGN_IN_REFUSED");
    await world.signIn("ada@example.com", PASSWORD, fresh);
  });

  test("codes and recovery codes stand in no table as they are", async () => {
    const { world, recoveryCodes } = await open();
    const kept = JSON.stringify(
      await world.store.people.secondFactor(
        (await world.signIn("ada@example.com", PASSWORD, recoveryCodes[0])).user.id,
      ),
    );
    expect(kept).not.toContain("secret");
    const audited = JSON.stringify(await world.store.audit.list({}, { size: 100, token: "" }), (_key, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    );
    for (const code of recoveryCodes) expect(audited).not.toContain(code);
    expect(audited).toContain("recovery code");
  });

  test("a second factor is not enrolled over, until its owner or an operator takes it away", async () => {
    const { world, ada } = await open();
    const { secondFactors, members } = world.identity;
    expect(await reasonOf(() => secondFactors.enrol(ada.user, act()))).toBe("ALREADY_EXISTS");
    const token = await members.reset(ada.user.id, false, OPERATOR, act());
    await world.identity.setPassword(token, `${PASSWORD} 2`, "192.0.2.1", act());
    expect(await reasonOf(() => world.signIn("ada@example.com", `${PASSWORD} 2`))).toBe("SECOND_FACTOR_MISSING");
    await members.reset(ada.user.id, true, OPERATOR, act());
    const { user } = await world.signIn("ada@example.com", `${PASSWORD} 2`);
    expect(user.secondFactor).toBe(false);
    await secondFactors.enrol(user, act());
  });

  test("a person with a second factor joins another account with a code alone", async () => {
    const { world, code } = await open();
    const wish = { accountId: "acme", role: "admin", installationRole: null, email: "", ttlSeconds: 0 } as const;
    const { token } = await world.identity.members.invite(wish, OPERATOR, act());
    const accept = (shown: string): Promise<SignedIn> =>
      world.identity.acceptInvitation(
        token,
        { email: "ada@example.com", name: "", password: PASSWORD, code: shown, passkey: "" },
        { address: "192.0.2.1", userAgent: "" },
        act(),
      );
    expect(await reasonOf(() => accept(""))).toBe("SECOND_FACTOR_MISSING");
    expect((await accept(code())).user.email).toBe("ada@example.com");
  });
});

describe("what is asked for", () => {
  const world = async (options: Parameters<typeof openPeople>[1] = {}): Promise<PeopleWorld> =>
    openPeople(await openStore(SQLITE), options);

  test("an account that requires a second factor closes itself to those without one", async () => {
    const { identity, person, caller } = await world();
    const ada = await person("ada");
    expect((await caller(ada)).user.lacksSecondFactor).toBe(false);
    await identity.members.requireSecondFactor("acme", true, act());
    expect((await caller(ada)).user.lacksSecondFactor).toBe(true);
  });

  test.each([
    { secondFactorFor: "nobody", lacks: false },
    { secondFactorFor: "operators", lacks: false },
    { secondFactorFor: "everyone", lacks: true },
  ] as const)("of a member where $secondFactorFor must have one: $lacks", async ({ secondFactorFor, lacks }) => {
    const { person, caller } = await world({ secondFactorFor });
    expect((await caller(await person("ada"))).user.lacksSecondFactor).toBe(lacks);
  });

  test("a proof holds half an hour, and is given by password and code", async () => {
    const { identity, person, caller, clock } = await world();
    const ada = await person("ada");
    expect((await caller(ada)).user.isFresh).toBe(true);
    clock.nowMs += 30 * 60_000;
    expect((await caller(ada)).user.isFresh).toBe(false);
    const { open } = await caller(ada);
    expect(await reasonOf(() => identity.prove(open, "wrong password", NO_FACTOR, act()))).toBe("SIGN_IN_REFUSED");
    expect(await identity.prove(open, PASSWORD, NO_FACTOR, act())).toBe(clock.nowMs + 30 * 60_000);
    expect((await caller(ada)).user.isFresh).toBe(true);
  });

  test("wrong codes are slowed, by whoever has the password", async () => {
    const opened = await enrolled(await world());
    const reasons: string[] = [];
    for (let tried = 0; tried < 15; tried++) {
      opened.world.clock.nowMs += 6_000;
      reasons.push(await reasonOf(() => opened.world.signIn("ada@example.com", PASSWORD, "000000")));
    }
    expect(reasons).toContain("RATE_LIMITED");
  });
});
