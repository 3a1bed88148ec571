/** Anthropic's official client, of today and the major before, with its strict helper of streams. */
import Anthropic from "@anthropic-ai/sdk";
import OlderAnthropic from "anthropic-sdk-0";
import { type End, PNG, type Say, type Settings, type Told } from "../scenario.js";
import { type Client, type Conversation, meaning, type Opening } from "./client.js";

const ENDS: Readonly<Record<string, End>> = {
  end_turn: "end",
  stop_sequence: "stop",
  max_tokens: "length",
  tool_use: "calls",
  refusal: "blocked",
};

const CAN: Omit<Client, "name" | "open"> = {
  format: "messages",
  showsThinking: true,
  returnsThinking: true,
  showsExplanation: true,
  endOfSpokenRefusal: "blocked",
  cannotAsk: [],
  showsStop: true,
};

type Body = Anthropic.MessageCreateParamsNonStreaming;

/** What both majors can; they differ in their types, and not in what is read here. */
interface Messages {
  create(body: Body): Promise<Anthropic.Message>;
  stream(body: Body): { finalMessage(): Promise<Anthropic.Message> };
}

const options = ({ url, secret }: Opening): { baseURL: string; apiKey: string; maxRetries: number } => ({
  baseURL: url,
  apiKey: secret,
  maxRetries: 0,
});

export const anthropic: Client = {
  ...CAN,
  name: "@anthropic-ai/sdk 1",
  open: (opening) => new Talk(opening, new Anthropic(options(opening)).messages),
};

export const olderAnthropic: Client = {
  ...CAN,
  name: "@anthropic-ai/sdk 0",
  open: (opening) => {
    const messages: unknown = new OlderAnthropic(options(opening)).messages;
    return new Talk(opening, messages as Messages);
  },
};

class Talk implements Conversation {
  private readonly turns: Anthropic.MessageParam[] = [];
  private callIds: readonly string[] = [];

  constructor(
    private readonly opening: Opening,
    private readonly messages: Messages,
  ) {}

  async say(say: Say): Promise<Told> {
    this.turns.push({ role: "user", content: contentOf(say, this.callIds) });
    const { model, settings, isStream } = this.opening;
    const body: Body = { model, messages: this.turns, ...settingsOf(settings) };
    const message = isStream ? await this.messages.stream(body).finalMessage() : await this.messages.create(body);
    const { content, usage, stop_reason: reason } = message;
    this.turns.push({ role: "assistant", content });
    const uses = content.flatMap((block) => (block.type === "tool_use" ? [block] : []));
    this.callIds = uses.map(({ id }) => id);
    const details: unknown = Reflect.get(Object(Reflect.get(usage, "output_tokens_details")), "thinking_tokens");
    const explanation: unknown = Reflect.get(Object(Reflect.get(message, "stop_details")), "explanation");
    return {
      thinking: content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
      text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      refusal: typeof explanation === "string" ? explanation : "",
      calls: uses.map(({ name, input }) => ({ name, arguments: input as {} })),
      end: meaning(ENDS, reason),
      tokens: {
        input: usage.input_tokens,
        cacheRead: usage.cache_read_input_tokens ?? 0,
        outputAndReasoning: usage.output_tokens,
        reasoning: typeof details === "number" ? details : 0,
      },
    };
  }
}

function contentOf({ text, image, results }: Say, callIds: readonly string[]): Anthropic.MessageParam["content"] {
  if (results !== undefined)
    return results.map((content, place) => ({ type: "tool_result", tool_use_id: callIds[place] ?? "", content }));
  if (image !== true) return text ?? "";
  return [
    { type: "text", text: text ?? "" },
    { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
  ];
}

function settingsOf({
  system,
  tools,
  schema,
  stop,
  outputTokensMax,
  thinks,
}: Settings): Omit<Body, "model" | "messages"> {
  const config = {
    ...(thinks === true ? { effort: "high" as const } : {}),
    ...(schema === undefined ? {} : { format: { type: "json_schema" as const, schema } }),
  };
  return {
    max_tokens: outputTokensMax ?? 1000,
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({
            name,
            description,
            input_schema: { type: "object" as const, ...parameters },
          })),
        }),
    ...(stop === undefined ? {} : { stop_sequences: [stop] }),
    ...(thinks === true ? { thinking: { type: "adaptive" as const } } : {}),
    ...(Object.keys(config).length === 0 ? {} : { output_config: config }),
  };
}
