/** What a front end in a process of its own refuses by itself leaves its record at the core, as any refusal does. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { FrontServiceService } from "../../../src/api/index.js";
import { Cancellation } from "../../../src/base/cancellation.js";
import { createRemoteChannel } from "../../../src/rpc/transport/remote-channel.js";
import { RefusalReports } from "../../../src/serve/refusal-reports.js";
import { GatewayError } from "../../../src/base/errors.js";
import { OPERATOR_KEY } from "../../support/gateway-process.js";
import { startWorld, type World } from "../../support/world.js";

type Json = Readonly<Record<string, unknown>>;

let world: World;

beforeAll(async () => {
  world = await startWorld("front end apart");
});
afterAll(() => world.close());

async function recordOf(id: string): Promise<Json> {
  const list = async (): Promise<readonly Json[]> =>
    (await world.management.call("GET", `/requests?query=${id}`)).body["requests"] as Json[];
  await expect.poll(list).toHaveLength(1);
  return (await list())[0]!;
}

test.each([
  { name: "an unknown path", path: "/v1/nothing", method: "GET", reason: "PATH_UNKNOWN", status: 404, account: "" },
  { name: "a path of another method", path: "/api/v1/keys", method: "PUT", reason: "", status: 0, account: "" },
  { name: "a body that is no JSON", path: "/api/v1/keys", method: "POST", reason: "BODY_INVALID", status: 400 },
])("$name", async ({ path, method, reason, status, account }) => {
  const headers = { authorization: `Bearer ${OPERATOR_KEY}`, "content-type": "application/json" };
  const more = { "x-client-request-id": `c-${method}`, "user-agent": "a-client/1.2" };
  const body = method === "GET" ? {} : { body: '{"no' };
  const response = await fetch(world.front.url + path, { method, headers: { ...headers, ...more }, ...body });
  await response.text();
  const found = await recordOf(response.headers.get("x-request-id")!);
  const { detail } = found as { detail: Json };
  expect(detail).toMatchObject({ http_status: response.status, client: "a-client/1.2" });
  expect(detail["client_request_id"]).toBe(`c-${method}`);
  if (reason !== "") expect([detail["error_reason"], detail["http_status"]]).toEqual([reason, status]);
  // Whoever was let in is known, as from a front end in the core's own process.
  if (account === undefined) expect([found["account_id"] !== "", detail["address"]]).toEqual([true, "127.0.0.1"]);
});

test("nobody but a front end reports refusals", async () => {
  const channel = createRemoteChannel({ address: world.core.grpc });
  const call = channel.unary(
    FrontServiceService.reportRefusals,
    { refusals: [] },
    {
      metadata: { authorization: `Bearer ${OPERATOR_KEY}`, "x-tollgate-front": "guessed" },
      signal: new Cancellation(),
    },
  );
  await expect(call).rejects.toMatchObject({ reason: "ERROR_REASON_PATH_UNKNOWN" });
  await channel.close();
});

test("what a core that is away cannot be told is counted, and no more than 2,000 wait", async () => {
  let lost = 0;
  let told = 0;
  const unary = (_method: unknown, { refusals }: { refusals: readonly unknown[] }): Promise<never> => {
    told += refusals.length;
    return Promise.reject(new GatewayError("ERROR_REASON_OVERLOADED"));
  };
  const channel = { unary: unary as never };
  const reports = new RefusalReports({ channel, frontToken: "t", onLost: (count) => void (lost += count) });
  const error = new GatewayError("ERROR_REASON_PATH_UNKNOWN", { path: "/x" });
  for (let at = 0; at < 2_300; at++)
    reports.add({ error, requestId: `req_${at}`, route: "unknown", metadata: {}, admission: undefined });
  expect(lost).toBe(300);
  await reports.close();
  expect([told, lost]).toEqual([2_000, 2_300]);
});
