/** What a cell of the matrix is about, told apart from any wire: what a client says, and what an upstream answers. */

export interface Call {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Why an answer ends: by itself, at a stop string, at the limit, for calls, or because it was withheld. */
export type End = "end" | "stop" | "length" | "calls" | "blocked";

/** Tokens in normal form: input without what was read from a cache, output without reasoning. */
export interface Tokens {
  readonly input: number;
  readonly cacheRead: number;
  readonly output: number;
  readonly reasoning: number;
}

/** What an upstream answers. */
export interface Reply {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly Call[];
  readonly refusal?: string;
  readonly end: End;
  /** The string that ended it. */
  readonly stopString?: string;
  readonly tokens: Tokens;
}

/** What a client says in one turn: words, a picture, or the results of the calls of the answer before, in order. */
export interface Say {
  readonly text?: string;
  readonly image?: boolean;
  readonly results?: readonly string[];
}

/** What a client asks of every turn of a conversation. */
export interface Settings {
  readonly system?: string;
  readonly tools?: readonly Tool[];
  /** JSON schema that the answer is bound to. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly stop?: string;
  readonly outputTokensMax?: number;
  /** True where the model shall think, much. */
  readonly thinks?: boolean;
}

/** One feature: a conversation. */
export interface Feature {
  readonly name: string;
  readonly settings: Settings;
  readonly turns: readonly { readonly say: Say; readonly reply: Reply }[];
}

/** What a client understood of an answer. */
export interface Told {
  readonly thinking: string;
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly Call[];
  readonly end: End;
  /** The whole output; of it `reasoning`, where the client is told. */
  readonly tokens: {
    readonly input: number;
    readonly cacheRead: number;
    readonly outputAndReasoning: number;
    readonly reasoning: number | undefined;
  };
}

/** What an upstream understood of a request. */
export interface Seen {
  /** The conversation, a line for each thing that is said. */
  readonly said: readonly string[];
  readonly tools: readonly Tool[];
  readonly schema: unknown;
  readonly stop: readonly string[];
  readonly outputTokensMax: number | undefined;
  readonly thinks: boolean;
}

/** The lines of `Seen.said`, written in one place so that all wires tell them alike. */
export const line = {
  system: (text: string): string => `system: ${text}`,
  user: (text: string): string => `user: ${text}`,
  image: (mediaType: string, base64: string): string => `user shows: ${mediaType} ${base64}`,
  model: (text: string): string => `model: ${text}`,
  thought: (text: string): string => `model thinks: ${text}`,
  call: (call: Call): string => `model calls: ${call.name} ${JSON.stringify(call.arguments)}`,
  /** A call whose signature was lost on the way, and which says so in the upstream's own word for that. */
  unsigned: (call: Call): string => `${line.call(call)}, its signature lost`,
  result: (call: Call | undefined, text: string): string =>
    `result of ${call === undefined ? "an unknown call" : `${call.name} ${JSON.stringify(call.arguments)}`}: ${text}`,
};

/** A dot that is red: 1 pixel by 1, so that an upstream that looks sees a picture. */
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";
