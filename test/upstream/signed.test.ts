/** A request whose token is refused is sent once more with a new one; its caller notices nothing. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { bearerHeaders, createBearerProver } from "../../src/upstream/bearer.js";
import { createHttpUpstream } from "../../src/upstream/http.js";
import { RenewedCredential, sourceFailure } from "../../src/upstream/renewed-credential.js";
import { createSignedUpstream, type Headers } from "../../src/upstream/signed.js";
import type { Upstream } from "../../src/upstream/upstream.js";

let server: Server;
let url = "";
/** The tokens that the upstream takes. */
let good: ReadonlySet<string>;
let asked = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked += 1;
    const isGood = good.has(request.headers.authorization ?? "");
    request.resume().on("end", () => response.writeHead(isGood ? 200 : 401).end(isGood ? "answer" : "refusal"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = 0;
});

interface Told {
  readonly status: number;
  readonly text: string;
  readonly sent: number;
}

function ask(upstream: Upstream, pausesMs = 0): Promise<Told> {
  return new Promise((resolve, reject) => {
    let [status, text, sent] = [0, "", 0];
    const exchange = upstream.send(
      { method: "POST", path: "/", headers: {}, body: Buffer.from("{}") },
      {
        onSent: () => void (sent += 1),
        onHead: (code) => void (status = code),
        onData: (chunk) => void (text += chunk.toString()),
        onEnd: () => resolve({ status, text, sent }),
        onError: reject,
      },
    );
    if (pausesMs === 0) return;
    exchange.pause();
    setTimeout(() => exchange.resume(), pausesMs);
  });
}

function connect(): { readonly upstream: Upstream; readonly source: { issued: number; fails: boolean } } {
  const source = { issued: 0, fails: false };
  const token = new RenewedCredential<Headers>({
    issue: async () => {
      await Promise.resolve();
      if (source.fails) throw sourceFailure("The source", "down");
      source.issued += 1;
      return { value: bearerHeaders(String(source.issued)), lifeMs: 3_600_000 };
    },
    monotonicMs: () => 0,
    random: () => 0,
  });
  const upstream = createSignedUpstream(createHttpUpstream({ baseUrl: url }), createBearerProver(token));
  return { upstream, source };
}

test.each([0, 50])("a token that ended early is replaced under load, with a pause of %i ms", async (pausesMs) => {
  const { upstream, source } = connect();
  good = new Set(["Bearer 1"]);
  await ask(upstream);
  good = new Set(["Bearer 2"]);
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask(upstream, pausesMs)));
  expect(answers).toEqual(answers.map(() => ({ status: 200, text: "answer", sent: 1 })));
  expect(source.issued).toBe(2);
  await upstream.close();
});

test("an upstream that refuses every token is asked twice, and its refusal is the answer", async () => {
  const { upstream, source } = connect();
  good = new Set();
  expect(await ask(upstream)).toEqual({ status: 401, text: "refusal", sent: 1 });
  expect([asked, source.issued]).toEqual([2, 2]);
  // The source is left alone for a while.
  expect(await ask(upstream)).toMatchObject({ status: 401, text: "refusal" });
  expect([asked, source.issued]).toEqual([3, 2]);
  await upstream.close();
});

test("a source that fails leaves the refusal as the answer", async () => {
  const { upstream, source } = connect();
  good = new Set(["Bearer 1"]);
  await ask(upstream);
  source.fails = true;
  good = new Set();
  expect(await ask(upstream)).toEqual({ status: 401, text: "refusal", sent: 1 });
  await upstream.close();
});

test("a source that never worked fails the request before it is sent", async () => {
  const { upstream, source } = connect();
  source.fails = true;
  await expect(ask(upstream)).rejects.toThrow("The source issued no credential: down");
  expect(asked).toBe(0);
  await upstream.close();
});
