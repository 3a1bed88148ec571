/** How the server begins to listen and how it stops without cutting what runs. */
import type { FastifyInstance } from "fastify";
import { GatewayError } from "../errors.js";
import type { Connections } from "./connections.js";
import type { Running } from "./running.js";

/** How long streams that were told to end may take to say so, and their readers to read it. */
const STOP_MS = 5_000;
/** How often a stopping server looks for connections that came to rest. */
const REST_SWEEP_MS = 25;

/** Connections that the system keeps until they are accepted; it may keep fewer. With more come, clients try again. */
const BACKLOG = 4_096;

/** The refusal of a server that stops. */
export function stopping(): GatewayError {
  return new GatewayError("ERROR_REASON_OVERLOADED", { problem: "it is stopping", retry_after_ms: "1000" });
}

export async function listen(
  app: FastifyInstance,
  host: string,
  port: number,
): Promise<{ readonly host: string; readonly port: number }> {
  await app.listen({ host, port, backlog: BACKLOG });
  const address = app.server.address();
  return typeof address === "object" && address !== null ? { host, port: address.port } : { host, port };
}

/**
 * What closes its port, once, and resolves when its last connection has ended. The port of a worker is closed for it
 * before that, and then `app.close` waits for no connection.
 */
export function portCloser(app: FastifyInstance): () => Promise<void> {
  let ended: Promise<void> | undefined;
  app.server.once("listening", () => {
    ended = new Promise((resolve) => app.server.once("close", () => resolve()));
  });
  let closed: Promise<void> | undefined;
  return () => (closed ??= app.close().then(() => ended));
}

/** Ends a server whose port closes: what runs has `timeoutMs` to finish, and what still runs then is told to end. */
export async function drain(
  app: FastifyInstance,
  portClosed: Promise<void>,
  connections: Connections,
  running: Running,
  timeoutMs: number,
): Promise<void> {
  const closed = portClosed.then(() => true);
  connections.closeAtRest();
  // A connection whose request ends from now on would wait for the next one, which we would refuse.
  const sweep = setInterval(() => connections.closeAtRest(), REST_SWEEP_MS);
  try {
    if (!(await running.idle(timeoutMs))) {
      running.stopAll(stopping());
      await running.idle(STOP_MS);
    }
    if (!(await Promise.race([closed, pause(STOP_MS)]))) app.server.closeAllConnections();
    await closed;
  } finally {
    clearInterval(sweep);
  }
}

function pause(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms).unref());
}
