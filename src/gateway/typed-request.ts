/** A request in the typed form, as services send it over gRPC. */
import { invalid } from "../api/check.js";
import { type Generation, type Image, type Part, type Prompt, Role } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import { checkPart, heldFile, refuseHeld } from "../wire/request/held-objects.js";
import { callsMaxOf, roundsMaxOf, type HostedTool } from "../wire/request/hosted-tools.js";
import { isPicture, mayBePicture } from "../wire/request/picture.js";
import { leftOutToolName, promptWithout } from "../wire/request/left-out-tools.js";
import { MESSAGES_MAX, MODEL_CHARACTERS_MAX, TOOLS_MAX } from "../wire/request/request-size.js";
import { SUMMING_UP } from "../wire/request/steering.js";
import { checkedJson } from "../wire/json/text.js";
import { objectOf, parsed } from "../wire/json/value.js";
import type { ClientWire, RequestFacts, WireRequest } from "../wire/wire.js";

const LABELS_MAX = 16;
const BIASES_MAX = 2_000;
const STOP_STRINGS_MAX = 16;
const CANDIDATES_MAX = 128;
const PROMPT = "generation.prompt";
/** How deep a prompt may nest: parts are in results, which are in messages. */
const DEPTH_MAX = 32;

/**
 * Makes the checks that a wire would make, and extracts the facts. `leftOut` names the tools that were removed from the
 * prompt. Throws PARAMETER_MISSING or PARAMETER_INVALID.
 */
export function typedRequest(
  generation: Generation,
  prompt: Prompt,
  stream: boolean,
  wires: ReadonlyMap<string, ClientWire>,
  leftOut: readonly string[] = [],
): WireRequest {
  if (generation.model === "") throw missing("generation.model");
  if (generation.model.length > MODEL_CHARACTERS_MAX) throw invalid("generation.model", "is too long");
  checkPrompt(prompt);
  // First, since it is also the bound of what the others go through.
  const textBytes = textBytesIn(prompt, 0) + framesOf(prompt);
  const counts = new PartCounts();
  for (const [index, { parts, extraJson }] of prompt.messages.entries()) {
    for (const part of parts) counts.add(part, `${PROMPT}.messages[${index}]`);
    if (extraJson !== undefined) checkPart(extraJson, `${PROMPT}.messages[${index}].extra_json`);
  }
  const hosted = hostedTools(prompt, wires);
  const facts: RequestFacts = {
    model: generation.model,
    stream,
    includeUsage: true,
    candidateCount: prompt.candidateCount ?? 1,
    outputTokensMax: undefined,
    textBytes,
    imageCount: counts.imageCount,
    fileCount: counts.fileCount + (hosted.length > 0 ? 1 : 0),
    audioCount: counts.audioCount,
    toolCount: prompt.tools.length,
    definedToolCount: prompt.tools.filter(({ kind }) => kind?.$case === "opaque").length,
    serviceTier: prompt.serviceTier,
    toolCallsMax: callsMaxOf(hosted),
    roundsMax: mayBeSummedUp(prompt) ? (roundsMaxOf(hosted) ?? 1) + 1 : roundsMaxOf(hosted),
  };
  return {
    facts,
    source: undefined,
    hosted,
    isPlain: counts.isPlain && isPlain(prompt),
    prompt: () => prompt,
    leftOut,
    without: (tools) => {
      const names = [...leftOut, ...tools.map(leftOutToolName)];
      return typedRequest(generation, promptWithout(prompt, PROMPT, tools), stream, wires, names);
    },
  };
}

/** The tools that only one wire has and that the upstream itself would run. */
function hostedTools(prompt: Prompt, wires: ReadonlyMap<string, ClientWire>): HostedTool[] {
  return prompt.tools.flatMap(({ kind }, place) => {
    if (kind?.$case !== "opaque") return [];
    const { wire, json } = kind.value;
    const param = `${PROMPT}.tools[${place}]`;
    const { readTool } = wires.get(wire) ?? {};
    // What nobody here can read may be a tool that the upstream runs, at a price that nobody knows.
    if (readTool === undefined) throw invalid(param, `no tool of the wire '${wire.slice(0, 64)}' can be read here`);
    const hosted = readTool(json, param);
    return hosted.map((tool) => Object.assign({ wire }, tool));
  });
}

/**
 * Bytes for the markers and separators with which upstreams and their templates delimit messages, calls and results.
 */
const FRAME_BYTES = 16;
/** Bytes for a result whose call is not in the prompt: some upstreams get it as text. */
const RESULT_FRAME_BYTES = 48;

function framesOf({ messages }: Prompt): number {
  let bytes = messages.length * FRAME_BYTES;
  for (const { parts } of messages) {
    for (const { kind } of parts) {
      if (kind?.$case === "toolCall") bytes += FRAME_BYTES;
      else if (kind?.$case === "toolResult") bytes += RESULT_FRAME_BYTES;
    }
  }
  return bytes;
}

/**
 * The bytes of all text in a message, in whichever field: so no new field can be forgotten. Media are counted
 * elsewhere, and numbers are not text. Throws PARAMETER_INVALID if it is nested too deep.
 */
function textBytesIn(value: unknown, depth: number): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return 0;
  if (depth > DEPTH_MAX) throw invalid(PROMPT, "is nested too deep");
  let bytes = 0;
  if (Array.isArray(value)) for (const item of value) bytes += textBytesIn(item, depth + 1);
  else for (const [name, inner] of Object.entries(value)) if (name !== "$case") bytes += textBytesIn(inner, depth + 1);
  return bytes;
}

/** True if an untyped field lets the upstream summarise its input and then read the summary. */
function mayBeSummedUp({ extra }: Prompt): boolean {
  if (extra === undefined || extra.json === "") return false;
  const members = objectOf(parsed(checkedJson(extra.json, `${PROMPT}.extra.json`) ?? ""));
  return Object.keys(members ?? {}).some((name) => SUMMING_UP.has(name));
}

/** True if nothing in the prompt except its parts could make an upstream read more than is counted here. */
function isPlain({ extra, messages, tools }: Prompt): boolean {
  const isSaidPlainly = messages.every(({ extraJson }) => extraJson === undefined);
  return extra === undefined && isSaidPlainly && tools.every(({ kind }) => kind?.$case !== "opaque");
}

class PartCounts {
  imageCount = 0;
  fileCount = 0;
  audioCount = 0;
  /** True while every part was text, or a call with its result. */
  isPlain = true;

  /** Throws PARAMETER_INVALID for a part that names an object stored at the upstream; `path` is that of its message. */
  add({ kind }: Part, path: string): void {
    switch (kind?.$case) {
      case "text":
      case "refusal":
      case "toolCall":
        return;
      case "toolResult":
        for (const inner of kind.value.parts) this.add(inner, path);
        return;
      case "thinking":
      case "redactedThinking":
        // A proof may be an id.
        this.isPlain = false;
        return;
      case "image":
      case "file":
      case "audio":
        this.isPlain = false;
        if (kind.value.source?.$case === "fileId") throw refuseHeld(heldFile(path));
        if (kind.$case === "audio") this.audioCount += 1;
        else if (kind.$case === "image" && isPictureIn(kind.value.source)) this.imageCount += 1;
        else this.fileCount += 1;
        return;
      case "opaque":
        checkPart(kind.value.json, path);
        // What it is only its own wire knows, so it may count as much as a file.
        this.isPlain = false;
        this.fileCount += 1;
        return;
      case undefined:
        throw invalid(`${PROMPT}.messages`, "holds a part of no kind");
      default:
        kind satisfies never;
    }
  }
}

function isPictureIn(source: Image["source"]): boolean {
  if (source?.$case === "inline") return isPicture(source.value.mediaType);
  return source?.$case === "url" && mayBePicture(source.value);
}

function checkPrompt(prompt: Prompt): void {
  if (prompt.messages.length === 0) throw missing(`${PROMPT}.messages`);
  if (prompt.messages.length > MESSAGES_MAX) throw invalid(`${PROMPT}.messages`, `must be at most ${MESSAGES_MAX}`);
  if (prompt.tools.length > TOOLS_MAX) throw invalid(`${PROMPT}.tools`, `must be at most ${TOOLS_MAX}`);
  atMost("tool_choice.names", prompt.toolChoice?.names.length ?? 0, TOOLS_MAX);
  atMost("metadata", Object.keys(prompt.metadata).length, LABELS_MAX);
  atMost("logit_bias", Object.keys(prompt.logitBias).length, BIASES_MAX);
  for (const [index, message] of prompt.messages.entries()) {
    if (
      message.role === Role.ROLE_UNSPECIFIED ||
      Role[message.role] === undefined ||
      message.role === Role.UNRECOGNIZED
    ) {
      throw invalid(`${PROMPT}.messages[${index}].role`, "must be a role that speaks");
    }
  }
  if (prompt.stop.length > STOP_STRINGS_MAX) throw invalid(`${PROMPT}.stop`, `must be at most ${STOP_STRINGS_MAX}`);
  within("candidate_count", prompt.candidateCount, 1, CANDIDATES_MAX);
  within("temperature", prompt.temperature, 0, 2);
  within("top_p", prompt.topP, 0, 1);
  within("presence_penalty", prompt.presencePenalty, -2, 2);
  within("frequency_penalty", prompt.frequencyPenalty, -2, 2);
  within("top_logprobs", prompt.topLogprobs, 0, 20);
}

function atMost(name: string, count: number, most: number): void {
  if (count > most) throw invalid(`${PROMPT}.${name}`, `must be at most ${most}`);
}

function within(name: string, value: number | undefined, least: number, most: number): void {
  // Written so that NaN fails too.
  if (value !== undefined && !(value >= least && value <= most)) {
    throw invalid(`${PROMPT}.${name}`, `must be from ${least} to ${most}`);
  }
}

function missing(param: string): GatewayError {
  return new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param });
}
