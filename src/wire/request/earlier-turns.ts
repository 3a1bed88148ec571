/**
 * Members that stand for earlier turns of a conversation: no gateway and no other upstream has those turns, so that a
 * request without its member would be another one. The one table of them, for every wire.
 */
import { GatewayError } from "../../base/errors.js";
import { wrongValue } from "../json/node.js";
import { CONVERSATION, NEW_CONTAINER, SEND_IT } from "./kept-names.js";

/** How a member that stands for earlier turns is refused. */
export interface EarlierTurns {
  /** What to send in its place. */
  readonly instead: string;
  /** The code by which the SDK that sends the member knows to send the conversation itself. */
  readonly code?: string;
  /** The feature that the code's details name as not supported. */
  readonly unsupported?: string;
}

/** By their names in snake case. A wire that knows one of the names otherwise says so in its own table. */
export const EARLIER_TURNS: Readonly<Record<string, EarlierTurns>> = {
  // Anthropic's SDKs replay the history after this code alone.
  thread: { instead: CONVERSATION, code: "thread_unsupported_request", unsupported: "thread" },
  thread_id: { instead: CONVERSATION },
  // OpenAI's clients replay the history after it.
  previous_response_id: { instead: CONVERSATION, code: "previous_response_not_found" },
  response_id: { instead: CONVERSATION },
  previous_interaction_id: { instead: CONVERSATION },
  interaction_id: { instead: CONVERSATION },
  previous_message_id: { instead: CONVERSATION },
  parent_message_id: { instead: CONVERSATION },
  conversation: { instead: CONVERSATION },
  conversation_id: { instead: CONVERSATION },
  session: { instead: CONVERSATION },
  session_id: { instead: CONVERSATION },
  run_id: { instead: CONVERSATION },
  container: { instead: NEW_CONTAINER },
  container_id: { instead: NEW_CONTAINER },
  cached_content: { instead: SEND_IT },
};

/** The refusal of such a member, under the name that the client gave it. */
export function turnsRefusal(param: string, { instead, code, unsupported }: EarlierTurns): GatewayError {
  const refusal = wrongValue(param, instead, code);
  if (unsupported === undefined) return refusal;
  return new GatewayError(refusal.reason, { ...refusal.metadata, unsupported });
}
