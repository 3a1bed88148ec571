/** Each request is told once when it is over, whichever of its call and its run ends first. */
import { expect, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import { type EndedRequest, RequestFeed, type RequestRecord } from "../../src/records/request-record.js";

const left = new GatewayError("ERROR_REASON_CANCELLED");
const refused = new GatewayError("ERROR_REASON_RATE_LIMITED");

type Step = (record: RequestRecord) => void;

test.each<{ name: string; steps: readonly Step[]; want: GatewayError | undefined | "replayed" | "nothing" }>([
  { name: "refused before the gateway had it", steps: [(one) => one.left(refused)], want: refused },
  { name: "an answer that came again", steps: [(one) => one.cameAgain()], want: "replayed" },
  { name: "running", steps: [(one) => one.take()], want: "nothing" },
  { name: "left while it runs", steps: [(one) => one.take(), (one) => one.left(left)], want: "nothing" },
  {
    name: "over while its call goes on",
    steps: [(one) => one.take(), (one) => one.end(undefined), (one) => one.giveBack(), (one) => one.cameAgain()],
    want: undefined,
  },
  {
    name: "over after its caller left",
    steps: [(one) => one.take(), (one) => one.left(left), (one) => one.end(undefined), (one) => one.giveBack()],
    want: undefined,
  },
  {
    name: "refused by the gateway, which its call tells",
    steps: [(one) => one.take(), (one) => one.giveBack(), (one) => one.left(refused)],
    want: refused,
  },
  {
    name: "refused by the gateway after its caller left",
    steps: [(one) => one.take(), (one) => one.left(left), (one) => one.giveBack()],
    want: left,
  },
])("a request that is $name is told once", ({ steps, want }) => {
  const told: EndedRequest[] = [];
  const feed = new RequestFeed({ nowMs: () => 5, onError: () => expect.unreachable() });
  feed.subscribe((request) => told.push(request));
  const record = feed.begin("req_1", "/some", {});
  for (const step of steps) step(record);
  if (want === "nothing") return expect(told).toEqual([]);
  expect(told).toHaveLength(1);
  expect(told[0]).toMatchObject({ id: "req_1", path: "/some", endTimeMs: 5, replayed: want === "replayed" });
  expect(told[0]?.failure).toBe(want === "replayed" ? undefined : want);
});

test("a listener that fails hinders neither the others nor the request, and one that left hears nothing", () => {
  const problems: unknown[] = [];
  const told: string[] = [];
  const feed = new RequestFeed({ nowMs: () => 5, onError: (error) => problems.push(error) });
  feed.subscribe(() => {
    throw new Error("of a listener");
  });
  const end = feed.subscribe(({ id }) => told.push(id));
  feed.begin("req_1", "/some", {}).end(undefined);
  end();
  feed.begin("req_2", "/some", {}).end(undefined);
  expect(told).toEqual(["req_1"]);
  expect(problems).toHaveLength(2);
});
