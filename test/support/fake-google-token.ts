/** A real HTTP server that gives Google's tokens for a service account's key, made here, and checks what proves it. */
import { generateKeyPairSync, verify } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface FakeGoogleToken {
  /** The key's file, as JSON. */
  readonly key: string;
  /** How many tokens were given: they are named token-1, token-2 and so on. */
  given: number;
  /** How long each holds. */
  expiresSeconds: number;
  /** Refuse with 400. */
  refuses: boolean;
  close(): Promise<void>;
}

export async function startFakeGoogleToken(): Promise<FakeGoogleToken> {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const proven = (body: string): boolean => {
    const assertion = new URLSearchParams(body).get("assertion") ?? "";
    const [head = "", claims = "", signature = ""] = assertion.split(".");
    const told = JSON.parse(Buffer.from(claims, "base64url").toString()) as { scope?: string; iss?: string };
    const isSigned = verify("sha256", Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, "base64url"));
    return isSigned && told.iss === "gateway@test" && told.scope === "https://www.googleapis.com/auth/cloud-platform";
  };
  const answer = (body: string): [number, object] => {
    if (fake.refuses || !proven(body)) return [400, { error: "invalid_grant", error_description: "no such key" }];
    fake.given += 1;
    return [200, { access_token: `token-${fake.given}`, expires_in: fake.expiresSeconds, token_type: "Bearer" }];
  };
  const server: Server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const [status, body] = answer(Buffer.concat(chunks).toString());
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const fake: FakeGoogleToken = {
    key: JSON.stringify({
      type: "service_account",
      client_email: "gateway@test",
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
      token_uri: `http://127.0.0.1:${port}/token`,
    }),
    given: 0,
    expiresSeconds: 3_600,
    refuses: false,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return fake;
}
