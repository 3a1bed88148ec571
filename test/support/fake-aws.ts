/** Amazon's sources of credentials on loopback: the instance (IMDSv2), the container's endpoint, and STS. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface FakeAws {
  readonly url: string;
  /** What was asked for, such as `PUT /latest/api/token` or `AssumeRole`. */
  readonly asked: string[];
  /** The forms that STS was sent. */
  readonly forms: URLSearchParams[];
  /** What the containers' endpoint was last given as proof. */
  containerToken: string;
  /** How long the next credentials hold. */
  lifeMs: number;
  fails: boolean;
  close(): Promise<void>;
}

const METADATA_TOKEN = "metadata-token";
const ROLE_PATH = "/latest/meta-data/iam/security-credentials/";

export async function startFakeAws(): Promise<FakeAws> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const [status, type, body] = answer(request, Buffer.concat(chunks).toString());
      response.writeHead(status, { "content-type": type, "x-aws-ec2-metadata-token-ttl-seconds": "21600" }).end(body);
    });
  });
  let issued = 0;
  const pair = () => ({
    AccessKeyId: `key-${++issued}`,
    SecretAccessKey: "secret",
    Expiration: new Date(Date.now() + fake.lifeMs).toISOString(),
  });
  const answer = (request: IncomingMessage, body: string): [number, string, string] => {
    const { method = "", url = "", headers } = request;
    const form = new URLSearchParams(body);
    const action = form.get("Action");
    fake.asked.push(action ?? `${method} ${url}`);
    if (fake.fails) return [503, "text/plain", "hush"];
    if (action !== null) {
      fake.forms.push(form);
      return [200, "text/xml", stsAnswer(action, pair())];
    }
    const json = (value: object): [number, string, string] => [200, "application/json", JSON.stringify(value)];
    if (method === "PUT" && url === "/latest/api/token") return [200, "text/plain", METADATA_TOKEN];
    if (url === "/pod") {
      fake.containerToken = headers.authorization ?? "";
      return json({ ...pair(), Token: "session", AccountId: "1" });
    }
    // IMDSv2 refuses a request without a token of the session.
    if (headers["x-aws-ec2-metadata-token"] !== METADATA_TOKEN) return [401, "text/plain", ""];
    if (url === ROLE_PATH) return [200, "text/plain", "node-role"];
    if (url === `${ROLE_PATH}node-role`) return json({ Code: "Success", ...pair(), Token: "session" });
    return [404, "text/plain", ""];
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const fake: FakeAws = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    forms: [],
    containerToken: "",
    lifeMs: 3_600_000,
    fails: false,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return fake;
}

function stsAnswer(action: string, pair: Readonly<Record<string, string>>): string {
  const fields = Object.entries({ ...pair, SessionToken: "session" }).map(
    ([name, text]) => `<${name}>${text}</${name}>`,
  );
  return (
    `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result>` +
    `<Credentials>${fields.join("")}</Credentials>` +
    `<AssumedRoleUser><AssumedRoleId>A:tollgate</AssumedRoleId><Arn>arn:aws:sts::1:assumed-role/r/tollgate</Arn>` +
    `</AssumedRoleUser></${action}Result></${action}Response>`
  );
}
