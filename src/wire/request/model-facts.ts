/** What is known of a model. */

/**
 * What a model can, as far as it is known: a mapping asks this, never the model's name. What is absent is unknown, and
 * each wire says what it then takes for safe.
 */
export interface ModelFacts {
  readonly contextTokens?: number | undefined;
  /** The most output tokens of one answer. */
  readonly outputTokensMax?: number | undefined;
  /** True where it sees pictures. */
  readonly images?: boolean | undefined;
  /** True where it calls tools. */
  readonly tools?: boolean | undefined;
  /** True where it can be made to call a tool. */
  readonly forcedTools?: boolean | undefined;
  /** True where answers and arguments can be bound to a schema. */
  readonly schemas?: boolean | undefined;
  /** Whether temperature and top_p are taken: both, only one of them at a time, or none. */
  readonly sampling?: "both" | "one" | "none" | undefined;
  /** How it is told to think: by itself, by named efforts, by a budget of tokens, on or off, always, or not at all. */
  readonly thinking?: "adaptive" | "effort" | "budget" | "switch" | "always" | "none" | undefined;
  /** True where it thinks unless it is told not to. */
  readonly thinksUnasked?: boolean | undefined;
  /** What keeps it from thinking; `effort` where nothing does, and the lowest effort is the nearest. */
  readonly withoutThinking?: "disabled" | "between_tools" | "effort" | undefined;
  /** The efforts that it knows, from the lowest. */
  readonly efforts?: readonly string[] | undefined;
  /** The budget of tokens that stands for each effort, for a model that is told to think by one. */
  readonly budgets?: Readonly<Record<string, number>> | undefined;
  /** True where it goes on with the model's own last message. */
  readonly prefill?: boolean | undefined;
  /** True where instructions may stand amid the conversation. */
  readonly systemTurns?: boolean | undefined;
  /** True where a call of a tool that is told again must bring the proof that it came with. */
  readonly signedCalls?: boolean | undefined;
  /** True where the result of a tool may hold pictures. */
  readonly resultImages?: boolean | undefined;
  /** True where its prompts are cached up to marks that stand in them. */
  readonly cacheMarks?: boolean | undefined;
  /** It caches no shorter beginning of a prompt, in tokens: a mark on one does nothing. */
  readonly cachedTokensMin?: number | undefined;
  /** True where it answers as a stream alone. */
  readonly streamOnly?: boolean | undefined;
}
