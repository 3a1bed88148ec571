/** What a request says of its end user, its tags and its client is read from headers and body, and bounded. */
import { describe, expect, test } from "vitest";
import { type AskedBody, attributesOf } from "../../src/records/attributes.js";
import { CLAUDE_CODE_IDS, PEOPLE } from "./user-ids.js";
import { JsonCursor } from "../../src/wire/json/cursor.js";
import { readMembers } from "../../src/wire/json/splice.js";

const NONE = {
  endUser: "",
  tags: [],
  session: "",
  sessionSource: "",
  promptCacheKey: "",
  client: "",
  clientRequestId: "",
};
const BODY_S1 = { session: "s1", sessionSource: "session_id" };
/** Of an id that names a session and no person. */
const OF_SESSION = (session: string): object => ({
  ...NONE,
  session,
  sessionSource: session === "" ? "" : "metadata",
});

function bodyOf(json: string): AskedBody {
  const bytes = Buffer.from(json);
  return { bytes, members: readMembers(new JsonCursor(bytes)) };
}

describe("attributes", () => {
  test.each([
    { name: "of nothing", headers: {}, body: "{}", want: {} },
    { name: "the user of OpenAI", headers: {}, body: '{"user":"ann"}', want: { endUser: "ann" } },
    {
      name: "the newer identifier before the user, in any order",
      headers: {},
      body: '{"safety_identifier":"new","user":"old"}',
      want: { endUser: "new" },
    },
    {
      name: "the user and the session of Anthropic",
      headers: {},
      body: '{"metadata":{"user_id":"ann","session_id":"s1"}}',
      want: { endUser: "ann", session: "s1", sessionSource: "metadata" },
    },
    {
      name: "metadata as tags",
      headers: {},
      body: '{"metadata":{"team":"search","n":3,"deep":{"x":1}}}',
      want: { tags: ["team=search", "n=3"] },
    },
    {
      name: "tags of the header first, without repeats",
      headers: { "x-tollgate-tags": "team=search, env=prod,,team=search" },
      body: '{"metadata":{"env":"prod","a":"b"}}',
      want: { tags: ["team=search", "env=prod", "a=b"] },
    },
    {
      name: "a header's user before the body's",
      headers: { "x-tollgate-user": "head" },
      body: '{"user":"body"}',
      want: { endUser: "head" },
    },
    {
      name: "the client",
      headers: {
        "x-tollgate-client": "OpenAI/Python 1.2",
        "x-client-request-id": "c1",
        "x-tollgate-conversation": "s",
      },
      body: "{}",
      want: { client: "OpenAI/Python 1.2", clientRequestId: "c1", session: "s", sessionSource: "header" },
    },
    {
      name: "a header's user before the newer identifier",
      headers: { "x-tollgate-user": "head" },
      body: '{"safety_identifier":"new","metadata":{"user_id":"ann"}}',
      want: { endUser: "head" },
    },
    { name: "the session of OpenRouter", headers: {}, body: '{"session_id":"s1"}', want: BODY_S1 },
    {
      name: "sessions by their places, the header first",
      headers: { "x-tollgate-conversation": "head" },
      body: '{"metadata":{"session_id":"s2"},"session_id":"s1"}',
      want: { session: "head", sessionSource: "header" },
    },
    {
      name: "a session of the body before that of its metadata, in any order",
      headers: {},
      body: '{"metadata":{"session_id":"s2"},"session_id":"s1"}',
      want: BODY_S1,
    },
    {
      name: "the key of a prompt cache, which is no session",
      headers: {},
      body: '{"prompt_cache_key":"k"}',
      want: { promptCacheKey: "k" },
    },
    {
      name: "no session that is none",
      headers: { "x-tollgate-conversation": "a\u0000b" },
      body: `{"session_id":["s1"],"metadata":{"session_id":"${"s".repeat(257)}"}}`,
      want: {},
    },
    { name: "no text that is none", headers: {}, body: '{"user":7,"metadata":[1]}', want: {} },
    { name: "no line ends", headers: {}, body: '{"user":"a\\nb\\u0000c"}', want: { endUser: "a b c" } },
  ])("are $name", ({ headers, body, want }) => {
    expect(attributesOf(headers, bodyOf(body))).toEqual({ ...NONE, ...want });
  });

  const MEMBERS: readonly ((id: string) => object)[] = [
    (id) => ({ metadata: { user_id: id } }),
    (id) => ({ user: id }),
    (id) => ({ safety_identifier: id }),
  ];
  test.each(CLAUDE_CODE_IDS)("name a session and no person by $id", ({ id, session }) => {
    for (const member of MEMBERS)
      expect(attributesOf({}, bodyOf(JSON.stringify(member(id))))).toEqual(OF_SESSION(session));
    expect(attributesOf({ "x-tollgate-user": id }, undefined)).toEqual(OF_SESSION(session));
    const named = attributesOf({ "x-tollgate-user": "ann" }, bodyOf(JSON.stringify({ metadata: { user_id: id } })));
    expect(named).toEqual({ ...OF_SESSION(session), endUser: "ann" });
    const both = JSON.stringify({ session_id: "own", metadata: { user_id: id } });
    expect(attributesOf({}, bodyOf(both))).toEqual({ ...NONE, session: "own", sessionSource: "session_id" });
  });

  test.each(PEOPLE)("name the person %s", (id) => {
    expect(attributesOf({}, bodyOf(JSON.stringify({ metadata: { user_id: id } })))).toEqual({ ...NONE, endUser: id });
  });

  test("are bounded in number and length", () => {
    const metadata = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`k${at}`, "v".repeat(300)]));
    const found = attributesOf({}, bodyOf(JSON.stringify({ user: "u".repeat(1_000), metadata })));
    expect(found.endUser).toHaveLength(256);
    expect(found.tags).toHaveLength(16);
    expect(Math.max(...found.tags.map((tag) => tag.length))).toBe(128);
  });

  test("of a member that is huge are not read", () => {
    expect(attributesOf({}, bodyOf(JSON.stringify({ user: "u".repeat(20_000) })))).toEqual(NONE);
  });
});
