/** Updates over HTTP and gRPC: what they change is what they name, and a change that was not seen is not lost. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AccountSettings, UpdateAccountRequest } from "../../src/api/index.js";
import { methodByPath } from "../../src/api/descriptors.js";
import { requestBytes } from "../../src/http/json-map.js";
import { startGateway, type GatewayProcess } from "../support/gateway-process.js";
import { Management } from "../support/management.js";

type Json = Record<string, unknown>;

const UPDATE = methodByPath("/tollgate.v1.AccountService/UpdateAccount").desc;

function maskOf(body: object): readonly string[] | undefined {
  const input = { path: { id: "acme" }, query: {}, body: Buffer.from(JSON.stringify(body)) };
  return UpdateAccountRequest.decode(requestBytes(UPDATE, input)).updateMask;
}

describe("the mask of an update", () => {
  test.each([
    { name: "the members that came", body: { settings: { budget_day_nanos: "5", concurrency: "0" } } },
    { name: "amounts in USD", body: { settings: { budget_day: "0.5", concurrency: "0" } } },
    { name: "amounts that are null", body: { settings: { budget_day: null, concurrency: "0" } } },
    { name: "members in camel case", body: { settings: { budgetDayNanos: "5", concurrency: "0" } } },
    { name: "members that are null", body: { settings: { budget_day_nanos: null, concurrency: null } } },
    { name: "the names that it says", body: { settings: {}, update_mask: "budget_day_nanos,concurrency" } },
    { name: "names in camel case", body: { settings: {}, update_mask: "budgetDayNanos, concurrency" } },
    { name: "the names under its other name", body: { settings: {}, updateMask: "budget_day_nanos,concurrency" } },
  ])("is $name", ({ body }) => {
    expect([...(maskOf(body) ?? [])].sort()).toEqual(["budget_day_nanos", "concurrency"]);
  });

  test.each([
    { name: "no settings", body: {} },
    { name: "empty settings", body: { settings: {} } },
    { name: "an empty mask", body: { settings: { concurrency: "1" }, update_mask: "" } },
  ])("names nothing with $name", ({ body }) => {
    expect(maskOf(body) ?? []).toEqual([]);
  });

  test.each([
    ["a list", ["concurrency"]],
    ["no name", "a b"],
    ["a name of every object", "__proto__"],
  ])("is refused where it is %s", (_name, mask) => {
    const refusal = expect.objectContaining({ http: 400, param: "update_mask" });
    expect(() => maskOf({ settings: {}, update_mask: mask })).toThrow(refusal);
  });

  test("every setting of an account can be named", () => {
    for (const name of Object.keys(AccountSettings.decode(new Uint8Array()))) {
      const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      expect(maskOf({ update_mask: snake })).toEqual([snake]);
    }
  });
});

describe("an etag", () => {
  let gateway: GatewayProcess;
  let management: Management;
  beforeAll(async () => {
    gateway = await startGateway();
    management = new Management(gateway);
    await management.call("POST", "/accounts", { id: "acme" });
  });
  afterAll(() => gateway.stop());

  const things = [
    { kind: "account", make: async (): Promise<string> => "/accounts/acme", change: { budget_day_nanos: "7" } },
    {
      kind: "key",
      make: async (): Promise<string> => {
        const { body } = await management.call("POST", "/keys", { account_id: "acme" });
        return `/keys/${String((body["key"] as Json)["id"])}`;
      },
      change: { requests_per_minute: "7" },
    },
    {
      kind: "alert",
      make: async (): Promise<string> => {
        const { body } = await management.call("POST", "/alerts", { settings: { kind: "reload_refused" } });
        return `/alerts/${String((body["alert"] as Json)["id"])}`;
      },
      change: { name: "ours" },
      other: { for_minutes: 1 },
      before: { for_minutes: 0 },
    },
    {
      kind: "webhook",
      make: async (): Promise<string> => {
        const hook = { settings: { url: "https://hooks.example.com/tollgate" } };
        const { body } = await management.call("POST", "/webhooks", hook);
        return `/webhooks/${String((body["webhook"] as Json)["id"])}`;
      },
      change: { name: "ours" },
      other: { paused: true },
      before: { paused: false },
    },
  ];

  test.each(things)("lets one of two writers of a $kind change it, and tells the other", async (thing) => {
    const { other: others = { concurrency: "1" }, before = { concurrency: "0" } } = thing;
    const path = await thing.make();
    const read = async (): Promise<Json> => (await management.call("GET", path)).body[thing.kind] as Json;
    const first = await read();
    expect(first["etag"]).toMatch(/./);
    expect((await read())["etag"]).toBe(first["etag"]);
    const one = await management.call("PATCH", path, { settings: thing.change, etag: first["etag"] });
    expect(one.status).toBe(200);
    const told = (one.body[thing.kind] as Json)["etag"];
    expect(told).not.toBe(first["etag"]);
    const other = await management.call("PATCH", path, { settings: others, etag: first["etag"] });
    expect(other).toMatchObject({ status: 409, body: { error: { code: "etag_stale" } } });
    expect(JSON.stringify(other.body)).toContain("Read it again");
    expect(await read()).toMatchObject({ etag: told, settings: { ...thing.change, ...before } });
    const again = await management.call("PATCH", path, { settings: others, etag: told });
    const settings = { ...thing.change, ...others };
    expect(again).toMatchObject({ status: 200, body: { [thing.kind]: { settings } } });
    expect((await management.call("PATCH", path, { settings: before })).status).toBe(200);
  });
});
