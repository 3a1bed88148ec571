/** Passkeys: added, used, renamed and removed, and what is refused of them; on each database. */
import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { SecretSeal } from "../../src/alerts/seal.js";
import type { Identity, IdentityOptions } from "../../src/identity/identity.js";
import type { SignedIn } from "../../src/identity/new-session.js";
import { relyingPartyAt } from "../../src/identity/passkeys/relying-party.js";
import { codeOf, stepAt } from "../../src/identity/totp.js";
import { type Lies, SoftAuthenticator } from "../support/soft-authenticator.js";
import { onEachStore, openStore, type StoreDriver } from "../support/stores.js";
import { act, HOME, NO_FACTOR, openPeople, PASSWORD, type PeopleWorld, reasonOf, OPERATOR } from "./people-world.js";

const ORIGIN = "https://llm.example.com";
const EMAIL = "ada@example.com";
const MINUTE_MS = 60_000;

interface Opened {
  readonly world: PeopleWorld;
  readonly ada: SignedIn;
  /** Adds a passkey to a person, and returns the recovery codes. */
  add(authenticator: SoftAuthenticator, who?: SignedIn, lies?: Lies): Promise<readonly string[]>;
  /** Signs in with the answer that an authenticator gives to a challenge of the node. */
  signIn(authenticator: SoftAuthenticator, lies?: Lies, node?: Identity): Promise<SignedIn>;
}

async function openWith(driver: StoreDriver, options: Partial<IdentityOptions> = {}): Promise<Opened> {
  const signInSeal = new SecretSeal({ keys: [Buffer.alloc(32, 9)] });
  const relyingParty = () => relyingPartyAt(ORIGIN);
  const world = await openPeople(await openStore(driver), { signInSeal, relyingParty, ...options });
  const ada = await world.person("ada");
  return {
    world,
    ada,
    add: async (authenticator, { user, session } = ada, lies = {}) => {
      const { passkeys } = world.identity.secondFactors;
      const credential = authenticator.create(await passkeys.begin(user, session.id), lies);
      return (await passkeys.add(user, session.id, "Phone", credential, act())).recoveryCodes;
    },
    signIn: async (authenticator, lies = {}, node = world.identity) => {
      // Each sign-in is two tries of the ten in a minute.
      world.clock.nowMs += 15_000;
      const passkey = authenticator.use(await node.beginPasskeySignIn(EMAIL, PASSWORD, HOME.address), lies);
      return node.signIn({ email: EMAIL, password: PASSWORD, code: "", passkey }, HOME, act());
    },
  };
}

const authenticator = (): SoftAuthenticator => new SoftAuthenticator(ORIGIN);
const OTHER_KEY = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;

test.each([
  { address: ORIGIN, party: { id: "llm.example.com", origin: ORIGIN } },
  { address: "https://llm.example.com:8443", party: { id: "llm.example.com", origin: "https://llm.example.com:8443" } },
  { address: "http://localhost:8080", party: { id: "localhost", origin: "http://localhost:8080" } },
  { address: "http://llm.example.com", party: undefined },
  { address: "https://192.0.2.7", party: undefined },
  { address: "https://[2001:db8::7]", party: undefined },
  { address: "http://127.0.0.1:8080", party: undefined },
  { address: undefined, party: undefined },
])("passkeys at $address belong to $party.id", ({ address, party }) => {
  expect(relyingPartyAt(address)).toEqual(party);
});

onEachStore((driver) => {
  test("the first passkey brings recovery codes and ends other sessions, and each sign-in asks for it", async () => {
    const { world, ada, add, signIn } = await openWith(driver);
    const phone = authenticator();
    const other = await world.signIn(EMAIL);
    const codes = await add(phone);
    expect(new Set(codes).size).toBe(10);
    expect(await reasonOf(() => world.caller(other))).toBe("SESSION_ENDED");
    expect((await world.caller(ada)).open.user.secondFactor).toBe(true);
    expect(await reasonOf(() => world.signIn(EMAIL))).toBe("SECOND_FACTOR_MISSING");
    const { user } = await signIn(phone);
    await world.signIn(EMAIL, PASSWORD, codes[0]);
    const { secondFactors } = world.identity;
    expect(await secondFactors.state(user)).toEqual({ hasApp: false, recoveryCodesLeft: 9 });
    expect(await secondFactors.passkeys.list(user)).toMatchObject([
      { name: "Phone", rpId: "llm.example.com", transports: "internal", counter: 1, useTimeMs: world.clock.nowMs },
    ]);
    // A second one comes to the first, with its codes.
    expect(await add(authenticator(), ada)).toEqual([]);
    expect((await secondFactors.state(user)).recoveryCodesLeft).toBe(9);
  });

  test("an account that requires a second factor is open to a person with a passkey", async () => {
    const { world, ada, add } = await openWith(driver);
    await world.identity.members.requireSecondFactor("acme", true, act());
    expect((await world.caller(ada)).user.lacksSecondFactor).toBe(true);
    await add(authenticator());
    expect((await world.caller(ada)).user.lacksSecondFactor).toBe(false);
  });

  test.each<{ name: string; lies: Lies }>([
    { name: "another origin", lies: { origin: "https://llm.example.com.evil.example" } },
    { name: "the origin without its scheme's s", lies: { origin: "http://llm.example.com" } },
    { name: "another port of the host", lies: { origin: "https://llm.example.com:8443" } },
    { name: "another host name", lies: { rpId: "evil.example" } },
    { name: "a page within another one's frame", lies: { crossOrigin: true } },
    { name: "a challenge of its own", lies: { challenge: "AAAAAAAAAAAAAAAAAAAAAA" } },
    { name: "no person there", lies: { isAbsent: true } },
    { name: "another key", lies: { key: OTHER_KEY } },
    { name: "another person's handle", lies: { userHandle: Buffer.from("user_1").toString("base64url") } },
    { name: "an unknown credential", lies: { credentialId: Buffer.alloc(32, 1) } },
    { name: "the answer of the other ceremony", lies: { type: "webauthn.create" } },
  ])("a sign-in with $name is refused", async ({ lies }) => {
    const { add, signIn } = await openWith(driver);
    const phone = authenticator();
    await add(phone);
    expect(await reasonOf(() => signIn(phone, lies))).toBe("SIGN_IN_REFUSED");
    expect((await signIn(phone)).user.email).toBe(EMAIL);
  });

  test.each<{ name: string; lies: Lies; reason?: string }>([
    { name: "another origin", lies: { origin: "https://evil.example" } },
    { name: "another host name", lies: { rpId: "evil.example" } },
    { name: "a challenge of its own", lies: { challenge: "AAAAAAAAAAAAAAAAAAAAAA" } },
    { name: "the answer of the other ceremony", lies: { type: "webauthn.get" } },
    { name: "a page within another one's frame", lies: { crossOrigin: true } },
    { name: "no person there", lies: { isAbsent: true } },
    {
      // Its list of revoked certificates would be fetched from wherever the certificate says.
      name: "certificates",
      lies: { attestation: ["packed", new Map<string, unknown>([["x5c", [new Uint8Array(8)]]])] },
    },
    { name: "a form of attestation that needs certificates", lies: { attestation: ["android-key", new Map()] } },
    { name: "an id without bytes", lies: { credentialId: Buffer.alloc(0) } },
  ])("a new passkey with $name is refused", async ({ lies }) => {
    const { world, ada, add } = await openWith(driver);
    expect(await reasonOf(() => add(authenticator(), ada, lies))).toBe("PARAMETER_INVALID");
    expect(await world.identity.secondFactors.passkeys.list(ada.user)).toEqual([]);
  });

  test.each(["", "{}", "null", "not JSON", `{"id":"x"}`, `"${"x".repeat(20_000)}"`])(
    "%.20s is no answer",
    async (text) => {
      const { world, ada, add } = await openWith(driver);
      const { passkeys } = world.identity.secondFactors;
      expect(await reasonOf(() => passkeys.add(ada.user, ada.session.id, "Phone", text, act()))).toBe(
        "PARAMETER_INVALID",
      );
      await add(authenticator());
      const reason = text === "" ? "SECOND_FACTOR_MISSING" : "SIGN_IN_REFUSED";
      expect(await reasonOf(() => world.signIn(EMAIL, PASSWORD, "", HOME.address, text))).toBe(reason);
    },
  );

  test("an answer is good once on whatever node, and for five minutes", async () => {
    const { world, ada, add } = await openWith(driver);
    const phone = authenticator();
    await add(phone);
    const elsewhere = world.node();
    const begin = (): Promise<string> => world.identity.beginPasskeySignIn(EMAIL, PASSWORD, HOME.address);
    const signIn = (node: Identity, passkey: string): Promise<SignedIn> =>
      node.signIn({ email: EMAIL, password: PASSWORD, code: "", passkey }, HOME, act());
    const passkey = phone.use(await begin());
    expect((await signIn(elsewhere, passkey)).user.email).toBe(EMAIL);
    for (const node of [world.identity, elsewhere])
      expect(await reasonOf(() => signIn(node, passkey))).toBe("SIGN_IN_REFUSED");

    const atOnce = phone.use(await begin());
    const tries = await Promise.allSettled([world.identity, elsewhere, world.identity].map((n) => signIn(n, atOnce)));
    expect(tries.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);

    const options = await begin();
    world.clock.nowMs += 5 * MINUTE_MS - 1;
    await signIn(elsewhere, phone.use(options));
    const late = await begin();
    world.clock.nowMs += 5 * MINUTE_MS;
    expect(await reasonOf(() => signIn(elsewhere, phone.use(late)))).toBe("SIGN_IN_REFUSED");

    const { passkeys } = elsewhere.secondFactors;
    const tablet = authenticator();
    const credential = tablet.create(await world.identity.secondFactors.passkeys.begin(ada.user, ada.session.id));
    await passkeys.add(ada.user, ada.session.id, "Tablet", credential, act());
    const again = (): Promise<unknown> => passkeys.add(ada.user, ada.session.id, "Tablet", credential, act());
    expect(await reasonOf(again)).toBe("PARAMETER_INVALID");
  });

  test("a challenge for one thing is no challenge for another", async () => {
    const { world, ada, add } = await openWith(driver);
    const phone = authenticator();
    await add(phone);
    const { open } = await world.caller(ada);
    const proof = await world.identity.beginPasskeyProof(open);
    const signIn = await world.identity.beginPasskeySignIn(EMAIL, PASSWORD, HOME.address);
    const creation = await world.identity.secondFactors.passkeys.begin(ada.user, ada.session.id);
    for (const options of [proof, creation])
      expect(await reasonOf(() => world.signIn(EMAIL, PASSWORD, "", HOME.address, phone.use(options)))).toBe(
        "SIGN_IN_REFUSED",
      );
    const second = await world.signIn(EMAIL, PASSWORD, "", HOME.address, phone.use(signIn));
    const prove = (passkey: string): Promise<number> =>
      world.identity.prove(open, PASSWORD, { code: "", passkey }, act());
    const elsewhere = await world.identity.beginPasskeyProof((await world.caller(second)).open);
    for (const options of [signIn, elsewhere, creation])
      expect(await reasonOf(() => prove(phone.use(options)))).toBe("SIGN_IN_REFUSED");
    world.clock.nowMs += 31 * MINUTE_MS;
    expect((await world.caller(ada)).user.isFresh).toBe(false);
    expect(await reasonOf(() => world.identity.prove(open, PASSWORD, NO_FACTOR, act()))).toBe("SECOND_FACTOR_MISSING");
    await prove(phone.use(await world.identity.beginPasskeyProof(open)));
    expect((await world.caller(ada)).user.isFresh).toBe(true);
    // The answer to another session's challenge adds nothing either.
    const { passkeys } = world.identity.secondFactors;
    const stolen = authenticator().create(await passkeys.begin(ada.user, ada.session.id));
    expect(await reasonOf(() => passkeys.add(second.user, second.session.id, "Phone", stolen, act()))).toBe(
      "PARAMETER_INVALID",
    );
  });

  test("a passkey of one person signs in nobody else, and is nobody else's too", async () => {
    const { world, add } = await openWith(driver);
    const [ours, theirs] = [authenticator(), authenticator()];
    const eve = await world.person("eve");
    await add(ours);
    await add(theirs, eve);
    const options = await world.identity.beginPasskeySignIn(EMAIL, PASSWORD, HOME.address);
    expect(options).not.toContain(Buffer.from(theirs.credentialId).toString("base64url"));
    const answer = theirs.use(options);
    expect(await reasonOf(() => world.signIn(EMAIL, PASSWORD, "", HOME.address, answer))).toBe("SIGN_IN_REFUSED");
    const taken = { credentialId: ours.credentialId };
    expect(await reasonOf(() => add(theirs, eve, taken))).toBe("ALREADY_EXISTS");
  });

  test("a counter that goes back is refused and recorded, and one that stays at zero is not", async () => {
    const { world, add, signIn } = await openWith(driver);
    const phone = authenticator();
    await add(phone, undefined, { counter: 5 });
    phone.counter = 9;
    await signIn(phone);
    for (const counter of [10, 9, 0]) expect(await reasonOf(() => signIn(phone, { counter }))).toBe("SIGN_IN_REFUSED");
    await signIn(phone, { counter: 11 });
    const { rows: records } = await world.store.audit.list({}, { size: 100, token: "" });
    const wentBack = records.filter(({ after }) => after.includes("counter"));
    expect(wentBack).toHaveLength(3);
    expect(wentBack[0]).toMatchObject({ result: "refused", reason: "SIGN_IN_REFUSED", actor: { kind: "user" } });

    const synced = new SoftAuthenticator(ORIGIN, false);
    await add(synced);
    for (let times = 0; times < 3; times++) await signIn(synced);
    await signIn(synced, { counter: 7 });
    expect(await reasonOf(() => signIn(synced))).toBe("SIGN_IN_REFUSED");
  });

  test("a person has at most ten, renames and removes them, and loses the codes with the last factor", async () => {
    const { world, ada, add, signIn } = await openWith(driver);
    const { secondFactors } = world.identity;
    const { passkeys } = secondFactors;
    const all = Array.from({ length: 10 }, authenticator);
    for (const one of all) await add(one);
    expect(await reasonOf(() => passkeys.begin(ada.user, ada.session.id))).toBe("PARAMETER_INVALID");
    const [first, ...rest] = await passkeys.list(ada.user);
    const id = first?.id ?? "";
    expect((await passkeys.rename(ada.user, id, "  Key on the ring ", act())).name).toBe("Key on the ring");
    expect(await reasonOf(() => passkeys.rename(ada.user, id, "\u202e", act()))).toBe("PARAMETER_INVALID");
    expect(await reasonOf(() => passkeys.rename(ada.user, id, "x".repeat(65), act()))).toBe("PARAMETER_INVALID");
    expect(await reasonOf(() => passkeys.rename(ada.user, id, " ", act()))).toBe("PARAMETER_MISSING");
    const eve = await world.person("eve");
    expect(await reasonOf(() => passkeys.rename(eve.user, id, "Mine", act()))).toBe("RESOURCE_UNKNOWN");
    expect(await reasonOf(() => passkeys.drop(eve.user, id, act()))).toBe("RESOURCE_UNKNOWN");
    for (const one of rest) await passkeys.drop(ada.user, one.id, act());
    const { user } = (await world.caller(ada)).open;
    expect(await secondFactors.state(user)).toMatchObject({ recoveryCodesLeft: 10 });
    const left = all.find(({ credentialId }) =>
      Buffer.from(credentialId).equals(first?.credentialId ?? Buffer.alloc(0)),
    );
    await signIn(left ?? authenticator());
    await passkeys.drop(ada.user, id, act());
    expect((await world.signIn(EMAIL)).user.secondFactor).toBe(false);
    expect(await world.store.people.recoveryCodesLeft(ada.user.id)).toBe(0);
  });

  test("beside an authenticator app either one signs in, and the codes go with the last of them", async () => {
    const { world, ada, add, signIn } = await openWith(driver);
    const { secondFactors } = world.identity;
    const phone = authenticator();
    const codes = await add(phone);
    const { secret } = await secondFactors.enrol(ada.user, act());
    const bits = [...secret].map((sign) =>
      "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(sign).toString(2).padStart(5, "0"),
    );
    const bytes = Buffer.from((bits.join("").match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
    const code = (): string => codeOf(bytes, stepAt(world.clock.nowMs));
    expect(await secondFactors.confirm(ada.user, ada.session.id, code(), act())).toEqual([]);
    await signIn(phone);
    world.clock.nowMs += MINUTE_MS;
    await world.signIn(EMAIL, PASSWORD, code());
    await secondFactors.drop(ada.user, act());
    expect(await reasonOf(() => world.signIn(EMAIL))).toBe("SECOND_FACTOR_MISSING");
    await world.signIn(EMAIL, PASSWORD, codes[0]);
    await signIn(phone);
  });

  test("an operator's reset and the removal of a person take the passkeys along", async () => {
    const { world, ada, add } = await openWith(driver);
    const { members } = world.identity;
    const phone = authenticator();
    await add(phone);
    await members.reset(ada.user.id, false, OPERATOR, act());
    expect(await reasonOf(() => world.signIn(EMAIL))).toBe("SECOND_FACTOR_MISSING");
    await members.reset(ada.user.id, true, OPERATOR, act());
    expect(await world.store.people.passkeys(ada.user.id)).toEqual([]);
    expect((await world.signIn(EMAIL)).user.secondFactor).toBe(false);
    const again = await world.signIn(EMAIL);
    await add(phone, again);
    await members.remove(ada.user.id, false, OPERATOR, act());
    expect(await world.store.people.passkeys(ada.user.id)).toEqual([]);
  });

  test("no session begins by the password alone once a passkey is there", async () => {
    const { world, ada, add } = await openWith(driver);
    const session = { ...ada.session, id: "session_late", digest: Buffer.alloc(32, 3) };
    await add(authenticator());
    const { user } = ada;
    const event = { ...act(), resource: "sessions/late", accountId: "", result: "done", reason: "" } as const;
    const written = { ...event, before: "", after: "", transferId: "" };
    expect(await world.store.people.startSession(session, user, written)).toBe(false);
  });

  test("whoever has no passkey here, or no password, is asked for none", async () => {
    const { world } = await openWith(driver);
    const begin = (email: string, password: string): Promise<string> =>
      world.identity.beginPasskeySignIn(email, password, HOME.address);
    expect(await begin(EMAIL, PASSWORD)).toBe("");
    expect(await reasonOf(() => begin(EMAIL, "a wrong password"))).toBe("SIGN_IN_REFUSED");
    expect(await reasonOf(() => begin("nobody@example.com", PASSWORD))).toBe("SIGN_IN_REFUSED");
  });

  test("a passkey of another host name is not asked for, and still counts as a second factor", async () => {
    let address: string | undefined = ORIGIN;
    const { world, ada, add } = await openWith(driver, { relyingParty: () => relyingPartyAt(address) });
    await add(authenticator());
    for (address of ["https://other.example.com", "http://127.0.0.1:8080"]) {
      expect(await reasonOf(() => world.signIn(EMAIL))).toBe("SECOND_FACTOR_MISSING");
      expect(await world.identity.beginPasskeySignIn(EMAIL, PASSWORD, HOME.address)).toBe("");
    }
    const { passkeys } = world.identity.secondFactors;
    expect(await reasonOf(() => passkeys.begin(ada.user, ada.session.id))).toBe("PASSKEYS_OFF");
    const use = (): Promise<SignedIn> => world.signIn(EMAIL, PASSWORD, "", HOME.address, "{}");
    expect(await reasonOf(use)).toBe("PASSKEYS_OFF");
  });

  test("records say what happened to which passkey, and hold neither names nor keys", async () => {
    const { world, ada, add, signIn } = await openWith(driver);
    const { passkeys } = world.identity.secondFactors;
    const phone = authenticator();
    const codes = await add(phone);
    await signIn(phone);
    const [{ id = "", publicKey = Buffer.alloc(0) } = {}] = await passkeys.list(ada.user);
    await passkeys.rename(ada.user, id, "Her very own phone", act());
    await world.identity.changeName((await world.caller(ada)).open, "Countess of Lovelace", act());
    expect((await world.caller(ada)).open.user.name).toBe("Countess of Lovelace");
    await passkeys.drop(ada.user, id, act());
    const { rows: records } = await world.store.audit.list({}, { size: 100, token: "" });
    const told = records.map(({ after }) => after).filter((after) => /passkey|changed/.test(after));
    expect(told.toReversed().map((after) => JSON.parse(after) as unknown)).toEqual([
      { second_factor: "passkey added", passkey: id },
      { second_factor: "passkey", passkey: id },
      { second_factor: "passkey renamed", passkey: id },
      { name: "changed" },
      { second_factor: "passkey removed", passkey: id },
    ]);
    const all = JSON.stringify(records, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value));
    const secrets = [...codes, "Her very own phone", "Countess", Buffer.from(publicKey).toString("base64")];
    for (const secret of [...secrets, Buffer.from(phone.credentialId).toString("base64url")])
      expect(all).not.toContain(secret);
  });
});
