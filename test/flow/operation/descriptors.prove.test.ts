/**
 * A gateway whose file descriptors run out: it says so once with what to do, refuses what needs a new connection,
 * blames no upstream, and goes on once there are some again.
 */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { chat, postChat } from "../../support/chat-call.js";
import { startFakeUpstream } from "../../support/fake-upstream.js";
import { startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";

const PATIENT = { timeout: 60_000, interval: 200 };
const OPEN_FILES_MAX = 160;

interface Told {
  readonly status: number;
  readonly text: string;
}

test("descriptors that run out are logged once, and are nobody's fault", { timeout: 200_000 }, async () => {
  const upstream = await startFakeUpstream();
  const served = `{ family: openai-compatible, base_url: "${upstream.url}" }`;
  const targets = "[{ upstream: first }, { upstream: next, priority: 2 }]";
  const settings = [
    `upstreams: { first: ${served}, next: ${served} }`,
    "models:",
    `  fake-1: { targets: ${targets}, context_tokens: 1000, output_tokens_max: 100, price: free }`,
    "",
  ].join("\n");
  const gateway = await startGateway({ settings, openFilesMax: OPEN_FILES_MAX });
  gateway.expectOddAnswers();
  onTestFinished(async () => {
    await gateway.kill();
    await upstream.close();
  });
  const { port, hostname } = new URL(gateway.url);
  const management = new Management(gateway);
  await management.account("acme", 0n);
  const { secret } = await management.makeKey("acme");
  // A call that has begun: its last byte comes once nothing more can be opened.
  const body = JSON.stringify(chat("Hello"));
  const begun = (() => {
    const headers = {
      authorization: `Bearer ${secret}`,
      "content-type": "application/json",
      "content-length": body.length,
    };
    const call = request({ agent: false, hostname, port, path: "/v1/chat/completions", method: "POST", headers });
    const answer = once(call, "response");
    call.write(body.slice(0, -1));
    return async (): Promise<Told> => {
      call.end(body.slice(-1));
      const [response] = (await answer) as [IncomingMessage];
      let text = "";
      for await (const bytes of response) text += String(bytes);
      return { status: response.statusCode ?? 0, text };
    };
  })();
  const open: Socket[] = [];
  for (let count = 0; count < OPEN_FILES_MAX; count += 1)
    open.push(connect(Number(port), hostname).on("error", () => undefined));
  const line = await gateway.logged("no file descriptor is left");
  expect(line).toContain("raise LimitNOFILE");
  expect(line).toContain(`"open_files_max":${OPEN_FILES_MAX}`);
  const refused = await begun();
  expect(refused.status, refused.text).toBe(503);
  expect(refused.text).toContain("open no more connections");
  for (const socket of open) socket.destroy();
  const answered = async (): Promise<number> => {
    const answer = await postChat(gateway, secret, body);
    await answer.text();
    return answer.status;
  };
  await expect.poll(answered, PATIENT).toBe(200);
  const { text } = await readMetrics(gateway);
  expect(text).not.toMatch(/^tollgate_upstream_ejections_total\{/m);
  expect(text).toContain('tollgate_upstream_up{upstream="first"} 1');
  expect(gateway.log.filter((one) => one.includes("no file descriptor is left"))).toHaveLength(1);
});
