/** What carries relays in Redis: a hash for each, whose fields are its pieces, and a channel for each node. */
import type { AdmissionRequest, AdmissionResult } from "./coordination.js";
import { RELAY_PIECES_MAX, RELAY_TTL_MS, type RelayGround, type RelayName } from "./piece-relays.js";
import type { KeyNames } from "./redis-parts.js";
import type { Answer } from "./redis-pipe.js";

export interface RedisGroundParts {
  readonly nodeId: string;
  readonly names: KeyNames;
  readonly monotonicMs: () => number;
  readonly isWell: () => boolean;
  readonly send: (
    accountId: string,
    key: string,
    args: readonly (string | number)[],
    answer: (answer: Answer) => void,
  ) => void;
  readonly publish: (channel: string, message: string) => void;
  readonly admit: (request: AdmissionRequest) => AdmissionResult | Promise<AdmissionResult>;
  readonly release: (accountId: string, subject: string, requestId: string) => void;
}

export function redisGround(parts: RedisGroundParts): RelayGround {
  const { nodeId, names, monotonicMs, isWell, send, publish, admit, release } = parts;
  const keyOf = ({ accountId, relayId }: RelayName): string => names.relay(accountId, relayId);
  return {
    nodeId,
    monotonicMs,
    isWell,
    write: (name, number, piece, to, answer) => {
      const notice = `${nodeId} d ${name.relayId}`;
      const args = ["X", number, piece, RELAY_PIECES_MAX, RELAY_TTL_MS, names.node(to), notice];
      send(name.accountId, keyOf(name), args, (told) => answer(told === undefined ? undefined : told === 1));
    },
    read: (name, from, to, answer) => {
      const args = ["Z", from, RELAY_PIECES_MAX, names.node(to), `${nodeId} r ${name.relayId}`];
      send(name.accountId, keyOf(name), args, (told) => answer(typeof told === "number" ? undefined : told));
    },
    tell: (to, message) => publish(names.node(to), `${nodeId} ${message}`),
    ask: (message) => publish(names.asks, `${nodeId} ${message}`),
    admit,
    release,
  };
}
