/** What requests say is kept where their account asks for it: an operator reads it, and the audit log tells who did. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { commandsOfOneProcess } from "../../support/commands.js";
import { writtenBy } from "../../support/database-behind.js";
import { script } from "../../support/fake-upstream.js";
import { OPERATOR_KEY } from "../../support/gateway-process.js";
import { testStore } from "../../support/test-store.js";
import { startWorld, type World } from "../../support/world.js";

const tollgate = commandsOfOneProcess();
type Json = Readonly<Record<string, unknown>>;

const CREDENTIAL = "sk-proj-0123456789abcdefghijklmnop";
let world: World;
let other = "";
const redactions = ["###-##-####"];

beforeAll(async () => {
  world = await startWorld();
  const { management } = world;
  await management.account("other", 1_000_000_000n);
  other = (await management.makeKey("other")).secret;
  const asked = { settings: { content: { kept: true, redactions } } };
  const { status, body } = await management.call("PATCH", "/accounts/acme", asked);
  expect([status, body["account"]]).toMatchObject([200, { settings: { content: { kept: true, redactions } } }]);
});
afterAll(() => world.close());

async function ask(
  secret: string,
  said: string,
  more: Json = {},
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await postChat(world.front, secret, chat(said, more), { headers });
  await readAll(response);
  return response.headers.get("x-request-id")!;
}

const read = (id: string): Promise<{ status: number; body: Json }> =>
  world.management.call("POST", `/requests/${id}:readContent`, {});

async function kept(id: string): Promise<Json> {
  await expect.poll(async () => (await read(id)).status).toBe(200);
  return (await read(id)).body["content"] as Json;
}

test.each([{ stream: false }, { stream: true }])("is read without secrets, stream: $stream", async ({ stream }) => {
  const text = `my key is ${CREDENTIAL} and my number 078-05-1120, yes`;
  const said = script({ text });
  const found = await kept(await ask(world.secret, said, { stream, user: "ann" }));
  expect(found).toMatchObject({ account_id: "acme", format: "openai-chat", request_cut: false, answer_cut: false });
  const clean = "my key is [redacted] and my number [redacted], yes";
  expect(found["request"]).toContain(clean);
  expect(found["answer"]).toContain(clean);
  expect(JSON.stringify(found)).not.toContain("078-05");
});

test("is kept of a request that failed, and of one in another wire", async () => {
  const failed = await kept(await ask(world.secret, script({ status: 400 })));
  expect(failed).toMatchObject({ answer: "", request: expect.stringContaining("status") });
  const response = await fetch(`${world.front.url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": world.secret, "anthropic-version": "2023-06-01", "content-type": "application/json" },
    body: JSON.stringify({ ...chat("hello there"), max_tokens: 20, stream: true }),
  });
  await response.text();
  expect(await kept(response.headers.get("x-request-id")!)).toMatchObject({
    format: "anthropic",
    request: expect.stringContaining("hello there"),
    answer: expect.stringContaining("Hello from fake-1"),
  });
});

test("nothing is kept of other accounts, nor where the client asks so, and then nobody is named", async () => {
  const headers = { "x-tollgate-user": "eve", "x-tollgate-tags": "a=b", "x-client-request-id": "c-9" };
  const foreign = await ask(other, "hello", {}, headers);
  const silent = await ask(world.secret, "hello", { user: "eve" }, { ...headers, "x-tollgate-log": "none" });
  const later = await ask(world.secret, "hello");
  await kept(later);
  for (const id of [foreign, silent]) expect(await read(id)).toMatchObject({ status: 404 });
  const { body } = await world.management.call("GET", `/requests/${silent}`);
  const { detail } = body["request"] as { detail: Json };
  const personal = ["end_user", "session", "client_request_id", "address"];
  expect(personal.map((name) => detail[name] ?? "")).toEqual(["", "", "", ""]);
  expect(detail["tags"] ?? []).toEqual([]);
});

test("whoever reads it stands in the audit log, and an account's own key may not", async () => {
  const id = await ask(world.secret, "a secret wish");
  await kept(id);
  const refused = await fetch(`${world.front.url}/api/v1/requests/${id}:readContent`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.secret}`, "content-type": "application/json" },
    body: "{}",
  });
  expect(refused.status).toBe(403);
  const query = `/audit_events?resource=requests/${id}&method=ReadRequestContent`;
  const { body } = await world.management.call("GET", query);
  const events = body["audit_events"] as readonly Json[];
  expect(events.length).toBeGreaterThan(0);
  expect(events[0]).toMatchObject({ resource: `requests/${id}`, account_id: "acme", actor: { address: "127.0.0.1" } });
  expect(JSON.stringify(events)).not.toContain("wish");
});

test("a person's content is erased with the records by a command, and a command shows what is kept", async () => {
  const env = { TOLLGATE_GATEWAY: world.core.grpc, TOLLGATE_KEY: OPERATOR_KEY };
  const ids = [
    await ask(world.secret, "one of hers", { user: "mia" }),
    await ask(world.secret, "his", { user: "max" }),
  ];
  for (const id of ids) await kept(id);
  const shown = await tollgate(["requests", "show", ids[0]!, "--content"], env);
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining("one of hers") });
  const erased = await tollgate(["requests", "erase", "mia"], env);
  expect(erased).toMatchObject({ code: 0, stdout: expect.stringContaining("The content of 1 was forgotten") });
  expect(await read(ids[0]!)).toMatchObject({ status: 404 });
  expect(await read(ids[1]!)).toMatchObject({ status: 200 });
  expect((await tollgate(["requests", "show", ids[0]!, "--content"], env)).code).not.toBe(0);
});

test("it stands in no log and in no file as it is", async () => {
  const word = "unmistakablewordofthistest";
  await kept(await ask(world.secret, word, { stream: true }));
  expect(world.core.log.filter((line) => line.includes(word))).toEqual([]);
  const written = await writtenBy(world.core.dataDirectory);
  const kinds = testStore === "sqlite" ? ["content.db", "records.db"] : ["the table request_content"];
  for (const place of kinds) expect(written.get(place)?.length).toBeGreaterThan(0);
  for (const [place, bytes] of written) expect(bytes.includes(word), place).toBe(false);
});

test.each([
  { name: "too many rules", content: { redactions: Array.from({ length: 51 }, (_, at) => `rule ${at}`) } },
  { name: "a rule that is too short", content: { redactions: ["ab"] } },
  { name: "a rule of words side by side", content: { redactions: ["a**b"] } },
  { name: "a rule of three words", content: { redactions: ["*a*b*"] } },
  { name: "bodies above the bound", content: { body_bytes_max: 2_000_000 } },
])("$name are refused", async ({ content }) => {
  const asked = { settings: { content: { kept: true, ...content } } };
  const { status, body } = await world.management.call("PATCH", "/accounts/other", asked);
  expect([status, JSON.stringify(body)]).toMatchObject([400, expect.stringContaining("settings.content.")]);
});
