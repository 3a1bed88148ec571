/** What a page asks for at once: keys by their ids, and an account with what is on it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Method } from "../../../src/api/channel.js";
import { AccountServiceService as accounts, KeyServiceService as keys } from "../../../src/api/index.js";
import { GatewayError } from "../../../src/base/errors.js";
import { TEST_ACT } from "../../support/acts.js";
import { ask } from "../edges.js";
import { openCore, type OpenCore } from "../open-core.js";

let core: OpenCore;
let operator = "";
let member = "";
let ours: readonly string[] = [];
let other = "";

beforeAll(async () => {
  core = await openCore();
  await core.parts.ledger.start();
  operator = (await core.makeKey("root", { scopes: ["operator"] })).secret;
  const first = await core.makeKey("acme", { scopes: ["usage", "keys"] });
  member = first.secret;
  const less = { scopes: ["usage"] };
  ours = [first.id, (await core.makeKey("acme", less)).id, (await core.makeKey("acme", less)).id];
  other = (await core.makeKey("other")).id;
  await core.parts.ledger.credit({ creditId: "first", accountId: "acme", amountNanos: 1_000n, act: TEST_ACT });
});
afterAll(async () => {
  await core.parts.ledger.close();
  await core.close();
});

const call = <Request, Response>(
  secret: string,
  method: Method<Request, Response>,
  request: Request,
): Promise<Response> => ask(core, secret, method, request);

async function named(secret: string, accountId: string, ids: string[]): Promise<readonly string[]> {
  const page = await call(secret, keys.listKeys, { accountId, pageSize: 1, pageToken: "", ids, text: "" });
  expect(page.nextPageToken).toBe("");
  return page.keys.map(({ id }) => id);
}

test("keys whose ids are given come in that order, but for those that are none of the caller's business", async () => {
  const asked = [...ours.toReversed(), other, "key_none", ""];
  expect(await named(operator, "", asked)).toEqual([...ours.toReversed(), other]);
  expect(await named(operator, "acme", asked)).toEqual(ours.toReversed());
  expect(await named(operator, "other", asked)).toEqual([other]);
  expect(await named(member, "", asked)).toEqual(ours.toReversed());
});

test("keys are looked for among those that the caller may see", async () => {
  const { id } = await core.makeKey("acme", { name: "Nightly build", scopes: ["usage"] });
  const elsewhere = await core.makeKey("other", { name: "nightly too" });
  const revoked = await core.makeKey("acme", { name: "nightly of old", scopes: ["usage"] });
  await core.parts.keys.revoke(revoked.id, TEST_ACT);
  const hidden = await core.parts.keys.createHidden({ accountId: "acme", settings: undefined });
  const found = async (secret: string, text: string, isRevoked?: boolean): Promise<readonly string[]> => {
    const asked = { accountId: "", pageSize: 2, pageToken: "", ids: [], text, revoked: isRevoked };
    const page = await call(secret, keys.listKeys, asked);
    expect(page.nextPageToken === "").toBe(page.keys.length < 2 || isRevoked === undefined);
    // Two that are made in the same millisecond stand in the order of their ids.
    return page.keys.map(({ id }) => id).toSorted();
  };
  expect(await found(member, "NIGHTLY")).toEqual([revoked.id, id].toSorted());
  expect(await found(member, "nightly", false)).toEqual([id]);
  expect(await found(member, "nightly", true)).toEqual([revoked.id]);
  expect(await found(operator, "nightly too")).toEqual([elsewhere.id]);
  expect(await found(operator, hidden.id)).toEqual([]);
});

test.each([
  { name: "a text that is too long", asked: { text: "x".repeat(201), ids: [] }, param: "text" },
  { name: "ids and a text", asked: { text: "x", ids: ["key_1"] }, param: "ids" },
  { name: "ids and a state", asked: { text: "", revoked: false, ids: ["key_1"] }, param: "ids" },
])("$name is refused", async ({ asked, param }) => {
  const asking = call(member, keys.listKeys, { accountId: "", pageSize: 0, pageToken: "", ...asked });
  await expect(asking.catch((error: unknown) => GatewayError.from(error))).resolves.toMatchObject({
    reason: "ERROR_REASON_PARAMETER_INVALID",
    metadata: { param },
  });
});

test("of more ids than a page shows none is looked up", async () => {
  const many = Array.from({ length: 201 }, () => ours[0] ?? "");
  const refusal = await named(member, "", many).catch((error: unknown) => GatewayError.from(error));
  expect(refusal).toMatchObject({ reason: "ERROR_REASON_PARAMETER_INVALID", metadata: { param: "ids" } });
});

test("an account is shown with what is on it, as its balance says", async () => {
  const { account } = await call(operator, accounts.getAccount, { id: "acme" });
  const { availableNanos, heldNanos, spentNanos } = await call(operator, accounts.getBalance, { id: "acme" });
  expect(availableNanos).toBe(1_000n);
  expect(account?.figures).toMatchObject({ availableNanos, heldNanos, spentNanos });
});
