/** A change that is refused leaves its record, also where it came with a body that nobody read. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { methods } from "../../../src/api/descriptors.js";
import { methodName } from "../../../src/rpc/call/call-audit.js";
import { isChange } from "../../../src/rpc/call/call-log.js";
import { SWEPT_TOPOLOGIES } from "../../support/topologies.js";
import { startWorld, type World } from "../../support/world.js";

/** So many refusals of one caller are recorded in a minute. */
const OF_ONE = 25;
const PATIENT = { timeout: 60_000, interval: 100 };

interface Record {
  readonly method: string;
  readonly result: string;
  readonly reason: string;
  readonly actor: { readonly id: string; readonly address: string; readonly door: string };
  readonly after: string;
}

/** Changes that HTTP reaches with a body, for those who are somebody. */
const CHANGES = methods().filter(
  (method) => isChange(method) && method.http?.body === "*" && method.permission?.open !== true,
);

describe.each(SWEPT_TOPOLOGIES)("%s", (topology) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(topology);
  });
  afterAll(() => world.close());

  function send(pattern: string, verb: string, headers: { [name: string]: string }, body: string): Promise<Response> {
    const path = pattern.replaceAll(/\{\w+=\*\*\}/g, "some").replaceAll(/\{\w+\}/g, "some");
    return fetch(`${world.front.url}${path}`, {
      method: verb,
      headers: { "content-type": "application/json", ...headers },
      body,
    });
  }

  async function recordsOf(filter: string): Promise<readonly Record[]> {
    const { body } = await world.management.call("GET", `/audit_events?page_size=1000&result=refused&${filter}`);
    return body["audit_events"] as Record[];
  }

  test("each change leaves who was refused what, and why, and nothing of its body", async () => {
    expect(CHANGES.length).toBeGreaterThan(25);
    for (let start = 0; start < CHANGES.length; start += OF_ONE) {
      const { secret, id } = await world.management.makeKey("acme", { scopes: ["models"] });
      const refused: string[] = [];
      for (const { path, http } of CHANGES.slice(start, start + OF_ONE)) {
        const { pattern = "", verb = "POST" } = http ?? {};
        const body = JSON.stringify({ reason: "a secret of this body" });
        const response = await send(pattern, verb, { authorization: `Bearer ${secret}` }, body);
        expect(response.status, path).toBeGreaterThanOrEqual(400);
        await response.arrayBuffer();
        refused.push(methodName(path));
      }
      const told = async (): Promise<readonly string[]> =>
        (await recordsOf(`actor=${id}`)).map(({ method }) => method).toSorted();
      await expect.poll(told, PATIENT).toEqual(refused.toSorted());
      const records = await recordsOf(`actor=${id}`);
      expect(records.every(({ reason, actor }) => reason !== "" && actor.address === "127.0.0.1")).toBe(true);
      expect(JSON.stringify(records)).not.toContain("a secret of this body");
    }
  });

  test("so does one that cannot be read, and one of somebody whom nobody knows", async () => {
    const { secret, id } = await world.management.makeKey("acme", { scopes: ["keys"] });
    const broken = await send("/api/v1/keys", "POST", { authorization: `Bearer ${secret}` }, "{");
    expect(broken.status).toBe(400);
    await expect.poll(async () => (await recordsOf(`actor=${id}`)).length, PATIENT).toBe(1);
    const unknown = await send("/api/v1/keys", "POST", { authorization: "Bearer sk-nobody-has-this-1" }, "{}");
    expect(unknown.status).toBe(401);
    const ofStrangers = async (): Promise<readonly unknown[]> =>
      (await recordsOf("method=KeyService.CreateKey")).filter(({ reason }) => reason === "KEY_INVALID");
    await expect.poll(async () => (await ofStrangers()).length, PATIENT).toBe(1);
  });

  test("strangers without number leave the records of others their room", async () => {
    const strangers = Array.from({ length: 200 }, (_, index) =>
      send("/api/v1/keys", "POST", { authorization: `Bearer sk-nobody-has-this-${index}` }, "{}"),
    );
    for (const response of await Promise.all(strangers)) await response.arrayBuffer();
    const { secret, id } = await world.management.makeKey("acme", { scopes: ["models"] });
    await (await send("/api/v1/keys", "POST", { authorization: `Bearer ${secret}` }, "{}")).arrayBuffer();
    await expect.poll(async () => (await recordsOf(`actor=${id}`)).length, PATIENT).toBe(1);
  });
});
