/** Requests go only where their account, their key and they themselves allow, and to targets that can take them. */
import { Metadata } from "@grpc/grpc-js";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readAll } from "../../support/chat-call.js";
import { clientOf, type DynamicUnary } from "../../support/dynamic-client.js";
import { type FakeUpstream, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { says } from "../../support/world.js";

type Json = Readonly<Record<string, unknown>>;

const PRICED = "output_tokens_max: 100, context_tokens: 10000, price: free";

let loose: FakeUpstream;
let strict: FakeUpstream;
let gateway: GatewayProcess;
let management: Management;
let secret: string;

beforeAll(async () => {
  [loose, strict] = await Promise.all([startFakeUpstream(), startFakeUpstream()]);
  gateway = await startGateway({
    settings: `
upstreams:
  loose: { family: openai-compatible, base_url: "${loose.url}", labels: { region: us, retention: 30, trains: yes } }
  strict: { family: openai-compatible, base_url: "${strict.url}", labels: { region: eu, retention: 7, trains: no } }
models:
  both: { targets: [{ upstream: loose }, { upstream: strict, priority: 2, labels: { retention: none } }], ${PRICED} }
  only-loose: { targets: [{ upstream: loose }], fallbacks: [both], ${PRICED} }
  falls: { targets: [{ upstream: strict }], fallbacks: [only-loose], ${PRICED} }
  any-*: { targets: [{ upstream: loose }, { upstream: strict, priority: 2 }], price_from: ceiling, ${PRICED} }
  canary: { targets: [{ upstream: loose }, { upstream: strict, priority: 1, weight: 1000000,
    match: { header: "x-tollgate-match-canary=1" } }], affinity: off, ${PRICED} }
  roomy: { targets: [{ upstream: loose, facts: { context_tokens: 100 } },
    { upstream: strict, priority: 2, facts: { context_tokens: 1000 } }], on_context: both, ${PRICED} }
  able: { targets: [{ upstream: loose, facts: { images: false } },
    { upstream: strict, priority: 2, facts: { images: true } }], ${PRICED} }
  blind: { targets: [{ upstream: loose, facts: { images: false } },
    { upstream: strict, facts: { images: false } }], ${PRICED} }
aliases:
  also: { model: both }
accounts:
  careful: { credit: "10", demands: { region: [eu], trains: no } }
keys:
  - { account: careful, secret: "sk-of-the-careful-account-1", demands: { retention: none } }
`,
  });
  management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await management.verify();
  await gateway.stop();
  await Promise.all([loose.close(), strict.close()]);
});
beforeEach(async () => {
  for (const id of ["loose", "strict"]) await management.call("POST", `/upstreams/${id}:reset`, {});
  [loose.override, strict.override] = [undefined, undefined];
});

interface Answered {
  readonly status: number;
  readonly upstream: string;
  readonly text: string;
}

async function ask(
  model: string,
  more: Json = {},
  headers: Record<string, string> = {},
  key = secret,
): Promise<Answered> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, messages: says("Hello"), ...more }),
  });
  return {
    status: response.status,
    upstream: response.headers.get("x-tollgate-upstream") ?? "",
    text: await readAll(response),
  };
}

const requires = (demands: string): Record<string, string> => ({ "x-tollgate-require": demands });

test.each<{ name: string; model?: string; more?: Json; headers?: Record<string, string>; want: string }>([
  { name: "nothing", want: "loose" },
  { name: "a region", headers: requires("region=eu"), want: "strict" },
  { name: "one of two regions", headers: requires("region=us, region=eu"), want: "loose" },
  { name: "no retention, which the label of the target says", headers: requires("retention=none"), want: "strict" },
  { name: "at most 30 days", headers: requires("retention=30"), want: "loose" },
  { name: "zero data retention", more: { provider: { zdr: true } }, want: "strict" },
  { name: "no collection", more: { provider: { data_collection: "deny" } }, want: "strict" },
  { name: "what allows", more: { provider: { zdr: false, data_collection: "allow" } }, want: "loose" },
  { name: "no training by an alias", model: "also", headers: requires("trains=no"), want: "strict" },
  { name: "no training by a wildcard", model: "any-thing", headers: requires("trains=no"), want: "strict" },
])("a request that demands $name goes where it may", async ({ model = "both", more, headers, want }) => {
  const answered = await ask(model, more, headers);
  expect(answered, answered.text).toMatchObject({ status: 200, upstream: want });
});

test("no compliant target is a 403, also for an estimate and a count, and nothing is sent", async () => {
  const before = loose.requests.length;
  const refused = await ask("only-loose", {}, requires("region=eu, trains=no"));
  expect(refused.status).toBe(403);
  expect(JSON.parse(refused.text)).toMatchObject({ error: { code: "no_compliant_target" } });
  expect(refused.text).toContain("region=eu, trains=no");
  for (const path of ["/api/v1/estimate", "/v1/messages/count_tokens"]) {
    const response = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", ...requires("region=eu") },
      body: JSON.stringify({ model: "only-loose", messages: says("Hello"), max_tokens: 10 }),
    });
    expect(response.status, path).toBe(403);
  }
  expect(loose.requests.length).toBe(before);
});

test("a fallback that breaks a demand is passed over", async () => {
  strict.override = { status: 503 };
  expect((await ask("falls")).upstream).toBe("loose");
  expect((await ask("falls", {}, requires("region=eu"))).status).toBe(503);
});

test.each(["region=EU", "retention=0", "trains=yes", "country=fr", "region", ""])(
  "a header that cannot be read is refused: '%s'",
  async (header) => {
    const { status, text } = await ask("both", {}, requires(header));
    expect(status, text).toBe(400);
    expect(text).toContain("x-tollgate-require");
  },
);

test("demands of an account and a key in the file hold together, and a request cannot loosen them", async () => {
  const careful = "sk-of-the-careful-account-1";
  expect(await ask("both", { provider: { data_collection: "allow" } }, {}, careful)).toMatchObject({
    upstream: "strict",
  });
  // Its retention is seven days there: the key's demand alone excludes it.
  expect((await ask("falls", {}, {}, careful)).status).toBe(403);
  expect((await ask("both", {}, requires("region=us"), careful)).status).toBe(403);
});

test("an operator sets demands over the API, and a key made by a key keeps them", async () => {
  await management.account("later", 0n);
  const { secret: own, id } = await management.makeKey("later", { scopes: ["chat", "keys"] });
  expect((await ask("both", {}, {}, own)).upstream).toBe("loose");
  const set = { settings: { demands: { region: ["eu"] } }, update_mask: "demands" };
  const changed = await management.call("PATCH", "/accounts/later", set);
  expect(changed, JSON.stringify(changed.body)).toMatchObject({ status: 200 });
  expect(JSON.stringify(changed.body)).toContain('"region":["eu"]');
  expect((await ask("both", {}, {}, own)).upstream).toBe("strict");
  await management.call("PATCH", "/accounts/later", { settings: {}, update_mask: "demands" });
  expect((await ask("both", {}, {}, own)).upstream).toBe("loose");
  const ofKey = await management.call("PATCH", `/keys/${id}`, {
    settings: { demands: { trains: "no" } },
    update_mask: "demands",
  });
  expect(ofKey.status, JSON.stringify(ofKey.body)).toBe(200);
  const child = await new Management(gateway, own).makeKey("later", { scopes: ["chat"] });
  expect((await ask("both", {}, {}, child.secret)).upstream).toBe("strict");
  const wrong = { settings: { demands: { retention: "soon" } }, update_mask: "demands" };
  expect((await management.call("PATCH", "/accounts/later", wrong)).status).toBe(400);
});

test("a canary takes only requests that match", async () => {
  for (let at = 0; at < 5; at += 1) expect((await ask("canary")).upstream).toBe("loose");
  expect((await ask("canary", {}, { "x-tollgate-match-canary": "1" })).upstream).toBe("strict");
  expect((await ask("canary", {}, { "x-tollgate-match-canary": "2" })).upstream).toBe("loose");
});

test("a target whose context is too small is skipped, and where all are, another model answers", async () => {
  const text = (words: number): Json => ({ messages: says("word ".repeat(words)), max_tokens: 10 });
  expect((await ask("roomy")).upstream).toBe("loose");
  expect((await ask("roomy", text(500))).upstream).toBe("strict");
  const longer = await ask("roomy", text(3_000));
  expect(longer, longer.text).toMatchObject({ status: 200, upstream: "loose" });
  expect(longer.text).toContain('"model":"both"');
});

test("a picture goes to who sees it, and where none does the refusal names it", async () => {
  const picture = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  const messages = [{ role: "user", content: [{ type: "text", text: "What is it?" }, picture] }];
  expect(await ask("able", { messages })).toMatchObject({ status: 200, upstream: "strict" });
  const refused = await ask("blind", { messages });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain("it sees no pictures");
});

test("the typed form of gRPC passes the same filter", async () => {
  const client = clientOf("tollgate.v1.InferenceService", gateway.grpc);
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${secret}`);
  metadata.set("x-tollgate-require", "region=eu");
  const prompt = { messages: [{ role: "ROLE_USER", parts: [{ text: { text: "Hello" } }] }] };
  const generate: DynamicUnary = Reflect.get(client, "Generate");
  const before = strict.requests.length;
  await new Promise<void>((resolve, reject) =>
    generate.call(client, { generation: { model: "both", prompt } }, metadata, {}, (error) =>
      error === null ? resolve() : reject(error),
    ),
  );
  client.close();
  expect(strict.requests.length).toBe(before + 1);
});
