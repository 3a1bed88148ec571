/** A request in the typed form, as services send it over gRPC. */
import { invalid } from "../api/check.js";
import { type Generation, type Part, type Prompt, Role } from "../api/index.js";
import { GatewayError } from "../errors.js";
import { checkPart, heldFile, refuseHeld } from "../wire/request/held-objects.js";
import { callsMaxOf, roundsMaxOf, type HostedTool } from "../wire/request/hosted-tools.js";
import type { ClientWire, RequestFacts, WireRequest } from "../wire/wire.js";

const MODEL_LENGTH_MAX = 256;
const MESSAGES_MAX = 100_000;
/** As in a body. */
const TOOLS_MAX = 2_000;
const STOP_STRINGS_MAX = 16;
const CANDIDATES_MAX = 128;
const PROMPT = "generation.prompt";

/** Checks what a wire would have checked, and takes the facts. Throws PARAMETER_MISSING or PARAMETER_INVALID. */
export function typedRequest(
  generation: Generation,
  prompt: Prompt,
  stream: boolean,
  wires: ReadonlyMap<string, ClientWire>,
): WireRequest {
  if (generation.model === "") throw missing("generation.model");
  if (generation.model.length > MODEL_LENGTH_MAX) throw invalid("generation.model", "is too long");
  checkPrompt(prompt);
  const sizes = new Sizes();
  for (const [index, { parts, name = "", extraJson = "" }] of prompt.messages.entries()) {
    for (const part of parts) sizes.add(part, `${PROMPT}.messages[${index}]`);
    if (extraJson !== "") checkPart(extraJson, `${PROMPT}.messages[${index}].extra_json`);
    sizes.textBytes += Buffer.byteLength(name) + Buffer.byteLength(extraJson);
  }
  sizes.textBytes += Buffer.byteLength(prompt.extra?.json ?? "");
  for (const tool of prompt.tools) sizes.textBytes += Buffer.byteLength(JSON.stringify(tool));
  // Role marks and separators take a few tokens of each message; sixteen bytes are more.
  sizes.textBytes += prompt.messages.length * 16;
  if (prompt.outputFormat?.kind?.$case === "jsonSchema") {
    sizes.textBytes += Buffer.byteLength(prompt.outputFormat.kind.value.schemaJson ?? "");
  }
  const hosted = hostedTools(prompt, wires);
  const facts: RequestFacts = {
    model: generation.model,
    stream,
    includeUsage: true,
    candidateCount: prompt.candidateCount ?? 1,
    outputTokensMax: undefined,
    textBytes: sizes.textBytes,
    imageCount: sizes.imageCount,
    fileCount: sizes.fileCount + (hosted.length > 0 ? 1 : 0),
    audioCount: sizes.audioCount,
    toolCount: prompt.tools.length,
    definedToolCount: prompt.tools.filter(({ kind }) => kind?.$case === "opaque").length,
    serviceTier: prompt.serviceTier,
    toolCallsMax: callsMaxOf(hosted),
    roundsMax: roundsMaxOf(hosted),
  };
  return { facts, source: undefined, hosted, prompt: () => prompt };
}

/** Tools that only their own wire knows, as far as the upstream would run them. */
function hostedTools(prompt: Prompt, wires: ReadonlyMap<string, ClientWire>): HostedTool[] {
  return prompt.tools.flatMap(({ kind }, place) => {
    if (kind?.$case !== "opaque") return [];
    const { wire, json } = kind.value;
    const hosted = wires.get(wire)?.readTool?.(json, `${PROMPT}.tools[${place}]`) ?? [];
    return hosted.map((tool) => Object.assign({ wire }, tool));
  });
}

class Sizes {
  textBytes = 0;
  imageCount = 0;
  fileCount = 0;
  audioCount = 0;

  /** Throws PARAMETER_INVALID for a part that names what the upstream keeps; `path` is its message's. */
  add(part: Part, path: string): void {
    const kind = part.kind;
    switch (kind?.$case) {
      case "image":
        if (kind.value.source?.$case === "fileId") throw refuseHeld(heldFile(path));
        this.imageCount += 1;
        return;
      case "file":
        if (kind.value.source?.$case === "fileId") throw refuseHeld(heldFile(path));
        this.fileCount += 1;
        return;
      case "audio":
        this.audioCount += 1;
        return;
      case "toolResult":
        for (const inner of kind.value.parts) this.add(inner, path);
        this.textBytes += 16;
        return;
      case "text":
      case "thinking":
      case "refusal":
        this.textBytes += Buffer.byteLength(kind.value.text);
        return;
      case "toolCall":
        this.textBytes += Buffer.byteLength(kind.value.name) + Buffer.byteLength(kind.value.arguments) + 16;
        return;
      case "redactedThinking":
        this.textBytes += Buffer.byteLength(kind.value.data);
        return;
      case "opaque":
        checkPart(kind.value.json, path);
        // What it is only its own wire knows, so it may count as much as a file.
        this.textBytes += Buffer.byteLength(kind.value.json);
        this.fileCount += 1;
        return;
      case undefined:
        throw invalid(`${PROMPT}.messages`, "holds a part of no kind");
      default:
        kind satisfies never;
    }
  }
}

function checkPrompt(prompt: Prompt): void {
  if (prompt.messages.length === 0) throw missing(`${PROMPT}.messages`);
  if (prompt.messages.length > MESSAGES_MAX) throw invalid(`${PROMPT}.messages`, `must be at most ${MESSAGES_MAX}`);
  if (prompt.tools.length > TOOLS_MAX) throw invalid(`${PROMPT}.tools`, `must be at most ${TOOLS_MAX}`);
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

function within(name: string, value: number | undefined, least: number, most: number): void {
  // Written so that NaN fails too.
  if (value !== undefined && !(value >= least && value <= most)) {
    throw invalid(`${PROMPT}.${name}`, `must be from ${least} to ${most}`);
  }
}

function missing(param: string): GatewayError {
  return new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param });
}
