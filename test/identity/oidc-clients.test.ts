/** What the gateway asks of issuers: in bounded time and size, seldom, and only where it may go. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ANSWER_BYTES_MAX, boundedFetch } from "../../src/identity/oidc/bounded-fetch.js";
import { OidcClients } from "../../src/identity/oidc/clients.js";
import type { IssuerSettings } from "../../src/config/settings.js";
import { CLIENT, startIssuer, type TestIssuer } from "../support/issuer.js";
import { reasonOf } from "./people-world.js";

let issuer: TestIssuer;
const clock = { nowMs: Date.UTC(2026, 10, 23), skewMs: 0 };
const failures: string[] = [];
let clients: OidcClients;

beforeEach(async () => {
  issuer = await startIssuer();
  issuer.serve(["http://127.0.0.1:1"]);
  failures.length = 0;
  clients = new OidcClients(
    () => clock.nowMs,
    (_issuer, error) => failures.push(error.message),
    () => clock.skewMs,
  );
});
afterEach(() => issuer.close());

function settingsOf(address = issuer.url): IssuerSettings {
  const client = { clientId: CLIENT.id, clientSecret: CLIENT.secret };
  return {
    name: "corp",
    title: "Corp",
    issuer: new URL(address).href,
    ...client,
    emailDomains: [],
    newPeople: undefined,
  };
}

const use = (one: IssuerSettings): Promise<string> =>
  clients.use(one, ({ configuration }) => Promise.resolve(configuration.serverMetadata().issuer));

describe("what an issuer says of itself", () => {
  test("is asked for once for all who come at once, and again after an hour or a reload", async () => {
    const corp = settingsOf();
    expect(await Promise.all([1, 2, 3].map(() => use(corp)))).toEqual([issuer.url, issuer.url, issuer.url]);
    expect(issuer.asked).toEqual(["/.well-known/openid-configuration"]);
    clock.nowMs += 3_600_001;
    await use(corp);
    await use(settingsOf());
    expect(issuer.asked).toHaveLength(3);
  });

  test("is asked for again once the machine's clock is set, by which its tokens were judged", async () => {
    const corp = settingsOf();
    for (const skewMs of [4_000, 259_200_000, 259_201_000, -259_200_000]) {
      clock.skewMs = skewMs;
      await use(corp);
    }
    clock.skewMs = 0;
    expect(issuer.asked).toHaveLength(3);
  });

  test("is asked for again soon where it failed, and not for each who tries", async () => {
    const corp = settingsOf();
    issuer.override = (_request, response) => response.writeHead(500).end();
    for (let tried = 0; tried < 5; tried++) expect(await reasonOf(() => use(corp))).toBe("ISSUER_FAILED");
    expect(issuer.asked).toHaveLength(1);
    expect(failures).toHaveLength(1);
    issuer.override = undefined;
    clock.nowMs += 3_001;
    expect(await use(corp)).toBe(issuer.url);
  });

  test.each([
    { name: "another issuer", change: { issuer: "https://elsewhere.example" } },
    { name: "a script in the place of its page", change: { authorization_endpoint: "javascript:alert(1)" } },
    { name: "no page", change: { authorization_endpoint: undefined } },
    { name: "a file in the place of its keys", change: { jwks_uri: "file:///etc/passwd" } },
    { name: "no keys", change: { jwks_uri: undefined } },
    { name: "no place for tokens", change: { token_endpoint: undefined } },
  ])("is not taken where it names $name", async ({ change }) => {
    issuer.document = (document) => ({ ...document, ...change });
    expect(await reasonOf(() => use(settingsOf()))).toBe("ISSUER_FAILED");
  });

  test("is not taken from another place that it leads to", async () => {
    issuer.override = (_request, response) =>
      response.writeHead(302, { location: "https://elsewhere.example/x" }).end();
    expect(await reasonOf(() => use(settingsOf()))).toBe("ISSUER_FAILED");
    expect(issuer.asked).toHaveLength(1);
  });

  test("is not waited for without end, nor by everybody", async () => {
    const corp = settingsOf();
    const hanging: (() => void)[] = [];
    issuer.override = (_request, response) => void hanging.push(() => response.writeHead(500).end());
    const waiting = Array.from({ length: 32 }, () => reasonOf(() => use(corp)));
    await expect.poll(() => hanging.length).toBe(1);
    expect(await reasonOf(() => use(corp))).toBe("OVERLOADED");
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(["ISSUER_FAILED"]));
    expect(failures.join()).toContain("timed out");
  });
});

describe("an answer", () => {
  let server: Server;
  let url: string;
  let answer: (length: number) => string | undefined;
  beforeEach(async () => {
    server = createServer((_request, response) => {
      const send = (sent: number): void => {
        const part = answer(sent);
        if (part === undefined) return void response.end();
        // Where its client has left, newer Nodes say so here, and older ones say nothing.
        response.write(part, (error) => (error instanceof Error ? undefined : send(sent + part.length)));
      };
      send(0);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const ask = (): Promise<Response> => boundedFetch(url, { method: "GET", headers: {}, body: undefined });

  test("is read to the bound", async () => {
    answer = (sent) => (sent < ANSWER_BYTES_MAX ? "x".repeat(1_024) : undefined);
    expect((await (await ask()).text()).length).toBe(ANSWER_BYTES_MAX);
  });

  test("that never ends is left there", async () => {
    let sent = 0;
    answer = (length) => {
      sent = length;
      return "x".repeat(65_536);
    };
    await expect(ask()).rejects.toThrow("longer than");
    expect(sent).toBeLessThan(64 * ANSWER_BYTES_MAX);
  });
});
