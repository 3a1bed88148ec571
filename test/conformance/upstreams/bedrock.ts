/** Amazon Bedrock's Converse as the strict upstream speaks it: framed streams, and requests that are signed. */
import { converseProblem } from "../../support/converse-rules.js";
import { type BedrockScript, isProven, messagesOf, whole } from "../../support/fake-bedrock.js";
import { type Call, type End, line, type Reply, type Seen } from "../scenario.js";
import { proofOf, proves } from "./anthropic.js";
import { type Answering, type Json, object, objects, type Received, type Speaker } from "./scripted-upstream.js";

const STOPS: Readonly<Record<End, string>> = {
  end: "end_turn",
  stop: "stop_sequence",
  length: "max_tokens",
  calls: "tool_use",
  blocked: "content_filtered",
};
const PATH = /^\/model\/([^/]+)\/converse(-stream)?$/;

export const bedrockSpeaker: Speaker = {
  isProven: ({ url, headers, raw }) => isProven({ method: "POST", url, headers }, raw),
  problem: ({ url, body }) => (PATH.test(url) ? (converseProblem(body) ?? proofProblem(body)) : `no such page: ${url}`),
  refusal: (_status, message) => ({ message }),
  refusalHeaders: { "x-amzn-errortype": "ValidationException:http://internal.amazon.com/" },
  model: modelOf,
  isStream: ({ url }) => url.endsWith("/converse-stream"),
  read: readRequest,
  whole: (answering) => whole(scriptOf(answering)),
  stream: (answering) => Buffer.concat(messagesOf(scriptOf(answering))),
  streamType: "application/vnd.amazon.eventstream",
};

function modelOf({ url }: Received): string {
  return decodeURIComponent(PATH.exec(url)?.[1] ?? "");
}

/** What was thought comes back with its own proof alone. */
function proofProblem(body: Json): string | undefined {
  const blocks = objects(body["messages"]).flatMap(({ content }) => objects(content));
  const wrong = blocks.some(({ reasoningContent }) => {
    const told = object(object(reasoningContent)["reasoningText"]);
    return reasoningContent !== undefined && !proves(told["signature"], String(told["text"]));
  });
  return wrong ? "The signature of the reasoning content is not valid" : undefined;
}

function scriptOf({ reply, id }: Answering): BedrockScript {
  const { thinking, text = "", calls = [], stopString } = reply;
  const content: Json[] = [
    ...(thinking === undefined
      ? []
      : [{ reasoningContent: { reasoningText: { text: thinking, signature: proofOf(id, thinking) } } }]),
    ...(text === "" ? [] : [{ text }]),
    ...calls.map((call, place) => ({
      toolUse: { toolUseId: `tooluse_${id}_${place}`, name: call.name, input: call.arguments },
    })),
  ];
  return {
    content,
    stopReason: STOPS[reply.end],
    ...(stopString === undefined ? {} : { stopString }),
    usage: usageOf(reply),
  };
}

function usageOf({ tokens }: Reply): Json {
  const { input, cacheRead, output, reasoning } = tokens;
  return {
    inputTokens: input,
    outputTokens: output + reasoning,
    totalTokens: input + cacheRead + output + reasoning,
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: 0,
  };
}

function readRequest(body: Json): Seen {
  const calls = new Map<string, Call>();
  const config = object(body["inferenceConfig"]);
  const structure = object(object(object(body["outputConfig"])["textFormat"])["structure"]);
  const schema = object(structure["jsonSchema"])["schema"];
  const thinking = object(object(body["additionalModelRequestFields"])["thinking"])["type"];
  return {
    said: [
      ...objects(body["system"]).map(({ text }) => line.system(String(text))),
      ...objects(body["messages"]).flatMap(({ role, content }) =>
        objects(content).flatMap((block) => readBlock(block, role === "assistant", calls)),
      ),
    ],
    tools: objects(object(body["toolConfig"])["tools"]).map(({ toolSpec }) => {
      const { name, description, inputSchema } = object(toolSpec);
      const parameters = object(object(inputSchema)["json"]);
      return { name: String(name), description: String(description), parameters };
    }),
    // The schema is a text here.
    schema: schema === undefined ? undefined : (JSON.parse(String(schema)) as unknown),
    stop: (config["stopSequences"] ?? []) as string[],
    outputTokensMax: config["maxTokens"] as number | undefined,
    thinks: thinking === "enabled" || thinking === "adaptive",
  };
}

function readBlock(block: Json, isModel: boolean, calls: Map<string, Call>): string[] {
  const [kind = ""] = Object.keys(block);
  const value = object(block[kind]);
  switch (kind) {
    case "text": {
      const text = String(block["text"]);
      return [isModel ? line.model(text) : line.user(text)];
    }
    case "reasoningContent":
      return [line.thought(String(object(value["reasoningText"])["text"]))];
    case "image":
      return [line.image(`image/${String(value["format"])}`, String(object(value["source"])["bytes"]))];
    case "toolUse": {
      const call = { name: String(value["name"]), arguments: object(value["input"]) };
      calls.set(String(value["toolUseId"]), call);
      return [line.call(call)];
    }
    case "toolResult": {
      const texts = objects(value["content"]).map(({ text, json }) => String(text ?? JSON.stringify(json)));
      return [line.result(calls.get(String(value["toolUseId"])), texts.join(""))];
    }
    default:
      return [`something else: ${JSON.stringify(block)}`];
  }
}
