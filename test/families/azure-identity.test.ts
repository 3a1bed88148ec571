/** Tokens of Microsoft Entra ID from each source, with the real shapes of its answers. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { entraToken } from "../../src/families/azure/token.js";
import type { Environment } from "../../src/families/family.js";

interface Asked {
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly form: Readonly<Record<string, string>>;
}

let server: Server;
let url = "";
let asked: Asked[] = [];
/** Statuses of the next answers; the rest is 200. */
let statuses: number[] = [];
let answer: Readonly<Record<string, unknown>> = {};
let nowMs = 0;
let pauses: number[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
      asked.push({ url: new URL(request.url ?? "", url), headers: request.headers, form });
      const status = statuses.shift() ?? 200;
      const body = status === 200 ? { access_token: `token-${asked.length}`, ...answer } : { error: "hush" };
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  [asked, statuses, pauses, nowMs] = [[], [], [], 0];
  answer = { token_type: "Bearer", expires_in: 3_599 };
});

const token = (environment: Environment) =>
  entraToken(environment, {
    nowMs: () => 1_000_000 + nowMs,
    monotonicMs: () => nowMs,
    pause: (ms) => {
      pauses.push(ms);
      nowMs += ms;
      return Promise.resolve();
    },
  });
const application = (): Environment => ({
  AZURE_TENANT_ID: "tenant",
  AZURE_CLIENT_ID: "app",
  AZURE_AUTHORITY_HOST: url,
});
const machine = (): Environment => ({ AZURE_POD_IDENTITY_AUTHORITY_HOST: url });

describe("a token", () => {
  test("is issued for a client secret", async () => {
    const source = token({ ...application(), AZURE_CLIENT_SECRET: "hush" });
    expect(await source.value()).toEqual({ authorization: "Bearer token-1" });
    expect(asked[0]?.url.pathname).toBe("/tenant/oauth2/v2.0/token");
    expect(asked[0]?.form).toEqual({
      grant_type: "client_credentials",
      client_id: "app",
      client_secret: "hush",
      scope: "https://cognitiveservices.azure.com/.default",
    });
  });

  test("is issued for the cluster's token, whose file is read each time", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "tollgate-entra-")), "token");
    writeFileSync(file, "one\n");
    const source = token({ ...application(), AZURE_FEDERATED_TOKEN_FILE: file });
    const first = await source.value();
    writeFileSync(file, "two\n");
    nowMs = 3_400_000;
    expect(source.value()).toBe(first);
    await expect.poll(() => source.value()).not.toBe(first);
    expect(asked.map(({ form }) => form["client_assertion"])).toEqual(["one", "two"]);
    expect(asked[0]?.form["client_assertion_type"]).toBe("urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
  });

  test("is issued to the machine", async () => {
    // The metadata endpoint writes its numbers as texts.
    answer = { expires_in: "86399", expires_on: "1500000", resource: "https://cognitiveservices.azure.com" };
    await token({ ...machine(), AZURE_CLIENT_ID: "assigned" }).value();
    expect(asked[0]?.headers["metadata"]).toBe("true");
    expect(asked[0]?.url.pathname).toBe("/metadata/identity/oauth2/token");
    expect(Object.fromEntries(asked[0]?.url.searchParams ?? [])).toEqual({
      "api-version": "2018-02-01",
      resource: "https://cognitiveservices.azure.com",
      client_id: "assigned",
    });
  });

  test("is issued to an app of App Service, which tells only the time of its end", async () => {
    answer = { expires_on: "1600" };
    const source = token({ IDENTITY_ENDPOINT: `${url}/msi/token`, IDENTITY_HEADER: "proof" });
    await source.value();
    expect(asked[0]?.headers["x-identity-header"]).toBe("proof");
    expect(asked[0]?.url.searchParams.get("api-version")).toBe("2019-08-01");
    nowMs = 599_999;
    expect(source.value()).not.toBeInstanceOf(Promise);
    await expect.poll(() => asked.length).toBe(2);
    nowMs = 1_200_000;
    const waiting = source.value();
    expect(waiting).toBeInstanceOf(Promise);
    await waiting;
  });

  test("is renewed when Entra wants it", async () => {
    answer = { expires_in: 86_400, refresh_in: 43_200 };
    const source = token(machine());
    const first = await source.value();
    nowMs = 43_199_999;
    expect(source.value()).toBe(first);
    expect(asked).toHaveLength(1);
    nowMs = 43_200_000;
    expect(source.value()).toBe(first);
    await expect.poll(() => source.value()).not.toBe(first);
  });
});

describe("the metadata endpoint", () => {
  test.each([
    {
      name: "is asked again while it is away",
      fails: [404, 429, 500, 503],
      asks: 5,
      pausesMs: [800, 1_600, 3_200, 6_400],
    },
    {
      name: "is asked for 70 seconds while it is updated",
      fails: Array.from({ length: 8 }, () => 410),
      asks: 9,
      pausesMs: [800, 1_600, 3_200, 6_400, 12_800, 12_800, 12_800, 12_800],
    },
  ])("$name", async ({ fails, asks, pausesMs }) => {
    statuses = fails;
    await token(machine()).value();
    expect(asked).toHaveLength(asks);
    expect(pauses).toEqual(pausesMs);
  });

  test.each([{ fails: [400] }, { fails: [500, 500, 500, 500, 500] }])(
    "that fails with $fails issues nothing, and is quoted nowhere",
    async ({ fails }) => {
      statuses = [...fails];
      const failure = await Promise.resolve(token(machine()).value()).catch(String);
      expect(failure).toMatch(/Microsoft Entra ID issued no credential: it answered with status \d+$/);
      expect(failure).not.toMatch(/hush/);
      expect(asked).toHaveLength(fails.length);
    },
  );
});
