/** Every request leaves a record, refused ones too, which is found by its filters, and whose money is the ledger's. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { OPERATOR_KEY } from "../../support/gateway-process.js";
import { startWorld, type World } from "../../support/world.js";

type Json = Readonly<Record<string, unknown>>;

let world: World;
const keys: Record<string, string> = {};

beforeAll(async () => {
  world = await startWorld();
  const { management } = world;
  await management.account("other", 1_000_000_000n);
  keys["other"] = (await management.makeKey("other")).secret;
  await readAll(await postChat(world.front, world.secret, chat("x")));
});
afterAll(() => world.close());

async function list(query: Readonly<Record<string, string>>): Promise<readonly Json[]> {
  const { status, body } = await world.management.call("GET", `/requests?${new URLSearchParams(query)}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as { requests: Json[] }).requests;
}

async function usage(query: string): Promise<readonly Json[]> {
  const { status, body } = await world.management.call("GET", `/usage:query?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as { sums: Json[] }).sums;
}

test("a refused request tells its client's own id", async () => {
  const headers = { "x-client-request-id": "c-1" };
  const response = await postChat(world.front, world.secret, { model: "fake-1" }, { headers });
  await response.text();
  const [found] = await list({ reason: "PARAMETER_MISSING", query: response.headers.get("x-request-id")! });
  expect(found).toMatchObject({ detail: { http_status: 400, client_request_id: "c-1" } });
});

test("an answered request tells whom it was for and how it went, and its account alone sees it", async () => {
  const asked = { user: "ann", metadata: { team: "search" }, stream: true };
  const headers = { "x-tollgate-tags": "env=prod", "x-tollgate-conversation": "s-1", "user-agent": "a-client/1.2" };
  const response = await fetch(`${world.front.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${world.secret}`, ...headers },
    body: JSON.stringify(chat("hello", asked)),
  });
  await response.text();
  const id = response.headers.get("x-request-id")!;
  const [found] = await list({ end_user: "ann", tag: "team=search", model: "fake-1", upstream: "fake" });
  expect(found).toMatchObject({
    id,
    state: "settled",
    detail: {
      end_user: "ann",
      tags: ["env=prod", "team=search"],
      session: "s-1",
      client: "a-client/1.2",
      streamed: true,
      format: "openai-chat",
      http_status: 200,
    },
  });
  const foreign = await fetch(`${world.front.url}/api/v1/requests?end_user=ann`, {
    headers: { authorization: `Bearer ${keys["other"]}` },
  });
  expect(await foreign.json()).toMatchObject({ requests: [] });
});

test.each([
  { name: "Claude Code", headers: { "x-claude-code-session-id": "flow-claude" }, session: "flow-claude" },
  { name: "Codex", headers: { "session-id": "flow-codex", "thread-id": "other" }, session: "flow-codex" },
  {
    name: "opencode",
    headers: { "x-session-affinity": "flow-opencode", "x-opencode-session": "other" },
    session: "flow-opencode",
  },
  { name: "a client of OpenRouter", headers: { "x-session-id": "flow-id", "session-id": "other" }, session: "flow-id" },
  { name: "OpenRouter", headers: {}, more: { session_id: "flow-openrouter" }, session: "flow-openrouter" },
  {
    name: "Claude Code behind a translator",
    headers: {},
    more: { user: JSON.stringify({ device_id: "5f0c", account_uuid: "", session_id: "flow-user" }) },
    session: "flow-user",
  },
])("a request of $name is found by its session, which is nobody's name", async ({ headers, more = {}, session }) => {
  const response = await postChat(world.front, world.secret, chat("hello", more), { headers });
  await readAll(response);
  const [found, ...others] = await list({ query: session });
  expect([found?.["id"], others]).toEqual([response.headers.get("x-request-id"), []]);
  expect(found).toMatchObject({ detail: { session, end_user: "" } });
});

test("pages of a list hold each request once, the newest first", async () => {
  const ids: string[] = [];
  for (let token = ""; ;) {
    const path = `/requests?page_size=3&start_time=2020-01-01T00:00:00Z&page_token=${token}`;
    const { body } = await world.management.call("GET", path);
    const { requests, next_page_token: next } = body as unknown as { requests: Json[]; next_page_token: string };
    ids.push(...requests.map(({ id }) => String(id)));
    if ((token = next) === "") break;
  }
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual((await list({ start_time: "2020-01-01T00:00:00Z" })).map(({ id }) => id));
});

const DIMENSIONS = "day hour quarter_hour minute account key model upstream user tag reason node".split(" ");

test("the sums of every grouping are what the ledger moved", async () => {
  const { body } = await world.management.call("GET", "/usage");
  const { total } = body as unknown as { total: Json };
  expect(Number(total["cost_nanos"])).toBeGreaterThan(0);
  const pairs: string[][] = [[]];
  for (const one of DIMENSIONS) {
    pairs.push([one]);
    for (const other of DIMENSIONS) if (one < other) pairs.push([one, other]);
  }
  const start = "start_time=2020-01-01T00:00:00Z";
  for (const pair of pairs) {
    const by = pair.map((name) => `&group_by=${name}`).join("");
    const sums = await usage(start + by);
    const cost = sums.reduce((sum, one) => sum + BigInt(String(one["cost_nanos"])), 0n);
    expect([pair, String(cost)]).toEqual([pair, total["cost_nanos"]]);
  }
});

test("sums come as CSV too, which no spreadsheet takes for formulas, and whole or not at all", async () => {
  const headers = { authorization: `Bearer ${OPERATOR_KEY}`, accept: "text/csv" };
  await readAll(await postChat(world.front, world.secret, chat("x", { user: '=cmd|"a",b' })));
  const ask = (query: string, more = headers): Promise<Response> =>
    fetch(`${world.front.url}/api/v1/usage:query?${query}`, { headers: more });
  const response = await ask("group_by=user&group_by=reason");
  expect(response.headers.get("content-type")).toContain("text/csv");
  const [head = "", ...lines] = (await response.text()).trimEnd().split("\r\n");
  expect(head).toMatch(/^user,reason,request_count,admitted_count,error_count,errors,input_tokens,.*,cost_usd,/);
  expect(lines.some((line) => line.startsWith(`"'=cmd|""a"",b",,1,1,0,,`))).toBe(true);
  expect(lines).toHaveLength((await usage("group_by=user&group_by=reason")).length);
  const named = await ask("group_by=model&format=csv", { ...headers, accept: "*/*" });
  expect(await named.text()).toMatch(/^model,request_count/);
  expect((await ask("group_by=colour")).status).toBe(400);
  expect((await ask("format=pdf")).status).toBe(400);
});

test("whoever watches is told of requests as they end, of its own account alone", async () => {
  const [own, foreign] = [watchOf(OPERATOR_KEY, "end_user=eve&state=settled"), watchOf(keys["other"]!, "")];
  await Promise.all([own.begun, foreign.begun]);
  await readAll(await postChat(world.front, world.secret, chat("x", { user: "eve" })));
  await readAll(await postChat(world.front, world.secret, chat("x", { user: "bob" })));
  await readAll(await postChat(world.front, keys["other"]!, chat("x", { user: "mine" })));
  await expect.poll(() => foreign.told).toHaveLength(1);
  await expect.poll(() => own.told).toHaveLength(1);
  expect(foreign.told[0]).toMatchObject({ account_id: "other", detail: { end_user: "mine" } });
  expect(own.told[0]).toMatchObject({
    state: "settled",
    model: "fake-1",
    upstream: "fake",
    detail: { end_user: "eve" },
  });
  const [listed] = await list({ query: String(own.told[0]!["id"]) });
  expect(own.told[0]!["cost"]).toBe(listed!["cost"]);
  own.leave();
  foreign.leave();
  const denied = await world.management.call("GET", "/requests:watch?state=held");
  expect(denied.status).toBe(400);
});

function watchOf(key: string, query: string): { told: Json[]; begun: Promise<unknown>; leave(): void } {
  const aborting = new AbortController();
  const told: Json[] = [];
  const headers = { authorization: `Bearer ${key}` };
  const asked = fetch(`${world.front.url}/api/v1/requests:watch?${query}`, { headers, signal: aborting.signal });
  const read = async (): Promise<void> => {
    let text = "";
    for await (const chunk of (await asked).body ?? []) {
      text += Buffer.from(chunk).toString("utf8");
      told.length = 0;
      for (const [, data = "{}"] of text.matchAll(/^data: (.*)\n\n/gm)) told.push(JSON.parse(data) as Json);
    }
  };
  read().catch(() => undefined);
  return { told, begun: asked, leave: () => aborting.abort() };
}

test("a person is erased from records, and what was paid stays", async () => {
  const before = await usage("group_by=model");
  const erased = await world.management.call("POST", "/usage:eraseEndUser", { end_user: "ann" });
  expect(erased.body).toMatchObject({ request_count: "1" });
  expect(await list({ end_user: "ann" })).toEqual([]);
  expect(await list({ tag: "team=search" })).toEqual([]);
  expect(await usage("group_by=model")).toEqual(before);
});
