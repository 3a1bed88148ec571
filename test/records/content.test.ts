/** What requests say is kept redacted, bounded and sealed, by accounts that ask for it, and by nobody else. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fc } from "../support/seeds.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { SecretSeal } from "../../src/alerts/seal.js";
import { patternOf, redacted } from "../../src/records/content-rules.js";
import type { ContentStore } from "../../src/records/content-store.js";
import { ContentTap, type GatheredContent } from "../../src/records/content-tap.js";
import { ContentVault } from "../../src/records/content-vault.js";
import { openPostgresRecords } from "../../src/records/postgres-chunks.js";
import { RequestFeed } from "../../src/records/request-record.js";
import { openSqliteContents } from "../../src/records/sqlite-contents.js";
import { openPostgresStore } from "../../src/store/postgres/store.js";
import { GrowingText } from "../../src/wire/answer/growing-text.js";
import { makeDatabase, postgresMissing } from "../support/postgres.js";

const KEPT = { kept: true, redactions: [], bodyBytesMax: 0, totalBytesMax: 0n };
const CREDENTIAL = "sk-proj-0123456789abcdefghijklmnop";
const ROOT = Buffer.alloc(32, 1);
const NEXT_ROOT = Buffer.alloc(32, 2);

function content(more: Partial<GatheredContent> = {}): GatheredContent {
  const whole = { requestCut: false, answerCut: false, format: "openai-chat" };
  const of = { id: "req_1", accountId: "acme", endUser: "ann", endTimeMs: 1_000 };
  return { ...of, ...whole, settings: KEPT, request: Buffer.from("what is asked"), answer: "what is said", ...more };
}

describe("what is taken out", () => {
  test.each([
    { name: "a key with a prefix", text: `use ${CREDENTIAL} now`, want: "use [redacted] now", redactions: [] },
    { name: "digits of a rule", text: "ssn 078-05-1120.", want: "ssn [redacted].", redactions: ["###-##-####"] },
    { name: "words of a rule", text: "to ann.lee@example.com!", want: "to [redacted]!", redactions: ["*@*"] },
    { name: "a rule's own signs", text: "a+b (c) aab c", want: "[redacted] aab c", redactions: ["a+b (c)"] },
    { name: "large and small letters", text: "Projekt KRAKE", want: "Projekt [redacted]", redactions: ["krake"] },
  ])("$name", ({ text, want, redactions }) => {
    const settings = { ...KEPT, redactions };
    expect(redacted(content({ settings, request: Buffer.from(text), answer: text }))).toMatchObject({
      request: want,
      answer: want,
    });
  });

  test("a credential leaves nothing behind, wherever the bound cuts it", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 1, max: 1_500 }), (at, bodyBytesMax) => {
        const body = Buffer.from(`${"x ".repeat(at)}${CREDENTIAL}${" y".repeat(2_000)}`);
        const tap = new ContentTap({ ...KEPT, bodyBytesMax }, { source: { body }, prompt: () => ({}) });
        const kept = redacted(content({ ...tap.gathered() }));
        expect(kept.request).not.toContain("sk-proj");
        expect(kept.request.length).toBeLessThanOrEqual(bodyBytesMax);
        expect(kept.requestCut).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test("no rule takes long, whatever it is asked of", () => {
    const pattern = patternOf(["*@*", "*-*!", "####-####"]);
    const startMs = performance.now();
    expect("a".repeat(65_536).replace(pattern ?? "", "")).toHaveLength(65_536);
    expect(performance.now() - startMs).toBeLessThan(10_000);
  });
});

describe("what is gathered", () => {
  test("is the whole text of a stream, though it is forgotten as it grows", () => {
    const text = new GrowingText();
    const tap = new ContentTap(KEPT, { source: { body: Buffer.from("q") }, prompt: () => ({}) });
    for (const piece of ["one ", "two ", "three"]) {
      text.add(piece);
      tap.follow(text);
      text.drop(text.length);
    }
    tap.follow(text);
    expect(tap.gathered()).toMatchObject({ answer: "one two three", answerCut: false });
  });

  test("is bounded, and its answer is read no further", () => {
    let reads = 0;
    const text = { length: 0, from: () => ((reads += 1), "x".repeat(500)) };
    const tap = new ContentTap(
      { ...KEPT, bodyBytesMax: 100 },
      { prompt: () => ({ said: 7n, sound: Buffer.alloc(9) }) },
    );
    for (text.length = 500; text.length <= 10_000; text.length += 500) tap.follow(text);
    expect(reads).toBe(3);
    expect(tap.gathered()).toMatchObject({ request: '{"said":"7","sound":"9 bytes"}', answerCut: true });
  });

  test("is nothing where nobody asks for it, or the client asks that nothing is", () => {
    const feed = new RequestFeed({ nowMs: () => 0, onError: () => expect.unreachable() });
    const plain = feed.begin("req_1", "/some", {});
    expect(plain.content).toBeUndefined();
    const asked = { source: { body: Buffer.from("q") }, prompt: () => ({}) };
    const headers = { "x-tollgate-log": " None", "x-tollgate-user": "ann", "x-tollgate-tags": "a=b" };
    const silent = feed.begin("req_2", "/some", { ...headers, "x-tollgate-client": "c/1" });
    silent.keepContent(KEPT, asked);
    expect(silent.content).toBeUndefined();
    const nobody = { endUser: "", tags: [], session: "", sessionSource: "", promptCacheKey: "", clientRequestId: "" };
    expect(silent.attributes()).toEqual({ ...nobody, client: "c/1" });
    const loud = feed.begin("req_3", "/some", { "x-tollgate-log": "all" });
    loud.keepContent(KEPT, asked);
    expect(loud.content).toBeDefined();
  });
});

const PLACES = [
  { name: "SQLite", missing: undefined, open: openDirectory },
  { name: "PostgreSQL", missing: postgresMissing, open: openDatabase },
];

async function openDirectory(): Promise<{ store: ContentStore; bytes: () => Buffer }> {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-content-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const store = openSqliteContents(directory);
  onTestFinished(() => store.close());
  const files = ["content.db", "content.db-wal"].map((name) => join(directory, name));
  return { store, bytes: () => Buffer.concat(files.map((file) => readFileSync(file))) };
}

async function openDatabase(): Promise<{ store: ContentStore; bytes: () => Buffer }> {
  const url = await makeDatabase();
  await (await openPostgresStore({ url, nodeId: "n" })).close();
  const { chunks, contents } = await openPostgresRecords(url);
  onTestFinished(() => chunks.close());
  return { store: contents, bytes: () => Buffer.alloc(0) };
}

describe.each(PLACES)("on $name", ({ missing, open }) => {
  test.skipIf(missing !== undefined)("content is found as it was, sealed, and once", async () => {
    const { store, bytes } = await open();
    const vault = new ContentVault(store, new SecretSeal({ keys: [ROOT] }));
    await vault.keep([content(), content({ id: "req_2", accountId: "other", request: "typed \u{1F600}" })]);
    await vault.keep([content({ answer: "said again" })]);
    const { id, accountId, endTimeMs } = content();
    const told = { format: "openai-chat", requestCut: false, answerCut: false };
    const said = { request: "what is asked", answer: "what is said" };
    expect(await vault.find("req_1")).toEqual({ id, accountId, endTimeMs, ...told, ...said });
    expect(await vault.find("req_2")).toMatchObject({ request: "typed \u{1F600}", accountId: "other" });
    expect(await vault.find("req_3")).toBeUndefined();
    expect(bytes().includes("what is")).toBe(false);
    expect(await store.keys()).toHaveLength(2);
  });

  test.skipIf(missing !== undefined)("an account keeps no more than it may: its oldest goes first", async () => {
    const { store } = await open();
    const vault = new ContentVault(store, new SecretSeal({ keys: [ROOT] }));
    const settings = { ...KEPT, totalBytesMax: 4_000n };
    const request = "x".repeat(900);
    await vault.keep([content({ id: "req_other", accountId: "other", request })]);
    for (let at = 0; at < 12; at++) await vault.keep([content({ id: `req_${at}`, endTimeMs: at, settings, request })]);
    expect(await store.bytesOf("acme")).toBeLessThanOrEqual(4_000);
    const kept = await Promise.all(Array.from({ length: 12 }, (_, at) => vault.find(`req_${at}`)));
    expect(kept.map((found) => found !== undefined)).toEqual(Array.from({ length: 12 }, (_, at) => at > 8));
    expect(await vault.find("req_other")).toBeDefined();
  });

  test.skipIf(missing !== undefined)("content of a person is erased, and what is old is swept", async () => {
    const { store } = await open();
    const vault = new ContentVault(store, new SecretSeal({ keys: [ROOT] }));
    const ids = ["req_1", "req_2", "req_3", "req_4"];
    const of = [{}, { accountId: "other" }, { endUser: "" }, { endUser: "ben", endTimeMs: 9_000 }];
    await vault.keep(of.map((more, at) => content({ ...more, id: ids[at]! })));
    const left = async (): Promise<string[]> => {
      const found = await Promise.all(ids.map((id) => vault.find(id)));
      return found.flatMap((one) => one?.id ?? []);
    };
    expect(await vault.erase("acme", "ann")).toBe(1);
    expect(await left()).toEqual(["req_2", "req_3", "req_4"]);
    expect(await vault.erase(undefined, "")).toBe(0);
    expect(await vault.erase(undefined, "ann")).toBe(1);
    expect(await vault.sweepOne(9_000)).toBe(true);
    expect(await vault.sweepOne(9_000)).toBe(false);
    expect(await left()).toEqual(["req_4"]);
  });

  test.skipIf(missing !== undefined)("a rotation seals the accounts' keys anew, and nothing is lost", async () => {
    const { store } = await open();
    await new ContentVault(store, new SecretSeal({ keys: [ROOT] })).keep([content()]);
    const rotating = new ContentVault(store, new SecretSeal({ keys: [NEXT_ROOT, ROOT], previous: ROOT }));
    await rotating.sealAnew();
    expect(await rotating.find("req_1")).toMatchObject({ request: "what is asked" });
    const after = new ContentVault(store, new SecretSeal({ keys: [NEXT_ROOT] }));
    expect(await after.find("req_1")).toMatchObject({ request: "what is asked" });
    await expect(new ContentVault(store, new SecretSeal({ keys: [ROOT] })).find("req_1")).rejects.toThrow(
      "another root secret",
    );
  });
});
