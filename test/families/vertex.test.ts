/** Google's token: one for all requests while it holds, renewed beside them, and nothing of the key in a refusal. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { vertex } from "../../src/families/vertex/index.js";
import { googleToken, readCredential } from "../../src/families/vertex/token.js";
import { type FakeGoogleToken, startFakeGoogleToken } from "../support/fake-google-token.js";

let fake: FakeGoogleToken;
beforeAll(async () => {
  fake = await startFakeGoogleToken();
});
afterAll(() => fake.close());

describe("a token", () => {
  test("is asked for once and handed out at once from then on", async () => {
    const before = fake.given;
    const token = googleToken(readCredential(fake.key), { nowMs: Date.now, monotonicMs: Date.now });
    const first = [token.value(), token.value(), token.value()];
    expect(first[0]).toBeInstanceOf(Promise);
    const headers = await Promise.all(first);
    expect(headers).toEqual(first.map(() => ({ authorization: `Bearer token-${fake.given}` })));
    for (let more = 0; more < 100; more++) expect(token.value()).toBe(headers[0]);
    expect(fake.given).toBe(before + 1);
  });

  test("that ends soon is renewed beside the requests that it still serves", async () => {
    let lateMs = 0;
    const token = googleToken(readCredential(fake.key), {
      nowMs: Date.now,
      monotonicMs: () => Date.now() + lateMs,
    });
    const first = await token.value();
    lateMs = 3_400_000;
    expect(token.value()).toBe(first);
    await expect.poll(() => token.value()).not.toBe(first);
  });

  test.each([-3_600_000, 3_600_000])(
    "lives as long as it was given, though the clock is set by %i ms",
    async (jumpMs) => {
      let setByMs = 0;
      const token = googleToken(readCredential(fake.key), {
        nowMs: () => Date.now() + setByMs,
        monotonicMs: () => performance.now(),
      });
      const headers = await token.value();
      setByMs = jumpMs;
      expect(token.value()).toBe(headers);
    },
  );

  test("that is over is not handed out, and one that is refused is asked for again", async () => {
    let lateMs = 0;
    const token = googleToken(readCredential(fake.key), { nowMs: Date.now, monotonicMs: () => Date.now() + lateMs });
    fake.refuses = true;
    await expect(token.value()).rejects.toThrow(/^Google issued no credential: the key failed$/);
    fake.refuses = false;
    await token.value();
    expect(token.value()).not.toBeInstanceOf(Promise);
    lateMs = 3_700_000;
    const next = token.value();
    expect(next).toBeInstanceOf(Promise);
    await next;
  });
});

describe("a credential", () => {
  test.each([
    { name: "a file that is not there", credential: "/nowhere/key.json", says: /path of a file/ },
    { name: "no JSON", credential: "{secret", says: /no JSON/ },
    { name: "another kind of key", credential: '{"type":"authorized_user","refresh_token":"secret"}', says: /type/ },
    { name: "half a key", credential: '{"type":"service_account","private_key":"secret"}', says: /client_email/ },
  ])("$name is refused, and quoted nowhere", ({ credential, says }) => {
    const refusal = (): unknown => readCredential(credential);
    expect(refusal).toThrow(says);
    expect(refusal).not.toThrow(/secret/);
  });

  test("is not needed where the machine has an identity", () => {
    expect(readCredential(undefined)).toBeUndefined();
    expect(vertex.needsKey).toBe(false);
  });
});
