/** OpenAI's official client with its responses, and its strict helper of streams. */
import OpenAI from "openai";
import { type End, PNG, type Say, type Settings, type Told } from "../scenario.js";
import type { Client, Conversation, Opening } from "./client.js";

type Input = OpenAI.Responses.ResponseInputItem;
type Answer = OpenAI.Responses.Response;

export const openAiResponses: Client = {
  name: "openai, responses",
  format: "responses",
  showsThinking: true,
  returnsThinking: true,
  showsExplanation: true,
  endOfSpokenRefusal: "end",
  showsStop: false,
  cannotAsk: [],
  open: (opening) => new Talk(opening),
};

class Talk implements Conversation {
  private readonly client: OpenAI;
  private readonly input: Input[] = [];
  private callIds: readonly string[] = [];

  constructor(private readonly opening: Opening) {
    this.client = new OpenAI({ baseURL: `${opening.url}/v1`, apiKey: opening.secret, maxRetries: 0 });
  }

  async say(say: Say): Promise<Told> {
    this.input.push(...itemsOf(say, this.callIds));
    const { model, settings, isStream } = this.opening;
    const body = { model, input: this.input, store: false, ...settingsOf(settings) };
    const { responses } = this.client;
    const answer: Answer = isStream ? await responses.stream(body).finalResponse() : await responses.create(body);
    this.input.push(...(answer.output as Input[]));
    const calls = answer.output.flatMap((item) => (item.type === "function_call" ? [item] : []));
    this.callIds = calls.map(({ call_id: id }) => id);
    const parts = answer.output.flatMap((item) => (item.type === "message" ? item.content : []));
    const thoughts = answer.output.flatMap((item) => (item.type === "reasoning" ? item.summary : []));
    const { usage } = answer;
    const cacheRead = usage?.input_tokens_details.cached_tokens ?? 0;
    return {
      thinking: thoughts.map(({ text }) => text).join(""),
      text: parts.map((part) => (part.type === "output_text" ? part.text : "")).join(""),
      refusal: parts.map((part) => (part.type === "refusal" ? part.refusal : "")).join(""),
      calls: calls.map(({ name, arguments: text }) => ({ name, arguments: JSON.parse(text) as {} })),
      end: endOf(answer, calls.length > 0),
      tokens: {
        input: (usage?.input_tokens ?? 0) - cacheRead,
        cacheRead,
        outputAndReasoning: usage?.output_tokens ?? 0,
        reasoning: usage?.output_tokens_details.reasoning_tokens ?? 0,
      },
    };
  }
}

function endOf({ status, incomplete_details: details }: Answer, hasCalls: boolean): End {
  if (status === "completed") return hasCalls ? "calls" : "end";
  if (status !== "incomplete") throw new Error(`an end that nobody expects: ${status}`);
  return details?.reason === "content_filter" ? "blocked" : "length";
}

function itemsOf({ text, image, results }: Say, callIds: readonly string[]): Input[] {
  if (results !== undefined)
    return results.map((output, place) => ({ type: "function_call_output", call_id: callIds[place] ?? "", output }));
  if (image !== true) return [{ role: "user", content: text ?? "" }];
  return [
    {
      role: "user",
      content: [
        { type: "input_text", text: text ?? "" },
        { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "auto" },
      ],
    },
  ];
}

function settingsOf({ system, tools, schema, stop, outputTokensMax, thinks }: Settings): object {
  return {
    ...(system === undefined ? {} : { instructions: system }),
    ...(tools === undefined ? {} : { tools: tools.map((tool) => ({ type: "function", ...tool, strict: true })) }),
    ...(schema === undefined
      ? {}
      : { text: { format: { type: "json_schema", name: "answer", strict: true, schema } } }),
    // The wire has no such field; a client that sends it all the same must not be ignored.
    ...(stop === undefined ? {} : { stop: [stop] }),
    ...(outputTokensMax === undefined ? {} : { max_output_tokens: outputTokensMax }),
    ...(thinks === true
      ? { reasoning: { effort: "high", summary: "auto" }, include: ["reasoning.encrypted_content"] }
      : {}),
  };
}
