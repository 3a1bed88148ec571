/** What servers answer where they cannot take a request: as each sends it, with what it means. */
import type { RefusalKind } from "../../../src/wire/error/upstream-refusal.js";

export interface ServerRefusal {
  readonly server: string;
  readonly status: number;
  readonly body: object;
  readonly kind: RefusalKind;
  /** The counts of a context, where the server tells them. */
  readonly actual?: string;
  readonly limit?: string;
}

type Row = readonly [
  server: string,
  status: number,
  message: string,
  counts?: readonly [actual: number | undefined, limit?: number],
];

const openAi = (status: number, message: string, more: object = {}): object => ({
  error: { message, type: status >= 500 ? "server_error" : "invalid_request_error", param: null, code: null, ...more },
});

const CONTEXT: readonly Row[] = [
  [
    "llama.cpp",
    400,
    "request (5021 tokens) exceeds the available context size (4096 tokens), try increasing it",
    [5021, 4096],
  ],
  ["llama.cpp of 2025", 400, "the request exceeds the available context size, try increasing it"],
  [
    "llama.cpp of 2025",
    500,
    "the request exceeds the available context size. try increasing the context size or enable context shift",
  ],
  [
    "llama.cpp, vectors",
    500,
    "input (1802 tokens) is too large to process. increase the physical batch size (current batch size: 512)",
    [1802, 512],
  ],
  ["llama.cpp, older vectors", 500, "input is too large to process. increase the physical batch size"],
  [
    "vLLM",
    400,
    "This model's maximum context length is 4096 tokens. However, you requested 5121 tokens (5021 in the messages, 100 in the completion). Please reduce the length of the messages or completion.",
    [5121, 4096],
  ],
  [
    "vLLM of 2025",
    400,
    "This model's maximum context length is 4096 tokens. However, your request has 5021 input tokens. Please reduce the length of the input messages.",
    [5021, 4096],
  ],
  [
    "vLLM of 2026",
    400,
    "You passed 5021 input tokens and requested 100 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 3996 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=5021)",
    [5021, 4096],
  ],
  [
    "vLLM, its engine",
    400,
    "The decoder prompt (length 5021) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.",
    [5021, 4096],
  ],
  [
    "vLLM, older",
    400,
    "The prompt (total length 5021) is too long to fit into the model (context length 4096).",
    [5021, 4096],
  ],
  ["SGLang", 400, "The input (5021 tokens) is longer than the model's context length (4096 tokens).", [5021, 4096]],
  [
    "SGLang, with its output",
    400,
    "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5121 tokens: 5021 tokens from the input messages and 100 tokens for the completion.",
    [5121, 4096],
  ],
  [
    "SGLang, its scheduler",
    400,
    "Input length (5021 tokens) exceeds the maximum allowed length (4090 tokens). Use a shorter input or enable --allow-auto-truncate.",
    [5021, 4090],
  ],
  [
    "TGI",
    422,
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5021 `inputs` tokens and 20 `max_new_tokens`",
    [5021, 4096],
  ],
  [
    "TGI, its input",
    422,
    "Input validation error: `inputs` must have less than 4095 tokens. Given: 5021",
    [5021, 4095],
  ],
  ["Ollama", 400, "the input length exceeds the context length"],
  ["Ollama, older", 500, "input length exceeds maximum context length"],
  ["Ollama's cloud", 400, "prompt too long; exceeded max context length by 925 tokens"],
  [
    "LM Studio",
    400,
    "Trying to keep the first 5021 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input",
    [5021, 4096],
  ],
  [
    "LM Studio of 2026",
    400,
    "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 5021>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.",
    [5021, 4096],
  ],
  [
    "transformers",
    500,
    "Input length of input_ids is 5021, but `max_length` is set to 4096. This can lead to unexpected behavior.",
    [5021, 4096],
  ],
  [
    "OpenAI",
    400,
    "This model's maximum context length is 4096 tokens. However, your messages resulted in 5021 tokens. Please reduce the length of the messages.",
    [5021, 4096],
  ],
  [
    "OpenAI's responses",
    400,
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
  ],
  [
    "OpenRouter",
    400,
    "This endpoint's maximum context length is 4096 tokens. However, you requested about 5021 tokens (5001 of text input, 20 in the output).",
    [5021, 4096],
  ],
  [
    "Mistral",
    400,
    "Prompt contains 5021 tokens and 0 draft tokens, too large for model with 4096 maximum context length",
    [5021, 4096],
  ],
  ["xAI", 400, "This model's maximum prompt length is 4096 but the request contains 5021 tokens.", [5021, 4096]],
  ["Moonshot", 400, "Invalid request: Your request exceeded model token limit: 4096 (requested: 5021)", [5021, 4096]],
  [
    "Cerebras",
    400,
    "Please reduce the length of the messages or completion. Current length is 5021 while limit is 4096",
    [5021, 4096],
  ],
  ["Fireworks", 400, "The prompt is too long: 5021, model maximum context length: 4096", [5021, 4096]],
  ["Copilot", 400, "prompt token count of 5021 exceeds the limit of 4096", [5021, 4096]],
  [
    "Azure",
    400,
    "Input tokens exceed the configured limit of 4096 tokens. Your messages resulted in 5021 tokens. Please reduce the length of the messages.",
    [5021, 4096],
  ],
  [
    "Qwen",
    400,
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 4096]",
    [undefined, 4096],
  ],
  ["Z.ai", 400, "Prompt exceeds max length"],
  ["MiniMax", 400, "invalid params, context window exceeds limit (2013)"],
  ["Anthropic", 400, "prompt is too long: 5021 tokens > 4096 maximum", [5021, 4096]],
  [
    "Anthropic, with its output",
    400,
    "input length and `max_tokens` exceed context limit: 4000 + 1021 > 4096, decrease input length or `max_tokens` and try again",
  ],
  ["Google", 400, "The input token count (5021) exceeds the maximum number of tokens allowed (4096).", [5021, 4096]],
  [
    "Vertex",
    400,
    "Unable to submit request because the input token count is 5021 but model only supports up to 4096.",
    [5021, 4096],
  ],
  ["Bedrock", 400, "Input is too long for requested model."],
  [
    "Amazon Nova",
    400,
    "Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.",
  ],
];

const FEATURE: readonly Row[] = [
  ["llama.cpp", 500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"],
  ["llama.cpp", 500, "audio input is not supported - hint: if this is unexpected, you may need to provide the mmproj"],
  ["llama.cpp", 501, "This server does not support embeddings. Start it with `--embeddings`"],
  ["llama.cpp", 400, "Failed to initialize samplers: std::exception"],
  ["llama.cpp", 500, "tools param requires --jinja flag"],
  ["Ollama", 400, "registry.ollama.ai/library/gemma:2b does not support tools"],
  ["Ollama", 500, '"gemma:2b" does not support thinking'],
  ["Ollama", 500, "this model is missing data required for image input"],
  ["vLLM", 500, "xgrammar failed: The grammar is invalid at line 3"],
  ["vLLM", 400, "Failed to convert the grammar from GBNF"],
  ["vLLM", 400, "The model does not support Embeddings API"],
  ["vLLM", 400, "At most 0 image(s) may be provided in one prompt."],
  ["SGLang", 500, "Failed to compile json schema into a grammar"],
  ["LM Studio", 400, "Model does not support images. Please use a model that does."],
];

const MODEL: readonly Row[] = [
  ["Ollama", 404, "model 'tiny' not found"],
  ["Ollama, older", 404, "model 'tiny' not found, try pulling it first"],
  ["vLLM", 404, "The model `tiny` does not exist."],
  ["SGLang", 400, "Model 'tiny' not found"],
  ["llama.cpp's router", 400, "model 'tiny' not found"],
  ["LM Studio", 404, "No models loaded. Please load a model in the developer page or use the `lms load` command."],
  ["LM Studio", 400, 'Failed to load model "tiny". Error: there is no such file'],
  ["infinity", 400, "model `tiny` not found in self.engine_dict.keys()=dict_keys(['other'])"],
];

const BUSY: readonly Row[] = [
  ["llama.cpp", 503, "Loading model"],
  ["Ollama", 503, "server busy, please try again.  maximum pending requests exceeded"],
  ["Ollama", 500, "server busy, please try again.  maximum pending requests exceeded"],
  ["SGLang", 400, "The request queue is full."],
  ["vLLM", 500, "EngineCore encountered an issue. See stack trace (above) for the root cause: EngineDeadError"],
  ["transformers", 500, "CUDA out of memory. Tried to allocate 2.00 GiB"],
];

const of = (kind: RefusalKind, rows: readonly Row[]): readonly ServerRefusal[] =>
  rows.map(([server, status, message, counts]) => ({
    server,
    status,
    body: openAi(status, message),
    kind,
    ...(counts?.[0] === undefined ? {} : { actual: String(counts[0]) }),
    ...(counts?.[1] === undefined ? {} : { limit: String(counts[1]) }),
  }));

/** llama.cpp tells the counts of a context in fields, and for a time told them there alone. */
const IN_FIELDS: ServerRefusal = {
  server: "llama.cpp, in fields",
  status: 400,
  body: openAi(400, "the request is too much", {
    type: "exceed_context_size_error",
    n_prompt_tokens: 5021,
    n_ctx: 4096,
  }),
  kind: "context",
  actual: "5021",
  limit: "4096",
};

export const SERVER_REFUSALS: readonly ServerRefusal[] = [
  ...of("context", CONTEXT),
  IN_FIELDS,
  ...of("feature", FEATURE),
  ...of("model", MODEL),
  ...of("unavailable", BUSY),
];
