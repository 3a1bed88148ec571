/** Google's Gemini API as the strict upstream speaks it. */
import { geminiProblem, SENTINEL, SIGNATURE } from "../../support/gemini-rules.js";
import { type Call, type End, line, type Reply, type Seen } from "../scenario.js";
import {
  type Answering,
  fragments,
  type Json,
  object,
  objects,
  type Received,
  SECRET,
  type Speaker,
} from "./scripted-upstream.js";

const FINISH: Readonly<Record<End, string>> = {
  end: "STOP",
  stop: "STOP",
  length: "MAX_TOKENS",
  calls: "STOP",
  blocked: "SAFETY",
};

export const geminiSpeaker: Speaker = {
  isProven: ({ headers }) => headers["x-goog-api-key"] === SECRET,
  problem: (received) => geminiProblem(modelOf(received), received.body),
  refusal: (status, message) => ({ error: { code: status, message, status: "INVALID_ARGUMENT" } }),
  model: modelOf,
  isStream: ({ url }) => url.includes(":streamGenerateContent?alt=sse"),
  read: readRequest,
  whole: (answering) => {
    const parts = partsOf(answering);
    const content = parts.length === 0 ? {} : { content: { parts, role: "model" } };
    const candidates = [{ ...content, finishReason: FINISH[answering.reply.end], index: 0 }];
    return { candidates, usageMetadata: usageOf(answering.reply), ...top(answering) };
  },
  stream: (answering) => {
    const { reply } = answering;
    const usageMetadata = usageOf(reply);
    const chunk = (candidate: object): object => ({ candidates: [candidate], usageMetadata, ...top(answering) });
    const chunks = [
      ...partsOf(answering)
        .flatMap(inPieces)
        .map((part) => chunk({ content: { parts: [part], role: "model" }, index: 0 })),
      // The end brings an empty text, or no content at all where the answer is withheld.
      chunk({
        ...(reply.end === "blocked" ? {} : { content: { parts: [{ text: "" }], role: "model" } }),
        finishReason: FINISH[reply.end],
        index: 0,
      }),
    ];
    return chunks.map((told) => `data: ${JSON.stringify(told)}\r\n\r\n`).join("");
  },
};

/** Where a project's models are on Google's cloud, and how their paths begin. */
export const VERTEX_PATH = "/v1/projects/my-project/locations/us-central1";

/** The same on Google's cloud: under a project's address, with a token in place of a key. */
export const vertexSpeaker: Speaker = {
  ...geminiSpeaker,
  isProven: ({ headers }) => /^Bearer token-\d+$/.test(String(headers["authorization"])),
  problem: (received) =>
    received.url.startsWith(`${VERTEX_PATH}/publishers/google/models/`)
      ? geminiSpeaker.problem(received)
      : `no such address: ${received.url}`,
};

function modelOf({ url }: Received): string {
  return decodeURIComponent(/models\/([^:]+):/.exec(url)?.[1] ?? "");
}

function top({ id, model }: Answering): object {
  return { modelVersion: model, responseId: id };
}

function usageOf({ tokens }: Reply): object {
  const { input, cacheRead, output, reasoning } = tokens;
  return {
    promptTokenCount: input + cacheRead,
    cachedContentTokenCount: cacheRead,
    candidatesTokenCount: output,
    ...(reasoning === 0 ? {} : { thoughtsTokenCount: reasoning }),
    totalTokenCount: input + cacheRead + output + reasoning,
  };
}

/** Calls come without ids, and the first of a step brings the signature. */
function partsOf({ reply, id, model }: Answering): Json[] {
  const { thinking, text = "", calls = [] } = reply;
  const thoughtSignature = `${SIGNATURE}${Buffer.from(id).toString("base64")}`;
  const isSigned = model.startsWith("gemini-3");
  return [
    ...(thinking === undefined ? [] : [{ text: thinking, thought: true }]),
    ...(text === "" ? [] : [{ text }]),
    ...calls.map((call, place) => {
      const functionCall = { name: call.name, args: call.arguments };
      return place === 0 && isSigned ? { functionCall, thoughtSignature } : { functionCall };
    }),
  ];
}

/** A part as a stream brings it: its text in fragments. */
function inPieces(part: Json): Json[] {
  if (typeof part["text"] !== "string") return [part];
  return fragments(part["text"]).map((text) => Object.assign({}, part, { text }));
}

/** A call of the conversation, until its result comes. */
interface OpenCall {
  readonly id: unknown;
  readonly call: Call;
  isAnswered: boolean;
}

function readRequest(body: Json): Seen {
  const config = object(body["generationConfig"]);
  const thinking = object(config["thinkingConfig"]);
  const open: OpenCall[] = [];
  const parts = objects(body["contents"]).flatMap(({ role, parts: told }) =>
    objects(told).map((part): Json => Object.assign({ role: role ?? "user" }, part)),
  );
  return {
    said: [
      ...objects(object(body["systemInstruction"])["parts"]).map(({ text }) => line.system(String(text))),
      ...inRuns(parts).flatMap((part) => readPart(part, open)),
    ],
    tools: objects(body["tools"])
      .flatMap((tool) => objects(tool["functionDeclarations"]))
      .map(({ name, description, parametersJsonSchema: schema }) => ({
        name: String(name),
        description: String(description),
        parameters: object(schema),
      })),
    schema: config["responseJsonSchema"],
    stop: (config["stopSequences"] ?? []) as string[],
    outputTokensMax: config["maxOutputTokens"] as number | undefined,
    thinks: thinking["thinkingLevel"] === "HIGH" || Number(thinking["thinkingBudget"] ?? 0) > 0,
  };
}

/** Texts of the model that go on in one another, as clients send back what came in a stream. */
function inRuns(parts: readonly Json[]): Json[] {
  const runs: Json[] = [];
  for (const part of parts) {
    const last = runs.at(-1);
    const goesOn =
      part["role"] === "model" && last?.["role"] === "model" && last["thought"] === part["thought"] && "text" in part;
    if (goesOn && "text" in last)
      runs[runs.length - 1] = { ...last, text: `${String(last["text"])}${String(part["text"])}` };
    else runs.push(part);
  }
  return runs;
}

function readPart(part: Json, open: OpenCall[]): string[] {
  const { text, role } = part;
  if (typeof text === "string") {
    if (text === "") return [];
    if (part["thought"] === true) return [line.thought(text)];
    return [role === "model" ? line.model(text) : line.user(text)];
  }
  if (part["inlineData"] !== undefined) {
    const { mimeType, data } = object(part["inlineData"]);
    return [line.image(String(mimeType), String(data))];
  }
  if (part["functionCall"] !== undefined) {
    const { id, name, args } = object(part["functionCall"]);
    const call = { name: String(name), arguments: object(args) };
    open.push({ id, call, isAnswered: false });
    return [part["thoughtSignature"] === SENTINEL ? line.unsigned(call) : line.call(call)];
  }
  if (part["functionResponse"] === undefined) return [`something else: ${JSON.stringify(part)}`];
  const { id, name, response } = object(part["functionResponse"]);
  // The real one goes by the order of calls of one name where there are no ids.
  const fits = ({ id: known, call, isAnswered }: OpenCall): boolean =>
    !isAnswered && call.name === name && (id === undefined || known === undefined || id === known);
  const answered = open.find(fits);
  if (answered !== undefined) answered.isAnswered = true;
  return [line.result(answered?.call, String(object(response)["output"] ?? JSON.stringify(response)))];
}
