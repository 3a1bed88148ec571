/**
 * A random search of labels and demands: whatever fails, and by whatever name a model is asked, no request goes to a
 * target that breaks a demand of its account, its key or itself.
 */
import { expect, test } from "vitest";
import { Cancellation } from "../../src/base/cancellation.js";
import { demandsOf, type Labels, type WrittenDemands } from "../../src/base/demands.js";
import { GatewayError } from "../../src/base/errors.js";
import { generate } from "../../src/gateway/generate.js";
import { callerOf } from "../../src/keys/key-caller.js";
import { KeySettings } from "../../src/api/index.js";
import { DEFAULT_RETRIES } from "../../src/base/retries.js";
import { RequestFeed } from "../../src/records/request-record.js";
import type { ServedModel, Target } from "../../src/routing/model.js";
import { Wildcard } from "../../src/routing/wildcard.js";
import type { Exchange, Upstream, UpstreamHandler } from "../../src/upstream/upstream.js";
import { settingsOf } from "../keys/key-world.js";
import { type Random, randomOf } from "../support/random.js";
import { modelOf, targetOf } from "../routing/served.js";
import { askedOf, openPipeline, PRICE, Told } from "./pipeline.js";

const SEARCHES = 10_000;
/** Before all targets are new ones, which no failure ejects. */
const OF_ONE_TABLE = 40;
/** A second attempt at one target waits for nothing. */
const AT_ONCE = { ...DEFAULT_RETRIES, backoffMs: 0, backoffMaxMs: 0 };
const NO_DEMANDS: WrittenDemands = { region: [], retention: "", trains: "" };
const USAGE = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
const ANSWER = { model: "m", choices: [{ index: 0, message: { content: "Hi" }, finish_reason: "stop" }], usage: USAGE };

const feed = new RequestFeed({ nowMs: Date.now, onError: () => undefined });

/** Answers or fails at once, by chance, and tells who was asked. */
class ChanceUpstream implements Upstream {
  constructor(
    private readonly random: Random,
    private readonly onAsked: () => void,
  ) {}

  send(_request: unknown, handler: UpstreamHandler): Exchange {
    this.onAsked();
    const chance = this.random();
    const status = chance < 0.5 ? 200 : chance < 0.8 ? 503 : chance < 0.9 ? 429 : 400;
    const tooLong = { error: { message: "too long", code: "context_length_exceeded" } };
    queueMicrotask(() => {
      handler.onHead(status, { "content-type": "application/json" });
      handler.onData(Buffer.from(JSON.stringify(status === 200 ? ANSWER : tooLong)));
      handler.onEnd();
    });
    return { pause: () => undefined, resume: () => undefined, abort: () => undefined };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** The rules once more, as a reader of the documentation knows them. */
function breaks({ region, retentionDays, trains }: Labels, demanded: readonly WrittenDemands[]): boolean {
  return demanded.some(({ region: regions, retention, trains: mayTrain }) => {
    const daysMax = retention === "none" ? 0 : Number(retention);
    return (
      (regions.length > 0 && (region === undefined || !regions.includes(region))) ||
      (retention !== "" && (retentionDays === undefined || retentionDays > daysMax)) ||
      (mayTrain === "no" && trains !== false)
    );
  });
}

test("no request goes to a target that breaks a demand", { timeout: 200_000 }, async () => {
  const pipeline = await openPipeline({ creditNanos: 1_000_000_000_000n });
  const random = randomOf(20_261_130);
  const one = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value;
  const someDemands = (): WrittenDemands => ({
    region: one([[], [], ["eu"], ["us", "eu"]]),
    retention: one(["", "", "none", "30"]),
    trains: one(["", "no"]),
  });
  let demanded: readonly WrittenDemands[] = [];
  let asked = 0;
  const broken: Labels[] = [];
  const target = (id: string): Target => {
    const labels: Labels = {
      region: one([undefined, "eu", "eu", "us"]),
      retentionDays: one([undefined, 0, 0, 30, 90]),
      trains: one([undefined, false, false, true]),
    };
    const onAsked = (): void => {
      asked += 1;
      if (breaks(labels, demanded)) broken.push(labels);
    };
    const made = targetOf(new ChanceUpstream(random, onAsked), id, { priority: one([1, 1, 2]) });
    return { ...made, labels, retries: AT_ONCE };
  };
  const served = (id: string, more: Partial<ServedModel> = {}): ServedModel => {
    const targets = ["a", "b", "c"].map((name) => target(`${id}-${name}`)).sort((a, b) => a.priority - b.priority);
    const sold = {
      price: PRICE,
      outputTokensMax: 1_000,
      hasAffinity: true,
      balance: one(["weight", "load", "latency", "cost"]),
    };
    return { ...modelOf(targets), ...sold, id, ...more } as ServedModel;
  };
  const replace = (): void => {
    const models = new Map(
      [served("m", { fallbacks: ["spare"], onContext: "large" }), served("spare"), served("large")].map((model) => [
        model.id,
        model,
      ]),
    );
    const alias = { ...(models.get("m") as ServedModel), alias: "also" };
    const settings = {
      id: "any/*",
      targets: [],
      kind: undefined,
      contextTokens: undefined,
      outputTokensMax: undefined,
      price: undefined,
      facts: {},
    };
    const wildcard = new Wildcard(settings, { make: ({ id }) => served(id), isListOnly: false });
    pipeline.steps.routing.replace({
      models,
      upstreams: new Map(),
      aliases: new Map([["also", alias]]),
      wildcards: [wildcard],
    });
  };
  const refusals = new Map<string, number>();
  for (let search = 0; search < SEARCHES; search += 1) {
    if (search % OF_ONE_TABLE === 0) replace();
    const [account, maker, key, header] = [
      someDemands(),
      someDemands(),
      someDemands(),
      one([NO_DEMANDS, someDemands()]),
    ];
    const zdr = one([undefined, true, false]);
    const collection = one([undefined, "deny", "allow"]);
    const body = { retention: zdr === true ? "none" : "", trains: collection === "deny" ? "no" : "", region: [] };
    demanded = [account, maker, key, header, body];
    const settings = (demands: WrittenDemands): Uint8Array =>
      KeySettings.encode(settingsOf({ demands: { ...demands, region: [...demands.region] } })).finish();
    const row = {
      accountId: "acme",
      digest: new Uint8Array(32),
      hint: "",
      createTimeMs: 1,
      previousDigest: null,
      previousUntilMs: null,
      revokeTimeMs: null,
      revision: 1,
    };
    const state = {
      accountLimits: undefined,
      content: undefined,
      freezeReason: undefined,
      accountDemands: demandsOf(account),
    };
    const made = callerOf({ ...row, id: "key_m", makerId: null, settings: settings(maker) }, undefined, state);
    const caller = callerOf({ ...row, id: "key_1", makerId: "key_m", settings: settings(key) }, made, state);
    const metadata = { "x-tollgate-conversation": one(["s1", "s2", "s3"]), ...headerOf(header) };
    const record = feed.begin(`r${search}`, "/p", metadata);
    const call = { caller, requestId: `r${search}`, metadata, record, signal: new Cancellation() };
    const model = one(["m", "also", "any/thing", "any/other", "m:floor", "spare:nitro"]);
    const models = one([undefined, ["large", "any/thing"]]);
    const provider = {
      zdr,
      data_collection: collection,
      sort: one([undefined, "latency"]),
      order: one([undefined, ["m-b"]]),
    };
    const request = (): ReturnType<typeof askedOf> => askedOf({ model, models, provider, stream: false });
    await generate(request, call, new Told(), pipeline.steps).catch((error: unknown) => {
      const { reason } = GatewayError.from(error);
      refusals.set(reason, (refusals.get(reason) ?? 0) + 1);
    });
  }
  expect(broken).toEqual([]);
  // The search is one only where many requests found a target, and many found none.
  expect(asked).toBeGreaterThan(SEARCHES / 10);
  expect(refusals.get("ERROR_REASON_NO_COMPLIANT_TARGET")).toBeGreaterThan(SEARCHES / 10);
  expect(refusals.get("ERROR_REASON_INTERNAL")).toBeUndefined();
});

function headerOf({ region, retention, trains }: WrittenDemands): Record<string, string> {
  const parts = region.map((name) => `region=${name}`);
  if (retention !== "") parts.push(`retention=${retention}`);
  if (trains !== "") parts.push(`trains=${trains}`);
  return parts.length === 0 ? {} : { "x-tollgate-require": parts.join(", ") };
}
