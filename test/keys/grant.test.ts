/** What a caller may do to keys. */
import { expect, test } from "vitest";
import { KeySettings } from "../../src/api/index.js";
import { requireMayCreate, requireMayGrant, requireMayManage } from "../../src/keys/grant.js";
import { callerOf } from "../../src/keys/key-caller.js";
import { FOREIGN, refusalOf, settingsOf } from "./key-world.js";

const callerWith = (scopes: string[]) =>
  callerOf({
    id: "key_1",
    accountId: "acme",
    settings: KeySettings.encode(settingsOf({ scopes })).finish(),
    digest: new Uint8Array(32),
    previousDigest: null,
    previousUntilMs: null,
    hint: "sk-tg12...34",
    createTimeMs: 1,
    revokeTimeMs: null,
    revision: 1,
  });
const manager = callerWith(["keys"]);
const operator = callerWith(["operator"]);
const keyWith = (accountId: string, scopes: string[]) => ({
  ...manager.key,
  accountId,
  settings: settingsOf({ scopes }),
});

test.each([
  {
    name: "makes a key of its account",
    call: () => requireMayCreate(manager, { accountId: "acme", settings: undefined }),
    want: "",
  },
  {
    name: "makes no key of another account",
    call: () => requireMayCreate(manager, { accountId: "other", settings: undefined }),
    want: "RESOURCE_UNKNOWN",
  },
  {
    name: "imports no secret",
    call: () => requireMayCreate(manager, { accountId: "acme", settings: undefined, secret: FOREIGN }),
    want: "SCOPE_MISSING",
  },
  {
    name: "makes no operator",
    call: () =>
      requireMayCreate(manager, { accountId: "acme", settings: settingsOf({ scopes: ["chat", "operator"] }) }),
    want: "SCOPE_MISSING",
  },
  {
    name: "makes its own key no operator's",
    call: () => requireMayGrant(manager, settingsOf({ scopes: ["operator"] })),
    want: "SCOPE_MISSING",
  },
  { name: "manages a key of its account", call: () => requireMayManage(manager, keyWith("acme", ["chat"])), want: "" },
  {
    name: "does not see a key of another account",
    call: () => requireMayManage(manager, keyWith("other", ["chat"])),
    want: "RESOURCE_UNKNOWN",
  },
  {
    name: "does not get at an operator's key of its account",
    call: () => requireMayManage(manager, keyWith("acme", ["operator"])),
    want: "SCOPE_MISSING",
  },
])("a manager of keys $name", async ({ call, want }) => {
  if (want === "") call();
  else expect((await refusalOf(call)).reason).toBe(`ERROR_REASON_${want}`);
});

test("an operator may do all of it", () => {
  requireMayCreate(operator, { accountId: "other", settings: settingsOf({ scopes: ["operator"] }), secret: FOREIGN });
  requireMayManage(operator, keyWith("other", ["operator"]));
  requireMayGrant(operator, settingsOf({ scopes: ["operator"] }));
  expect(operator.hasScope("keys")).toBe(true);
});
