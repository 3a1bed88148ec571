/** The queue in which requests wait where more come than this process can work off, and what it tells operators. */
import { RequestQueue } from "../base/event-loop/request-queue.js";
import type { Environment } from "../config/environment.js";
import type { Log } from "../observe/log.js";
import type { Metrics } from "../observe/metrics.js";

/** How often the log tells of refusals: they are as many as anybody likes to send. */
const TELL_MS = 10_000;

export interface OverloadOptions {
  readonly environment: Environment;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Undefined where the settings say that all requests begin at once. */
export function createQueue({ environment, log, metrics }: OverloadOptions): RequestQueue | undefined {
  if (!environment.shedsLoad) return undefined;
  let refused = 0;
  let timer: NodeJS.Timeout | undefined;
  const tell = (): void => {
    log.warn({ refused }, "requests were refused: the process is overloaded");
    refused = 0;
    timer = undefined;
  };
  const queue = new RequestQueue({
    onRefused: ({ reasonWord, http }) => {
      refused += 1;
      metrics.refusals.add(reasonWord, String(http));
      timer ??= setTimeout(tell, TELL_MS).unref();
    },
  });
  metrics.readWaiting = () => queue.size;
  return queue;
}
