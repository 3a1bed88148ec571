/** The request that tests an upstream: it asks a model for one word. */
import { Generation, Message, Part, Prompt, Role, Text } from "../api/index.js";
import type { ClientWire, WireRequest } from "../wire/wire.js";
import { typedRequest } from "./typed-request.js";

/** Of a message without fields: each has its default. */
const EMPTY = new Uint8Array();
const QUESTION = "Answer with the word yes.";

export function testRequest(wires: ReadonlyMap<string, ClientWire>): WireRequest {
  const part = {
    ...Part.decode(EMPTY),
    kind: { $case: "text", value: { ...Text.decode(EMPTY), text: QUESTION } },
  } as const;
  const message = { ...Message.decode(EMPTY), role: Role.ROLE_USER, parts: [part] };
  const prompt = { ...Prompt.decode(EMPTY), messages: [message] };
  return typedRequest({ ...Generation.decode(EMPTY), model: "test" }, prompt, false, wires);
}
