/** What the protocol marks as required is asked for, and nothing else is. */
import { type DescField, getOption } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { methods, registry } from "../../../src/api/descriptors.js";
import { requiredMethod } from "../../../src/api/methods.js";
import { openCore, type OpenCore } from "../open-core.js";
import { openRecords } from "../open-records.js";

const REQUIRED = 2;
const SIGNAL = new AbortController().signal;

let core: OpenCore;
let kept: Awaited<ReturnType<typeof openRecords>>;
let operator: string;
beforeAll(async () => {
  kept = await openRecords();
  core = await openCore({ records: kept.records });
  ({ secret: operator } = await core.makeKey("acme", { scopes: ["operator"] }));
});
afterAll(async () => {
  await core.close();
  await kept.close();
});

function isRequired(field: DescField): boolean {
  const behavior = registry().getExtension("google.api.field_behavior");
  if (behavior === undefined) throw new Error("the descriptor set lacks field_behavior");
  const said: unknown = getOption(field, behavior);
  return Array.isArray(said) && said.includes(REQUIRED);
}

const managed = methods()
  // No key may call what is a person's own.
  .filter(({ http, path, permission }) => {
    const isAsked = http !== undefined && !path.includes("InferenceService");
    return isAsked && !requiredMethod(path).responseStream && permission?.user !== true;
  })
  .map(({ path, desc }) => ({
    path,
    required: desc.input.fields.filter(isRequired).map(({ name }) => name),
  }));

/** What is refused for another reason, which is no parameter's: Stripe and the prices are not set up here. */
const OFF: ReadonlyMap<string, string> = new Map([
  ["/tollgate.v1.PaymentService/ReconcilePayments", "ERROR_REASON_CARD_PAYMENTS_OFF"],
  ["/tollgate.v1.PriceService/RollBackPriceList", "ERROR_REASON_RESOURCE_UNKNOWN"],
  ["/tollgate.v1.PriceService/RefreshPriceList", "ERROR_REASON_RESOURCE_UNKNOWN"],
]);

/** The refusal of an empty message; nothing where it is answered. */
async function refusalOfNothing(path: string): Promise<{ reason: string; param: string } | undefined> {
  const method = requiredMethod(path);
  const call = { metadata: { authorization: `Bearer ${operator}` }, signal: SIGNAL, peer: "10.1.2.3", local: false };
  const outcome = await core.dispatcher.unary(method, method.requestDeserialize(Buffer.alloc(0)), call);
  if (outcome.kind === "answered") return undefined;
  return { reason: outcome.error.reason, param: outcome.error.metadata["param"] ?? "" };
}

describe("a message without its required fields", () => {
  test.each(managed.filter(({ required }) => required.length > 0))(
    "is refused by $path",
    async ({ path, required }) => {
      const refusal = await refusalOfNothing(path);
      expect(refusal?.reason).toMatch(/^ERROR_REASON_PARAMETER_(?:MISSING|INVALID)$/);
      expect(required).toContain(refusal?.param);
    },
  );

  test.each(managed.filter(({ required }) => required.length === 0))("is taken by $path", async ({ path }) => {
    const reason = OFF.get(path);
    expect(await refusalOfNothing(path)).toEqual(reason && { reason, param: "" });
  });

  test("is what most methods have", () => {
    expect(managed.filter(({ required }) => required.length > 0).length).toBeGreaterThan(12);
  });
});
