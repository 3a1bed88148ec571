/** Money in messages: every amount stands there for people too, and neither form loses a nano of the other. */
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import { answerBytesToJson } from "../../src/api/json.js";
import { methodByPath, registry } from "../../src/api/descriptors.js";
import { BalancePoint, CreditAccountRequest, GetModelResponse, GetStatementResponse } from "../../src/api/index.js";
import { holdsMoney, moneyOf } from "../../src/api/money-fields.js";
import { requestBytes } from "../../src/http/json-map.js";
import { AMOUNT_NANOS_MAX, formatMoney, NANOS_PER_USD } from "../../src/base/money.js";
import { readMoney, writeMoney } from "../../src/rpc/methods/money-messages.js";

const CREDIT = methodByPath("/tollgate.v1.AccountService/CreditAccount").desc;
const STATEMENT = methodByPath("/tollgate.v1.AccountService/GetStatement").desc;
const MODEL = methodByPath("/tollgate.v1.ModelService/GetModel").desc;
const INT64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const AMOUNT = fc.bigInt({ min: 0n, max: AMOUNT_NANOS_MAX });
/** What a model answers, which programs read; and a list, beside which nothing can stand. */
const WITHOUT_MONEY = [
  "Answer.cost_nanos",
  "Finish.cost_nanos",
  "EmbedResponse.cost_nanos",
  "RerankResponse.cost_nanos",
  "ModerateResponse.cost_nanos",
  "PaymentOptions.amounts_nanos",
];

const messages = [...registry().files]
  .filter(({ proto }) => proto.package === "tollgate.v1")
  .flatMap((file) => file.messages);

describe("the protocol", () => {
  test("says every amount for people too, but in the answer of a model and in a list", () => {
    const alone = messages.flatMap((desc) => {
      const said = new Set(moneyOf(desc).own.map(({ units }) => units));
      const units = desc.fields.filter(({ name, scalar }) => scalar !== undefined && /_(?:nanos|picos)$/.test(name));
      return units.filter((field) => !said.has(field)).map((field) => `${desc.name}.${field.name}`);
    });
    expect(alone.sort()).toEqual([...WITHOUT_MONEY].sort());
  });

  test("has no amount without whole units beside it, and none in a map or in what a client streams", () => {
    expect(messages.filter((desc) => moneyOf(desc).own.length > 0).length).toBeGreaterThan(15);
    const maps = messages.flatMap(({ fields }) => fields).filter(({ fieldKind }) => fieldKind === "map");
    expect(maps.filter(({ message }) => message !== undefined && holdsMoney(message))).toEqual([]);
    const services = [...registry().files].flatMap((file) => file.services).flatMap(({ methods }) => methods);
    const streamed = services.filter(
      ({ methodKind }) => methodKind.endsWith("di_streaming") || methodKind === "client_streaming",
    );
    expect(streamed.map(({ input }) => input).filter(holdsMoney)).toEqual([]);
  });
});

describe("every amount of 64 bits", () => {
  test("is written as a google.type.Money of the same worth, whose parts have one sign", () => {
    fc.assert(
      fc.property(INT64, (availableNanos) => {
        const answer = writeMoney(STATEMENT.output, {
          opening: undefined,
          entries: [{ entry: undefined, balance: { availableNanos, heldNanos: 0n } }],
          closing: { availableNanos, heldNanos: 1n },
          nextPageToken: "",
        });
        const { entries, closing } = answer as unknown as GetStatementResponse;
        expect(closing?.available).toEqual(entries[0]?.balance?.available);
        const { currencyCode, units = 0n, nanos = 0 } = closing?.available ?? {};
        expect(currencyCode).toBe("USD");
        expect(units * NANOS_PER_USD + BigInt(nanos)).toBe(availableNanos);
        expect(Math.sign(Number(units)) * Math.sign(nanos)).toBeGreaterThanOrEqual(0);
        expect(Math.abs(nanos)).toBeLessThan(1e9);
      }),
    );
  });

  test("is shown in JSON with every nano of it", () => {
    fc.assert(
      fc.property(INT64, (availableNanos) => {
        const closing: BalancePoint = { availableNanos, heldNanos: 0n };
        const answer = { entries: [], closing, nextPageToken: "" };
        const json = answerBytesToJson(STATEMENT, GetStatementResponse.encode(answer).finish());
        const { available } = (json as { closing: { available: string } }).closing;
        const [, sign, whole, decimals] = /^(-?)(\d+)\.(\d{2,9}) USD$/.exec(available) ?? [];
        expect(BigInt(`${sign}${whole}${decimals?.padEnd(9, "0")}`)).toBe(availableNanos);
      }),
    );
  });

  test("of a price is shown per million tokens and per thousand requests, with every pico of it", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), (picos) => {
        const { model } = GetModelResponse.decode(new Uint8Array());
        const price = { inputPicos: picos, requestPicos: picos, tiers: [{ prices: { outputPicos: picos } }] };
        const written = writeMoney(MODEL.output, { model: { ...model, price } });
        const shown = (written as unknown as GetModelResponse).model?.price;
        const worth = ({ units = 0n, nanos = 0 } = {}): bigint => units * NANOS_PER_USD + BigInt(nanos);
        expect(worth(shown?.inputPerMillion)).toBe((picos * 1_000_000n) / 1_000n);
        expect(worth(shown?.requestPerThousand)).toBe((picos * 1_000n) / 1_000n);
        expect(worth(shown?.tiers[0]?.prices?.outputPerMillion)).toBe((picos * 1_000_000n) / 1_000n);
      }),
    );
  });
});

describe("every amount that may be asked for", () => {
  const asked = (json: object): CreditAccountRequest => {
    const input = { path: { id: "acme" }, query: {}, body: Buffer.from(JSON.stringify(json)) };
    return CreditAccountRequest.decode(requestBytes(CREDIT, input));
  };

  test("is read as it is shown, with or without its currency, alone or beside its nanos", () => {
    fc.assert(
      fc.property(AMOUNT, (nanos) => {
        const amount = formatMoney(nanos);
        const forms = [{ amount }, { amount: amount.replace(" USD", "") }, { amount, amount_nanos: String(nanos) }];
        for (const form of forms) expect(asked(form).amountNanos).toBe(nanos);
      }),
    );
  });

  test("is read from a google.type.Money, alone or beside its nanos", () => {
    fc.assert(
      fc.property(AMOUNT, (nanos) => {
        const written = writeMoney(CREDIT.input, { id: "acme", amountNanos: nanos });
        for (const amountNanos of [0n, nanos]) {
          const read = readMoney(CREDIT.input, { ...written, amountNanos });
          expect(read).toEqual({ id: "acme", amountNanos: nanos, amount: undefined });
        }
      }),
    );
  });

  test("leaves the caller's own message as it was", () => {
    const message = { id: "acme", amountNanos: 0n, amount: { currencyCode: "USD", units: 1n, nanos: 0 } };
    const before = structuredClone(message);
    expect(readMoney(CREDIT.input, message)["amountNanos"]).toBe(NANOS_PER_USD);
    expect(message).toEqual(before);
  });
});
