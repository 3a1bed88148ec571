/** How the server begins to listen and how it stops without cutting what runs. */
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { GatewayError } from "../base/errors.js";
import type { ListeningPort } from "../base/event-loop/listening-port.js";
import type { Connections } from "./connections.js";
import type { Running } from "./running.js";

/** How long streams that were told to end may take to say so, and their readers to read it. */
const STOP_MS = 5_000;
/** How often a stopping server looks for connections that came to rest, and whether all is over. */
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

interface Draining {
  readonly app: FastifyInstance;
  readonly connections: Connections;
  readonly running: Running;
  readonly port: Pick<ListeningPort, "ended" | "destroyAll">;
  /** Told as what still runs is told to end: from then on requests are refused. */
  readonly onLate: () => void;
}

/**
 * Ends a server whose port is closed: what runs, and what still comes over its connections, has `timeoutMs` to finish,
 * and what still runs then is told to end.
 */
export async function drain({ app, connections, running, port, onLate }: Draining, timeoutMs: number): Promise<void> {
  let hasEnded = false;
  const end = port.ended.then(() => (hasEnded = true));
  const isIdle = (): boolean => running.size === 0 && connections.working === 0;
  /** A connection whose request ends meanwhile would wait for the next one. */
  const sweepUntil = async (isOver: () => boolean, waitMs: number): Promise<boolean> => {
    for (const endMs = performance.now() + waitMs; ; await Promise.race([end, sleep(REST_SWEEP_MS)])) {
      await connections.closeAtRest();
      if (hasEnded || isOver()) return true;
      if (performance.now() >= endMs) return false;
    }
  };
  let busyMs = performance.now();
  /** Nothing runs and nothing came for so long: what is still open are answers that nobody reads, or half a request. */
  const isSettled = (): boolean => {
    if (!isIdle()) busyMs = performance.now();
    return performance.now() - busyMs >= STOP_MS;
  };
  if (!(await sweepUntil(isSettled, timeoutMs))) {
    onLate();
    running.stopAll(stopping());
    await sweepUntil(isIdle, STOP_MS);
    await sweepUntil(() => hasEnded, STOP_MS);
  }
  if (!hasEnded) port.destroyAll();
  await port.ended;
  await app.close();
}
