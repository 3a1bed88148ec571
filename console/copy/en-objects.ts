/** The sentences of the forms for upstreams and models in English, which only operators load. */
import { many } from "./en.ts";

/** What each type of upstream is called by its provider. Others have their own name. */
const families: Readonly<Record<string, string>> = {
  anthropic: "Anthropic",
  azure: "Azure OpenAI",
  bedrock: "Amazon Bedrock",
  cohere: "Cohere",
  deepseek: "DeepSeek",
  gemini: "Google Gemini (AI Studio)",
  groq: "Groq",
  jina: "Jina AI",
  llamacpp: "llama.cpp server",
  mistral: "Mistral",
  moonshot: "Moonshot (Kimi)",
  ollama: "Ollama",
  openai: "OpenAI",
  "openai-compatible": "Another OpenAI-compatible server",
  "openai-responses": "OpenAI (Responses API)",
  openrouter: "OpenRouter",
  qwen: "Qwen (Alibaba)",
  vertex: "Google Vertex AI",
  vllm: "vLLM server",
  voyage: "Voyage AI",
  xai: "xAI (Grok)",
};

export const objectWords = {
  families,
  addUpstream: "Add an upstream",
  changeUpstream: (name: string) => `Change ${name}`,
  family: "Provider or server",
  name: "Name",
  nameRule: "1 to 64 of a-z, 0-9, . _ and -. Models refer to the upstream by this name.",
  apiKey: "API key",
  apiKeyRule: (variable: string) =>
    variable === ""
      ? "It is stored encrypted and never shown again. env:NAME refers to a variable of the gateway instead."
      : `It is stored encrypted and never shown again. env:${variable} refers to a variable of the gateway instead.`,
  apiKeyKept: "Leave it empty to keep the present key. For another address, enter it again.",
  baseUrl: "Base URL",
  baseUrlRule: (usual: string) => (usual === "" ? "For example http://10.0.0.5:8000/v1" : `Empty: ${usual}`),
  connect: "Connect",
  connecting: "Connecting…",
  results: {
    unspecified: "The test has no result.",
    well: "The upstream answers.",
    unreachable: "The upstream cannot be reached. Check its base URL.",
    credential: "The upstream refuses the API key.",
    failed: "The upstream answers with an error.",
    untested: "The upstream answers. Its API key is not proven yet.",
  },
  testFailed: "The upstream was not tested.",
  choose: "Models to serve",
  chooseAbout:
    "Clients request a model by this name. Without a choice, every listed model whose price is published is served.",
  chooseNone: "The upstream has no list of models. Add its models on the Prices page.",
  chosen: (count: number) => (count === 0 ? "No model chosen" : `${many(count, "model", "models")} chosen`),
  find: "Find a model",
  unpriced: "no published price",
  unpricedTitle: "Price of the chosen models without a published price",
  listed: (count: number) => `The list has ${many(count, "model", "models")}.`,
  callWith: "Test with a call",
  callAbout: "Sends one request of a few tokens to the first chosen model, at your own cost.",
  save: "Save",
  saveAnyway: "Save without a test",
  saveFailed: "Nothing was saved.",
  test: "Test",
  drain: "Drain",
  undrain: "End the drain",
  drainTitle: (name: string) => `Drain ${name}?`,
  drainWill:
    "It gets no new requests, on all nodes, until you end the drain. Requests that run there come to their end.",
  drainAlone: (models: string) => `No other upstream serves ${models}: requests for them fail until you end the drain.`,
  drainGo: "Drain it",
  drainFailed: "The upstream was not changed.",
  change: "Change",
  delete: "Delete",
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleteUpstreamWill: "New requests no longer go there. Requests that run come to their end.",
  deleteModelWill: "Clients can no longer request it. Requests that run come to their end.",
  deleteIssuerWill: "People can no longer sign in through the issuer. Sessions that exist continue.",
  deletePaymentsWill: "Members can no longer add money by card, and later reports of Stripe are refused.",
  deleteMetricsWill: "The balances and budgets of the accounts are no longer exported as metrics.",
  deletePricesWill: "The published prices of this version of the gateway apply again.",
  deleteFailed: "Nothing was deleted.",
  origin: "Set by",
  origins: {
    unspecified: "unknown",
    file: "tollgate.yaml",
    environment: "the environment",
    upstream: "its upstream’s list",
    database: "console or API",
  },
  builtIn: "built in",
  actions: "Actions",
  aside: (reason: string) => `Not used on this node: ${reason}`,
  addModel: "Add a model",
  changeModel: (name: string) => `Change ${name}`,
  modelNameRule: "Clients request the model by this name, for example gpt-4o or acme/fast.",
  displayNameRule: "Clients show it to people. Empty: the name itself.",
  upstream: "Upstream",
  upstreamModel: "Name at the upstream",
  upstreamModelRule: "Empty: the same name.",
  priceIs: "Price",
  prices: { published: "The published price", own: "My own price", free: "Free" },
  input: "Input, USD per million tokens",
  output: "Output, USD per million tokens",
  cachePrices: "Prices of prompt caches",
  cacheRead: "Cache read, USD per million tokens",
  cacheWrite: "Cache write, USD per million tokens",
  cacheWrite1h: "Cache write for an hour, USD per million tokens",
  cachePriceRules: {
    cacheRead: "Empty: the input price.",
    cacheWrite: "Empty: the input price.",
    cacheWrite1h: "Empty: the price of a cache write.",
  },
  contextTokens: "Context size in tokens",
  outputTokensMax: "Maximum output tokens",
  sizeRule: "Empty: the published number.",
  wrongNumber: "Enter a whole number.",
  wrongPrice: "Enter an amount such as 0.25.",
  balance: "Balance",
  balanceIs: "Which target of a level gets a new session.",
  balanceWeight: "By weight",
  balanceLoad: "The less busy one of two",
  balanceLatency: "The faster one of two",
  balanceCost: "The one that costs you least",
  affinity: "Session affinity",
  affinityIs: "A target that answered a session before has its prompts in its cache.",
  affinityAuto: "Requests of a session go to the same target of a level",
  affinityOff: "Each request goes by weight alone",
  moreDetailed: "The price has more parts, such as the price of cached input, which stay as they are.",
  effect: "What would change",
  effectNone: "No price changes.",
  checking: "Checking…",
  checkFailed: "The effect is not known.",
  unserved: (problem: string) => `This node would not serve the model: it ${problem}.`,
  effectOf: (id: string, before: string, after: string) => `${id}: ${before} becomes ${after}`,
  effectNew: (id: string, after: string, source: string) => `${id} is new: ${after} (${source})`,
  effectGone: (id: string) => `${id} is no longer served`,
  perMillion: (input: string, output: string) => `${input} in, ${output} out per million tokens`,
};

export const targetWords = {
  targets: "Targets",
  about:
    "Targets serve this model at its price; fallbacks are other models at prices of their own. " +
    "Requests go to the targets of the first level, by their weights. If these fail, the next level is tried. Drop a " +
    "target between two others to give it a level of its own, or on another one to share its level. Up and Down do the " +
    "same in steps. With the keyboard, the arrow keys go from target to target.",
  add: "Add a target",
  level: (level: number) => (level === 1 ? "Tried first" : `Tried as number ${level}`),
  share: (percent: string) => `${percent} of the requests`,
  name: (upstream: string, model: string) => (model === "" ? upstream : `${upstream}, ${model}`),
  unnamed: "new target",
  edit: "Edit",
  up: "Up",
  down: "Down",
  remove: "Remove",
  drag: "Drag",
  /** After an action, what it acts on, for people who do not see the row. */
  of: (name: string) => ` ${name}`,
  moved: (name: string, level: number, levels: number, count: number) =>
    count === 1
      ? `${name} is alone in level ${level} of ${levels}.`
      : `${name} shares level ${level} of ${levels} with ${many(count - 1, "target", "targets")}.`,
  removed: (name: string) => `${name} was removed.`,
  weight: "Weight",
  weightRule:
    "Empty: 1. A target with weight 2 gets twice the requests of one with weight 1; with 0 only the sessions it has.",
  wrongWeight: "Enter 0 or a higher number, such as 2 or 0.5.",
  cost: "What you pay there",
  costs: { published: "The published price", own: "My own cost", free: "Nothing" },
  costInput: "Your input cost, USD per million tokens",
  costOutput: "Your output cost, USD per million tokens",
} as const;

export const fallbackWords = {
  title: "Fallbacks",
  fallbacks: "Models that answer when all targets fail",
  fallbacksRule: "At most 4 names with commas between them. Clients pay the price of the model that answers.",
  onContext: "Model for requests that are too long",
  onContextRule: "Empty: such requests are refused.",
};

export const timeoutWords = {
  title: "Timeouts",
  ofUpstream: "For all models of this upstream. A model can have other timeouts.",
  ofModel: "In place of the timeouts of the upstreams.",
  profile: "For which kind of work",
  none: "Not set",
  profiles: {
    default: "Most work: first output 120s, pause 30s, total 600s",
    interactive: "People who wait: first output 10s, pause 15s, total 120s",
    batch: "Long work: first output 15m, pause 120s, total 1h",
  },
  times: {
    connect: "Connect",
    firstOutput: "First output of a stream",
    idle: "Pause between two reads",
    total: "Whole answer",
  },
  rule: "Such as 30s or 10m. Empty: not set.",
} as const;

export const retryWords = {
  title: "Retries",
  attempts: "Attempts of a request",
  attemptsRule: "From 1 to 10, at all targets together. Empty: not set.",
  times: {
    backoff: "Pause before a second attempt",
    backoffMax: "Longest pause",
    coolDownMax: "Longest cool-down",
  },
  rules: {
    backoff: "At the same target, such as 400ms. It doubles with each attempt. Empty: not set.",
    backoffMax: "From 10ms to 1m. Empty: not set.",
    coolDownMax: "How long a target that failed is skipped at most, from 1s to 5m. Empty: not set.",
  },
} as const;

export const factWords = {
  title: "Capabilities",
  about:
    "The gateway knows what a model can do by its name. Change only what it does not know, such as for a model of your " +
    "own.",
  known: "As known",
  yes: "Yes",
  no: "No",
  flags: {
    images: "Accepts images",
    tools: "Calls tools",
    files: "Accepts files, such as PDF",
    forcedTools: "A request may force a tool call",
    schemas: "Supports a JSON Schema for its answer",
    prefill: "Continues an assistant message",
    systemTurns: "System messages may stand anywhere",
    signedCalls: "Tool calls have signatures",
    resultImages: "Tool results may have images",
    cacheMarks: "Accepts cache marks (cache_control)",
    streamOnly: "The upstream only streams",
  },
  choices: {
    sampling: "Sampling parameters",
    thinking: "How a request controls reasoning",
    withoutThinking: "How a request turns reasoning off",
  },
  options: {
    both: "temperature and top_p",
    one: "temperature or top_p, not both",
    none: "None",
    adaptive: "The model decides",
    effort: "By an effort",
    budget: "By a number of tokens",
    switch: "On or off",
    always: "It always reasons",
    disabled: "It is disabled",
    between_tools: "Only between tool calls",
  },
  efforts: "Reasoning efforts",
  effortsRule: "From the lowest, with commas: low, medium, high. Empty: as known.",
  budgets: "Reasoning tokens for each effort",
  budgetsRule: "For example low: 1024, high: 8192. Empty: as known.",
  wrongBudgets: "Enter pairs such as low: 1024, high: 8192.",
} as const;

export const listWords = {
  price: (price: string) => `Published price: ${price}`,
  source: (model: string, list: string, date: string) => `${model}, list ${list} of ${date}`,
  none: "The published list does not have the first target: set a price.",
  use: "Use the published price",
  useInRow: "Use published",
} as const;

export const renameWords = {
  rename: "Rename",
  title: (name: string) => `Rename ${name}`,
  name: "New name",
  will: "The object gets the new name, and everything that refers to it changes in the same revision.",
  upstreamWill: (models: readonly string[]) =>
    models.length === 0 ? "No model refers to it." : `These models refer to it: ${models.join(", ")}.`,
  aliasesWill: (aliases: readonly string[]) =>
    aliases.length === 0 ? "" : `These aliases refer to it: ${aliases.join(", ")}.`,
  modelWill: "Clients must request the new name. Change keys that may use only named models.",
  managed: (label: string) => `The tool with the label ${label} manages it: change the name there too.`,
  go: "Rename",
  failed: "Nothing was renamed.",
  usedBy: (kind: string, names: readonly string[]) => {
    const [one, more] = kind === "upstream" ? ["model", "models"] : ["alias", "aliases"];
    return names.length === 1
      ? `The ${one} ${names.join(", ")} refers to it. Change or delete it first.`
      : `The ${more} ${names.join(", ")} refer to it. Change or delete them first.`;
  },
} as const;

export const wildcardWords = {
  about:
    "The * in the name stands for the * in the name at the upstream. A price of your own is charged for every model, and " +
    "needs the context size and the maximum output.",
  serve: "Models to serve",
  serves: { any: "Every model with a known price", list: "Only models of the upstream’s list" },
} as const;

export const unservedWords = {
  title: "Models that are not served",
  about: "They are saved, and this node cannot serve them. Change or delete them.",
  name: "Model",
  why: "Where it comes from, and why it is not served",
} as const;

export const unpricedWords = {
  title: "Requested, not priced",
  about:
    "Clients requested these models of a wildcard, and the published list has no price or no limits for them. Add a model " +
    "with a price of your own to serve one. The counts are those of the node that answers, since its start.",
  name: "Model",
  wildcard: "Wildcard",
  requests: "Requests",
  last: "Last request",
} as const;

export const aliasWords = {
  title: "Aliases",
  about:
    "An alias is another name of a model. Requests pay the price of the model, and a key needs permission for both names.",
  none: "There are no aliases.",
  add: "Add an alias",
  change: (name: string) => `Change ${name}`,
  name: "Alias",
  nameRule: "Clients request this name, for example fast or team/best.",
  model: "Model",
  modelRule: "Requests that run keep the model with which they began.",
  displayName: "Shown name",
  deleteWill: "Clients can no longer request it. Requests that run come to their end.",
} as const;

export const cacheMarksWords = {
  title: "Cache marks",
  about: "Claude's upstreams cache only what is marked. The gateway marks requests whose clients marked nothing.",
  choices: {
    off: "The gateway marks nothing",
    "5m": "Mark, and keep for 5 minutes",
    "1h": "Mark, and keep for an hour",
  },
};
