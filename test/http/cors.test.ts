/** Pages of other origins use the client API alone, where the settings name them, and never with a session. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CONSOLE_HEADER } from "../../src/api/request-headers.js";
import { anthropic } from "../../src/formats/anthropic.js";
import { gemini } from "../../src/formats/gemini.js";
import { openai } from "../../src/formats/openai.js";
import { openaiResponses } from "../../src/formats/openai-responses.js";
import { startServer, type TestServer } from "../support/http-server.js";

const FORMATS = [openai, openaiResponses, anthropic, gemini];
const [APP, DEV] = ["https://app.example.com", "http://localhost:5173"];
/** Every address of clients, with what may be sent there. */
const SHARED = [
  // Under models a path names one as well, whatever its end.
  ...FORMATS.flatMap(({ routes }) => routes.map(({ path }) => pathOf(path))).map((path) => ({
    path,
    methods: path.includes("/models/") ? ["GET", "POST"] : ["POST"],
  })),
  { path: "/v1/models", methods: ["GET"] },
  { path: "/v1beta/models", methods: ["GET"] },
  { path: "/v1/models/a/b", methods: ["GET"] },
  { path: "/v1/streams/req_1", methods: ["DELETE", "GET"] },
];
const UNSHARED = [
  "/",
  "/livez",
  "/openapi.json",
  "/console",
  "/console/",
  "/api/v1/sessions",
  "/api/v1/session",
  "/api/v1/requests",
  "/api/v1/accounts/a/playground/chat/completions",
  "/api/v1/estimate",
  "/v1/unknown",
];
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** A path of the route, with something in the place of its parameters. */
function pathOf(route: string): string {
  return route
    .replaceAll("::", "\0")
    .replaceAll(/:\w+(?:\([^/]*?\)\+?\)?)?/g, "m")
    .replaceAll("\0", ":")
    .replaceAll("*", "m");
}

let [listed, open, off]: (TestServer | undefined)[] = [];
beforeAll(async () => {
  listed = await startServer({ formats: FORMATS, corsOrigins: [APP, DEV] });
  open = await startServer({ formats: FORMATS, corsOrigins: ["*"] });
  off = await startServer({ formats: FORMATS });
});
afterAll(() => Promise.all([listed, open, off].map((server) => server?.close())));

function ask(
  server: TestServer | undefined,
  path: string,
  origin: string,
  asked: string,
  names = "",
): Promise<Response> {
  const headers = { origin, "access-control-request-method": asked };
  const wanted = names === "" ? {} : { "access-control-request-headers": names };
  return fetch(`${server?.url}${path}`, { method: "OPTIONS", headers: { ...headers, ...wanted } });
}

function sharing(response: Response): string[] {
  return [...response.headers.keys()].filter((name) => name.startsWith("access-control-"));
}

describe.each(SHARED)("$path", ({ path, methods }) => {
  test("may be asked by a page that the settings name", async () => {
    for (const method of METHODS) {
      const response = await ask(listed, path, APP, method, "authorization,x-stainless-lang, anthropic-version");
      await response.arrayBuffer();
      if (!methods.includes(method)) {
        expect([method, response.status, sharing(response)]).toEqual([method, 404, []]);
        continue;
      }
      expect([method, response.status]).toEqual([method, 204]);
      const said = Object.fromEntries(response.headers);
      expect(said).toMatchObject({
        "access-control-allow-origin": APP,
        "access-control-allow-headers": "authorization, x-stainless-lang, anthropic-version",
        "access-control-max-age": "7200",
        vary: "origin, access-control-request-headers",
      });
      expect(said["access-control-allow-methods"]?.split(", ")).toEqual(expect.arrayContaining(methods));
      expect(said).not.toHaveProperty("access-control-allow-credentials");
    }
  });

  test.each(["https://app.example.com.evil.net", "http://app.example.com", "https://APP.example.com", "null", "*"])(
    "may not be asked by a page of %s",
    async (origin) => {
      expect(sharing(await ask(listed, path, origin, methods[0] ?? ""))).toEqual([]);
    },
  );

  test("may be asked by any page where the settings say so, and by none where they say nothing", async () => {
    const response = await ask(open, path, "https://any.example", methods[0] ?? "");
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
    expect(sharing(await ask(off, path, APP, methods[0] ?? ""))).toEqual([]);
  });
});

test.each(UNSHARED)("%s is asked by no page, whatever the settings say", async (path) => {
  for (const server of [listed, open])
    for (const method of METHODS) {
      const response = await ask(server, path, APP, method);
      expect([response.status === 204, sharing(response)]).toEqual([false, []]);
      const sent = await fetch(`${server?.url}${path}`, { method, headers: { origin: APP } });
      // What the API is, is public.
      if (path !== "/openapi.json") expect([method, sharing(sent)]).toEqual([method, []]);
      await Promise.all([response.arrayBuffer(), sent.arrayBuffer()]);
    }
});

test("no page may ask with a session, and what is no list of headers allows none", async () => {
  const session = await ask(open, "/v1/models", APP, "GET", `authorization, ${CONSOLE_HEADER.toUpperCase()}`);
  expect(session.headers.get("access-control-allow-headers")).toBe("authorization");
  for (const names of ["a b", "a,,b", "x".repeat(5_000), "a:b"]) {
    const response = await ask(open, "/v1/models", APP, "GET", names);
    expect([response.status, response.headers.get("access-control-allow-headers")]).toEqual([204, null]);
  }
});
