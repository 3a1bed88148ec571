/** What servers of OpenAI's wires tell with every chunk of all that came so far. */
export type RunningCount = (counts: {
  readonly input: number;
  readonly output: number;
}) => Readonly<Record<string, unknown>>;

/** Of llama.cpp, and of vLLM. */
export const RUNNING: readonly RunningCount[] = [
  ({ input, output }) => ({ timings: { cache_n: 2, prompt_n: input - 2, predicted_n: output } }),
  ({ input, output }) => ({
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  }),
];
