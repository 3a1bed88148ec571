/** OpenAI's official client with its chat completions, and its strict helper of streams. */
import OpenAI from "openai";
import { type End, PNG, type Say, type Settings, type Told } from "../scenario.js";
import { type Client, type Conversation, meaning, type Opening } from "./client.js";

type Message = OpenAI.ChatCompletionMessageParam;
type Body = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, "stream">;

const ENDS: Readonly<Record<string, End>> = {
  stop: "end",
  length: "length",
  tool_calls: "calls",
  content_filter: "blocked",
};

export const openAiChat: Client = {
  name: "openai, chat",
  format: "chat",
  showsThinking: true,
  returnsThinking: true,
  showsExplanation: true,
  endOfSpokenRefusal: "end",
  cannotAsk: [],
  showsStop: false,
  open: (opening) => new Chat(opening),
};

class Chat implements Conversation {
  private readonly client: OpenAI;
  private readonly messages: Message[] = [];
  private callIds: readonly string[] = [];

  constructor(private readonly opening: Opening) {
    this.client = new OpenAI({ baseURL: `${opening.url}/v1`, apiKey: opening.secret, maxRetries: 0 });
    const { system } = opening.settings;
    if (system !== undefined) this.messages.push({ role: "system", content: system });
  }

  async say(say: Say): Promise<Told> {
    this.messages.push(...messagesOf(say, this.callIds));
    const body = { model: this.opening.model, messages: this.messages, ...settingsOf(this.opening.settings) };
    const { completion, thinking } = this.opening.isStream ? await this.streamed(body) : await this.whole(body);
    const [choice] = completion.choices;
    if (choice === undefined || completion.choices.length > 1) throw new Error("not one choice");
    const { message } = choice;
    this.messages.push(message);
    const calls = (message.tool_calls ?? []).filter((call) => call.type === "function");
    this.callIds = calls.map(({ id }) => id);
    const { usage } = completion;
    const cacheRead = usage?.prompt_tokens_details?.cached_tokens ?? 0;
    return {
      thinking,
      text: message.content ?? "",
      refusal: message.refusal ?? "",
      calls: calls.map(({ function: { name, arguments: text } }) => ({
        name,
        arguments: JSON.parse(text) as object as {},
      })),
      end: meaning(ENDS, choice.finish_reason),
      tokens: {
        input: (usage?.prompt_tokens ?? 0) - cacheRead,
        cacheRead,
        outputAndReasoning: usage?.completion_tokens ?? 0,
        reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
      },
    };
  }

  private async whole(body: Body): Promise<Answered> {
    const completion = await this.client.chat.completions.create(body);
    return { completion, thinking: thoughtIn(completion.choices[0]?.message) };
  }

  private async streamed(body: Body): Promise<Answered> {
    const stream = this.client.chat.completions.stream({ ...body, stream_options: { include_usage: true } });
    // The helper runs together only what it knows, so thoughts are gathered here.
    let thinking = "";
    stream.on("chunk", (chunk) => (thinking += thoughtIn(chunk.choices[0]?.delta)));
    return { completion: await stream.finalChatCompletion(), thinking };
  }
}

interface Answered {
  readonly completion: OpenAI.ChatCompletion;
  readonly thinking: string;
}

function thoughtIn(message: object | undefined): string {
  const told: unknown = Reflect.get(message ?? {}, "reasoning_content") ?? Reflect.get(message ?? {}, "reasoning");
  return typeof told === "string" ? told : "";
}

function messagesOf({ text, image, results }: Say, callIds: readonly string[]): Message[] {
  if (results !== undefined)
    return results.map((content, place) => ({ role: "tool", tool_call_id: callIds[place] ?? "", content }));
  if (image !== true) return [{ role: "user", content: text ?? "" }];
  const url = `data:image/png;base64,${PNG}`;
  return [
    {
      role: "user",
      content: [
        { type: "text", text: text ?? "" },
        { type: "image_url", image_url: { url } },
      ],
    },
  ];
}

function settingsOf({ tools, schema, stop, outputTokensMax, thinks }: Settings): object {
  const format = { type: "json_schema", json_schema: { name: "answer", strict: true, schema } };
  return {
    ...(tools === undefined
      ? {}
      : { tools: tools.map((tool) => ({ type: "function", function: { ...tool, strict: true } })) }),
    ...(schema === undefined ? {} : { response_format: format }),
    ...(stop === undefined ? {} : { stop: [stop] }),
    ...(outputTokensMax === undefined ? {} : { max_completion_tokens: outputTokensMax }),
    ...(thinks === true ? { reasoning_effort: "high" } : {}),
  };
}
