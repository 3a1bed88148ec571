/** The body for an upstream: the client's own, with the model's name, and in the form that reports the usage. */
import assert from "node:assert/strict";
import { splice } from "../../json/splice.js";
import { editCache } from "../../request/prompt-cache.js";
import type { Dialect, OwnedFields, WireRequest } from "../../wire.js";
import type { SpeechDialect } from "../facts.js";
import { SpeechRequest } from "./decode.js";
import { scanRequest } from "./scan.js";

/** Models that send bytes alone. */
const WITHOUT_EVENTS = /^tts-1/;

/** Asks for events where these report the usage, and for bytes elsewhere: either becomes what the client asked for. */
export function encodeRequest(request: WireRequest, owned: OwnedFields, dialect: Dialect): Buffer {
  assert(request.source !== undefined, "only a body of this wire comes here");
  const { body } = request.source;
  const { open, members } = request instanceof SpeechRequest ? request.scan : scanRequest(body);
  const reportsUsage: keyof SpeechDialect = "reportsUsageByEvents";
  const edits = new Map<string, Buffer | string | undefined>();
  if (owned.model !== request.facts.model) edits.set("model", JSON.stringify(owned.model));
  if (dialect[reportsUsage] === true && !WITHOUT_EVENTS.test(owned.model)) edits.set("stream_format", '"sse"');
  else if (members.some(({ key }) => key === "stream_format")) edits.set("stream_format", undefined);
  editCache(body, members, owned.cache, edits);
  return edits.size === 0 ? body : splice(body, open, members, edits);
}
