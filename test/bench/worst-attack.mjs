/**
 * A tenant that means harm: sends every worst case once, in order, and tells what became of each. It goes on when a
 * line comes, so that what each did to the gateway can be read between them. What follows the model are texts of the
 * names of those that it sends.
 */
import { createInterface } from "node:readline";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { WORST_REQUESTS } from "./worst-cases.mjs";
import { WORST_MESSAGES } from "./worst-messages.mjs";
import { isAsked } from "./worst-questions.mjs";
import { sendOverSocket, WORST_SOCKETS } from "./worst-sockets.mjs";

const [base = "", grpc = "", key = "", model = "", ...cases] = process.argv.slice(2);

const goOn = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

for (const { name, path, body, headers = {} } of WORST_REQUESTS) {
  if (!isAsked(name, cases)) continue;
  const bytes = body(model);
  await tell(name, async () => {
    const response = await fetch(base + path.replace("MODEL", model), {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        ...headers,
      },
      body: bytes,
    });
    await response.arrayBuffer();
    return response.status;
  });
}

const client = new Client(grpc || "127.0.0.1:1", credentials.createInsecure(), { "grpc.max_send_message_length": -1 });
const metadata = new Metadata();
metadata.set("authorization", `Bearer ${key}`);
const same = (/** @type {Buffer} */ bytes) => bytes;
for (const { name, path, message } of grpc === "" ? [] : WORST_MESSAGES) {
  if (!isAsked(name, cases)) continue;
  const bytes = message(model);
  const ask = () =>
    new Promise((resolve) => {
      client.makeUnaryRequest(path, same, same, bytes, metadata, (error) => resolve(error === null ? 0 : error.code));
    });
  await tell(name, ask);
}
client.close();
// Past the gateway there is none.
for (const { name, message } of grpc === "" ? [] : WORST_SOCKETS) {
  if (!isAsked(name, cases)) continue;
  const bytes = message(model);
  await tell(name, () => sendOverSocket(base, key, bytes));
}
process.exit();

/**
 * @param {string} name
 * @param {() => Promise<unknown>} ask
 */
async function tell(name, ask) {
  const startMs = performance.now();
  const status = await ask().catch(() => "cut");
  process.stdout.write(`${JSON.stringify({ name, status, ms: performance.now() - startMs })}\n`);
  await goOn.next();
}
