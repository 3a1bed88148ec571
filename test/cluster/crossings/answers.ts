/** Answers between two builds: streams that are read on, answers that are given again, WebSockets, and front ends. */
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { readAll } from "../../support/chat-call.js";
import { SocketClient } from "../../support/websocket-client.js";
import { OPERATOR_KEY } from "../../support/gateway-process.js";
import { MODEL } from "../cluster.js";
import { type Asked, type Crossing, PATIENT, type Served, type Subject } from "../crossing.js";
import type { GatewayNode } from "../node.js";

const STREAM_MS = 1_500;
const RESUMABLE = { "x-tollgate-resumable": "1" };

export const resume: Subject = {
  name: "streams that are read on",
  cross: async (crossing) => {
    const { here, there } = crossing.parts;
    await crossing.opened(100);
    const { secret } = await crossing.keyAt(there);
    const { id, text } = await crossing.served(here, secret, { tookMs: 300, stream: true, headers: RESUMABLE });
    expect(await read(crossing, there, id, secret)).toBe(text);
    // While it runs, from the first event on and from a later one.
    const running = await crossing.chat(here, secret, { tookMs: STREAM_MS, stream: true, headers: RESUMABLE });
    const runningId = running.headers.get("x-request-id") ?? "";
    const [own, others, rest] = await Promise.all([
      readAll(running),
      read(crossing, there, runningId, secret),
      read(crossing, there, runningId, secret, 2),
    ]);
    crossing.counted("a stream", running.status);
    expect(own).toContain("[DONE]");
    expect(others).toBe(own);
    expect(own.endsWith(rest) && rest.length < own.length).toBe(true);
    const long = await crossing.chat(here, secret, { tookMs: 600_000, stream: true, headers: RESUMABLE });
    const longId = long.headers.get("x-request-id") ?? "";
    const ended = await ask(there, "DELETE", `/v1/streams/${longId}`, secret);
    crossing.counted("the end of a stream", ended.status);
    expect(await ended.json()).toMatchObject({ id: longId, cancelled: true });
    await readAll(long);
  },
};

async function read(crossing: Crossing, node: GatewayNode, id: string, secret: string, after = 0): Promise<string> {
  const from: Record<string, string> = after === 0 ? {} : { "last-event-id": `${id}:${after}` };
  const response = await ask(node, "GET", `/v1/streams/${id}`, secret, from);
  crossing.counted("a stream that is read on", response.status);
  return readAll(response);
}

function ask(node: GatewayNode, method: string, path: string, secret: string, more: Record<string, string> = {}) {
  return fetch(`${node.url}${path}`, { method, headers: { authorization: `Bearer ${secret}`, ...more } });
}

/** With an Idempotency-Key the other build gives what the one kept, and asks nobody. */
export const replays: Subject = {
  name: "idempotent replays",
  cross: async (crossing) => {
    const { cluster, here, there, account } = crossing.parts;
    await crossing.opened(100);
    const { secret } = await crossing.keyAt(here);
    for (const stream of [false, true]) {
      const user = `${account}-${stream}`;
      const asked = { user, stream, headers: { "idempotency-key": user } };
      const first = await crossing.served(here, secret, asked);
      for (const node of [there, here]) {
        const again = await replayed(crossing, node, secret, asked);
        expect(again.text).toBe(first.text);
        expect(again.headers.get("idempotent-replayed")).toBe("true");
        expect(again.headers.get("x-tollgate-original-request")).toBe(first.id);
      }
      expect(cluster.upstream.served.get(user)).toBe(1);
    }
  },
};

/** Whoever comes while the first is written down is told to come again. */
async function replayed(crossing: Crossing, node: GatewayNode, secret: string, asked: Asked): Promise<Served> {
  for (const endMs = performance.now() + PATIENT.timeout; ;) {
    const response = await crossing.chat(node, secret, asked);
    const text = await response.text();
    const waitMs = Number(response.headers.get("retry-after-ms"));
    if (response.status === 503 && waitMs > 0 && performance.now() + waitMs < endMs) await pause(waitMs);
    else return crossing.answered(node, response, text);
  }
}

export const webSockets: Subject = {
  name: "WebSockets",
  cross: async (crossing) => {
    const { here, there } = crossing.parts;
    await crossing.opened(100);
    const { id, secret } = await crossing.keyAt(there);
    const open = (node: GatewayNode): Promise<SocketClient> => SocketClient.open(node.url, secret);
    const sockets = await Promise.all([here, there].map(open));
    for (const socket of sockets) await answered(crossing, socket);
    await crossing.manage(there, "DELETE", `/keys/${id}`);
    for (const socket of sockets) await expect.poll(() => socket.closed?.code, PATIENT).toBe(1008);
  },
};

async function answered(crossing: Crossing, socket: SocketClient): Promise<void> {
  const events = await socket.ask({ model: MODEL, input: "Is it so?" });
  expect(events.at(-1)?.["type"]).toBe("response.completed");
  crossing.count += 1;
}

/** The front end is of one build, and its core of the other: they speak internal.v1. */
export const frontEnds: Subject = {
  name: "front ends",
  cross: async (crossing) => {
    const { here, there, front, operator, account } = crossing.parts;
    await crossing.opened(1_000);
    const { id, secret } = await crossing.keyAt(there);
    for (const stream of [false, true]) {
      const { text } = await crossing.served(front, secret, { stream, tookMs: stream ? 300 : 0 });
      expect(text).toContain(stream ? "[DONE]" : "It is so.");
    }
    const models = await ask(front, "GET", "/v1/models", secret);
    crossing.counted("the models", models.status);
    expect(await models.json()).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ id: MODEL })]),
    });
    const shown = await ask(front, "GET", `/api/v1/accounts/${account}`, OPERATOR_KEY);
    crossing.counted("the account", shown.status);
    await crossing.asPerson(crossing.browserAt(front, operator), "GET", "/session");
    // Kept by the core, and given by it at the front end and at the other node.
    const headers = { "idempotency-key": `${account}-front`, ...RESUMABLE };
    const first = await crossing.served(front, secret, { stream: true, tookMs: 200, headers });
    expect(await read(crossing, there, first.id, secret)).toBe(first.text);
    const again = await replayed(crossing, there, secret, { stream: true, tookMs: 200, headers });
    expect(again.text).toBe(first.text);
    const socket = await SocketClient.open(front.url, secret);
    await answered(crossing, socket);
    await crossing.manage(here, "DELETE", `/keys/${id}`);
    await expect.poll(() => socket.closed?.code, PATIENT).toBe(1008);
    await crossing.refused(front, secret);
  },
};
