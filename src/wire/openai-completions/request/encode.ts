/** The body for an upstream: the client's own, with what the gateway owns changed. */
import { type Member, splice, valueText } from "../../json/splice.js";
import { sayWhole } from "../../openai/request/say-whole.js";
import { ownedEdits } from "../../request/owned-fields.js";
import type { Dialect, OwnedFields, WireRequest } from "../../wire.js";
import { OTHER_LIMITS } from "./scan.js";
import { MEMBERS } from "./members.js";
import { WIRE_NAME } from "../facts.js";
import { CompletionRequest, asCompletion } from "./decode.js";

/** The client's own body, with what the gateway owns. Nothing else is a completion of a text. */
export function encodeRequest(request: WireRequest, owned: OwnedFields, dialect: Dialect): Buffer {
  const { source } = request;
  if (source?.wire !== WIRE_NAME) throw new Error("only a body of the wire goes to an upstream of it");
  const { facts, members } = request instanceof CompletionRequest ? request : asCompletion(source);
  const { body } = source;
  const edits = ownedEdits(owned, { body, members, facts, table: MEMBERS });
  // Told also where the client left it to the upstream: the hold covers no more.
  if (owned.outputTokensMax !== undefined && numberIn(body, members, "max_tokens") !== owned.outputTokensMax)
    edits.set("max_tokens", String(owned.outputTokensMax));
  for (const name of OTHER_LIMITS) if (members.some(({ key }) => key === name)) edits.set(name, undefined);
  if (!owned.stream && dialect["saysWhole"] === true && !facts.stream) sayWhole(body, members, edits);
  if (!owned.stream && facts.stream) edits.set("stream_options", undefined);
  else if (owned.stream && !facts.includeUsage) edits.set("stream_options", '{"include_usage":true}');
  return edits.size === 0 ? body : splice(body, body.indexOf("{"), members, edits);
}

function numberIn(body: Buffer, members: readonly Member[], key: string): number | undefined {
  const member = members.find((candidate) => candidate.key === key);
  return member === undefined ? undefined : Number(valueText(body, member));
}
