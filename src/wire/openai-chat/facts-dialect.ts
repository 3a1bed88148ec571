/** How upstreams of this wire differ from OpenAI itself, as data. */
import { objectOf } from "../json/value.js";
import type { Dialect } from "../wire.js";
import type { RoleOrder } from "./request/encode-role-order.js";

/** A family gives the differences alone: what it leaves out is as OpenAI has it. */
export type OpenAiChatDialect = {
  /**
   * True where nobody knows what the upstream refuses: a body that came in this wire passes as its client wrote it, but
   * for what the gateway owns. What follows is then of prompts from other wires alone.
   */
  readonly keepsBodies: boolean;
  /** The member that carries the output limit where the client sent none. */
  readonly outputTokensField: "max_completion_tokens" | "max_tokens";
  /** True where `max_completion_tokens` is heeded; else a client's limit of that name is renamed. */
  readonly newLimit: boolean;
  /** True where a stream tells its usage when `stream_options.include_usage` asks for it. */
  readonly streamUsage: boolean;
  /** True where a server may stream what nobody asks to be streamed: `stream: false` is said. */
  readonly saysWhole: boolean;
  /** True where the role `developer` is known; else it is written as `system`. */
  readonly developerRole: boolean;
  /** The member of an assistant's message that takes earlier thinking back; empty where none does. */
  readonly thinkingField: "" | "reasoning_content" | "reasoning" | "reasoning_details";
  /** True where every assistant's message must carry that member, if only empty. */
  readonly thinkingRequired: boolean;
  /**
   * The member that tells a model to think: OpenAI's effort; `thinking` and `enable_thinking` turn it on or off, the
   * latter with a budget beside it; `reasoning` is an object with an effort or a budget; `chat_template_kwargs` hands
   * the switch to the model's own template.
   */
  readonly thinkingControl: "reasoning_effort" | "thinking" | "enable_thinking" | "reasoning" | "chat_template_kwargs";
  /** True where that member does no harm to a model that does not think, or of which nobody knows whether it does. */
  readonly thinkingTolerant: boolean;
  /** The member by which parts ask the upstream to cache the prompt up to them; empty where none does. */
  readonly cacheMark: (typeof CACHE_MARKS)[number];
  /** True where `top_k` is known. */
  readonly topK: boolean;
  /** The member that takes the seed. */
  readonly seedField: "seed" | "random_seed";
  /** How it is said that some tool must be called. */
  readonly requiredChoice: "required" | "any";
  /** True where a choice may name several tools; else the others are not offered. */
  readonly allowedTools: boolean;
  /** True where tools of free text are known; else they are functions with one text. */
  readonly customTools: boolean;
  /** True where the ids of calls are nine letters and digits, and no others. */
  readonly shortCallIds: boolean;
  /** True where documents come as parts of the type `document_url`. */
  readonly documentUrls: boolean;
  /** True where a message may name its speaker. */
  readonly messageNames: boolean;
  /** The members that messages may have, where the upstream refuses all others; empty where it takes what it gets. */
  readonly messageMembers: readonly string[];
  /** Which roles may follow each role, where the upstream refuses the rest; empty where any may. */
  readonly roleOrder: RoleOrder;
  /** True where the upstream itself leaves out what one of its models does not take. */
  readonly fitsModels: boolean;
  /** False where answers cannot be bound to a schema, whatever the model: then a JSON object is asked for in words. */
  readonly schemas: boolean;
  /** How the names of the models begin that alone can be bound to one there; empty where all can, or none. */
  readonly schemaModels: readonly string[];
  /** False where a call cannot be forced while the model thinks. */
  readonly forcedWhileThinking: boolean;
  /** The member that marks a last message of the assistant as one to go on with; empty where it needs no mark. */
  readonly prefillField: "" | "prefix";
  /** Schemes of addresses by which the upstream takes a file that it keeps, such as `fileid` of `fileid://file-1`. */
  readonly keptSchemes: readonly string[];
  /** True where `session_id` groups requests; elsewhere it stays with the gateway, which has it in its records. */
  readonly sessionIds: boolean;
  /** Members of a request that the upstream refuses, or does not heed. */
  readonly lacks: readonly string[];
};

export const openAiChatDialect: OpenAiChatDialect = {
  keepsBodies: false,
  outputTokensField: "max_completion_tokens",
  newLimit: true,
  streamUsage: true,
  saysWhole: false,
  developerRole: true,
  thinkingField: "",
  thinkingRequired: false,
  thinkingControl: "reasoning_effort",
  thinkingTolerant: false,
  cacheMark: "",
  topK: false,
  seedField: "seed",
  requiredChoice: "required",
  allowedTools: true,
  customTools: true,
  shortCallIds: false,
  documentUrls: false,
  messageNames: true,
  messageMembers: [],
  roleOrder: {},
  fitsModels: false,
  schemas: true,
  schemaModels: [],
  forcedWhileThinking: true,
  prefillField: "",
  keptSchemes: [],
  sessionIds: false,
  lacks: [],
};

const THINKING_CONTROLS = [
  "reasoning_effort",
  "thinking",
  "enable_thinking",
  "reasoning",
  "chat_template_kwargs",
] as const;
const CACHE_MARKS = ["", "prompt_cache_breakpoint", "cache_control"] as const;
const THINKING_FIELDS = ["", "reasoning_content", "reasoning", "reasoning_details"] as const;

/** A dialect that is complete. */
export type CompleteDialect = OpenAiChatDialect & {
  /** True where a body as OpenAI takes it needs no fitting at all. */
  readonly isOpenAis: boolean;
};

const resolved = new WeakMap<Dialect, CompleteDialect>();

/** A family's differences, completed. Families are few and constant, so each is completed once. */
export function dialectOf(dialect: Dialect): CompleteDialect {
  const known = resolved.get(dialect);
  if (known !== undefined) return known;
  const own = openAiChatDialect;
  const flag = (name: keyof OpenAiChatDialect, otherwise: boolean): boolean =>
    typeof dialect[name] === "boolean" ? dialect[name] : otherwise;
  const one = <Word extends string>(name: keyof OpenAiChatDialect, words: readonly Word[], otherwise: Word): Word =>
    words.find((word) => word === dialect[name]) ?? otherwise;
  const made: CompleteDialect = {
    isOpenAis: Object.keys(dialect).length === 0,
    keepsBodies: flag("keepsBodies", own.keepsBodies),
    outputTokensField: one("outputTokensField", ["max_tokens"], own.outputTokensField),
    newLimit: flag("newLimit", own.newLimit),
    streamUsage: flag("streamUsage", own.streamUsage),
    saysWhole: flag("saysWhole", own.saysWhole),
    developerRole: flag("developerRole", own.developerRole),
    thinkingField: one("thinkingField", THINKING_FIELDS, own.thinkingField),
    thinkingRequired: flag("thinkingRequired", own.thinkingRequired),
    thinkingControl: one("thinkingControl", THINKING_CONTROLS, own.thinkingControl),
    thinkingTolerant: flag("thinkingTolerant", own.thinkingTolerant),
    cacheMark: one("cacheMark", CACHE_MARKS, own.cacheMark),
    topK: flag("topK", own.topK),
    seedField: one("seedField", ["random_seed"], own.seedField),
    requiredChoice: one("requiredChoice", ["any"], own.requiredChoice),
    allowedTools: flag("allowedTools", own.allowedTools),
    customTools: flag("customTools", own.customTools),
    shortCallIds: flag("shortCallIds", own.shortCallIds),
    documentUrls: flag("documentUrls", own.documentUrls),
    messageNames: flag("messageNames", own.messageNames),
    messageMembers: textsOf(dialect["messageMembers"]),
    roleOrder: rolesOf(dialect["roleOrder"]),
    fitsModels: flag("fitsModels", own.fitsModels),
    schemas: flag("schemas", own.schemas),
    schemaModels: textsOf(dialect["schemaModels"]),
    forcedWhileThinking: flag("forcedWhileThinking", own.forcedWhileThinking),
    prefillField: one("prefillField", ["prefix"], own.prefillField),
    keptSchemes: textsOf(dialect["keptSchemes"]),
    sessionIds: flag("sessionIds", own.sessionIds),
    lacks: textsOf(dialect["lacks"]),
  };
  resolved.set(dialect, made);
  return made;
}

/** How a model may be told to think in the member that the upstream has for it; absent: in any way. */
const WAYS: Readonly<Partial<Record<OpenAiChatDialect["thinkingControl"], readonly string[]>>> = {
  reasoning_effort: ["effort", "always", "none"],
  thinking: ["effort", "switch", "always", "none"],
};
/** Those that say on or off, and no effort. */
const SWITCHES: ReadonlySet<string> = new Set(["enable_thinking", "chat_template_kwargs"]);

/** False of what facts may say of thoughts and the upstream has no word for. */
export function obeysThinking(fact: "thinking" | "efforts", value: string, dialect: Dialect): boolean {
  const { thinkingControl } = dialectOf(dialect);
  if (fact === "efforts") return !SWITCHES.has(thinkingControl);
  return WAYS[thinkingControl]?.includes(value) ?? true;
}

function rolesOf(value: unknown): RoleOrder {
  return Object.fromEntries(Object.entries(objectOf(value) ?? {}).map(([role, roles]) => [role, textsOf(roles)]));
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
