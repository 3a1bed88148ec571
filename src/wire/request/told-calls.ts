/** The ids of the calls that a conversation already holds. */
import { GatewayError } from "../../base/errors.js";
import type { Prompt } from "../../api/index.js";
import type { WireRequest } from "../wire.js";

const NO_IDS: readonly string[] = [];

/** In their order, as often as they stand there. None of a request that has no typed form. */
export function toldCallIds(request: WireRequest | undefined): readonly string[] {
  if (request === undefined || request.embedding !== undefined || request.facts.surface !== undefined) return NO_IDS;
  if (request.callIds !== undefined) return request.callIds;
  try {
    return callIdsIn(request.prompt());
  } catch (error) {
    if (error instanceof GatewayError) return NO_IDS;
    throw error;
  }
}

function callIdsIn({ messages }: Prompt): readonly string[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap(({ kind }) => (kind?.$case === "toolCall" ? [kind.value.id] : [])),
  );
}
