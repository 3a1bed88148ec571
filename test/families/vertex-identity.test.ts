/** The machine's identity at Google's and a federated one, with the real shapes of their answers. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { googleToken, readCredential } from "../../src/families/vertex/token.js";

const TOKEN_PATH = "/computeMetadata/v1/instance/service-accounts/default/token";

let server: Server;
let url = "";
let directory = "";
let forms: URLSearchParams[] = [];
let issued = 0;

function answer({ url: path = "", headers }: IncomingMessage, body: string): [number, object] {
  const token = () => ({ access_token: `token-${++issued}`, expires_in: 3_599, token_type: "Bearer" });
  if (path === "/v1/token") {
    forms.push(new URLSearchParams(body));
    return [200, { ...token(), issued_token_type: "urn:ietf:params:oauth:token-type:access_token" }];
  }
  // The metadata server answers only who says that it means it.
  if (headers["metadata-flavor"] !== "Google") return [403, {}];
  if (path.startsWith(TOKEN_PATH)) return [200, token()];
  return [path === "/computeMetadata/v1/instance" ? 200 : 404, {}];
}

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const [status, body] = answer(request, Buffer.concat(chunks).toString());
      const headers = { "content-type": "application/json", "metadata-flavor": "Google" };
      response.writeHead(status, headers).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  [forms, issued] = [[], 0];
  directory = mkdtempSync(join(tmpdir(), "tollgate-google-"));
  vi.stubEnv("GCE_METADATA_HOST", new URL(url).host);
  vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", undefined);
  vi.stubEnv("CLOUDSDK_CONFIG", directory);
});
afterEach(() => vi.unstubAllEnvs());

const write = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};
const federated = (source: object) => ({
  type: "external_account",
  audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/cluster",
  subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
  token_url: `${url}/v1/token`,
  credential_source: source,
});

test("a token comes from the metadata server", async () => {
  const token = googleToken(undefined, { nowMs: Date.now, monotonicMs: Date.now });
  expect(await token.value()).toEqual({ authorization: "Bearer token-1" });
});

describe("a federated identity", () => {
  test("exchanges the cluster's token, whose file is read each time", async () => {
    const file = write("subject", "one");
    const key = readCredential(write("key.json", JSON.stringify(federated({ file }))));
    let lateMs = 0;
    const token = googleToken(key, { nowMs: Date.now, monotonicMs: () => Date.now() + lateMs });
    const first = await token.value();
    write("subject", "two");
    lateMs = 3_400_000;
    expect(token.value()).toBe(first);
    await expect.poll(() => token.value()).not.toBe(first);
    expect(forms.map((form) => form.get("subject_token"))).toEqual(["one", "two"]);
    expect(forms[0]?.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:token-exchange");
  });

  test("starts no program", () => {
    const path = write("key.json", JSON.stringify(federated({ executable: { command: "/bin/hush" } })));
    const read = (): unknown => readCredential(path);
    expect(read).toThrow(/credential_source.executable/);
    expect(read).not.toThrow(/hush/);
  });

  test("is refused as the text of a setting, which may come from people without access to the machine", () => {
    expect(() => readCredential(JSON.stringify(federated({ file: "/etc/passwd" })))).toThrow(
      /no key of Google's: type/,
    );
  });
});
