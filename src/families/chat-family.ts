/** Families on OpenAI's wire are data: this makes one of what it says of itself. */
import { type MemberRules, memberTable } from "../wire/request/members.js";
import type { CacheMember, PromptCacheSetting } from "../wire/request/prompt-cache.js";
import { MEMBERS, wire } from "../wire/openai-chat/index.js";
import { wire as completions } from "../wire/openai-completions/index.js";
import { wire as embeddings } from "../wire/openai-embeddings/index.js";
import type { OpenAiChatDialect } from "../wire/openai-chat/index.js";
import type { EndpointWire } from "../wire/wire.js";
import type { AnswerPromise, Counter, Endpoint, Family } from "./family.js";
import { readModelList } from "./model-list.js";
import { MODERATION, type RerankEndpoint, rerankEndpoint, speechEndpoint } from "./surface-endpoints.js";

const CHAT_PATH = "/chat/completions";

/** What a family on OpenAI's wire says of itself. What it leaves out is as most of them have it. */
export interface ChatFamily {
  readonly name: string;
  readonly dialect: Partial<OpenAiChatDialect>;
  /** `exact` where recorded answers prove it; what nobody recorded is fitted. */
  readonly answers: AnswerPromise;
  /** What it takes otherwise than the wire's own table says. */
  readonly members?: MemberRules;
  /** The member of chats that keeps its cache within one account; left out where it has none. */
  readonly cacheMember?: CacheMember;
  /** The same of completions and vectors. */
  readonly cacheMemberBeside?: CacheMember;
  readonly promptCaches?: readonly PromptCacheSetting[];
  readonly keyVariable: string | undefined;
  readonly baseUrl: string | undefined;
  /** Left out where it needs a key. */
  readonly needsKey?: boolean;
  readonly abortStopsBilling: boolean;
  /** Left out where a whole answer is billed as a streamed one is when it is left. */
  readonly wholeAnswersBillOn?: boolean;
  /** True where its servers are mostly one's own. */
  readonly isSelfHosted?: boolean;
  /** How OpenTelemetry names it; left out where it has no name for it, or the same. */
  readonly telemetryName?: string;
  readonly pricedAs: string | undefined;
  readonly namesAnswersItself?: boolean;
  readonly tokenizerIsClose?: boolean;
  /** The header that carries the key as it is; left out where it is a bearer token. */
  readonly keyHeader?: string;
  /** Path of a generation; left out where all models share the usual one. */
  readonly generatePath?: Family["generatePath"];
  readonly modelsPath?: string | undefined;
  readonly counter?: Counter;
  /** How it ranks documents; left out where it does not. */
  readonly rerank?: RerankEndpoint;
  /** True where it judges content at OpenAI's path. */
  readonly moderates?: boolean;
  /** True where it speaks texts at OpenAI's path. */
  readonly speaks?: boolean;
  readonly refusals?: Family["refusals"];
  readonly reports?: Family["reports"];
  /** How each request is proven; left out where the header of the key does. */
  readonly authorize?: NonNullable<Family["authorize"]>;
}

export function chatFamily(says: ChatFamily): Family {
  const credential = (apiKey: string): Readonly<Record<string, string>> =>
    says.keyHeader === undefined ? { authorization: `Bearer ${apiKey}` } : { [says.keyHeader]: apiKey };
  const generatePath = says.generatePath ?? ((): string => CHAT_PATH);
  const { cacheMember, cacheMemberBeside, promptCaches } = says;
  // Their other addresses stand beside that of chats.
  const endpoint = (spoken: EndpointWire, path: string): Endpoint => ({
    wire: spoken,
    dialect: {},
    cacheMember: cacheMemberBeside,
    generatePath: (model, stream) => generatePath(model, stream).replace(CHAT_PATH, path),
  });
  return {
    name: says.name,
    wire,
    dialect: says.dialect,
    answers: says.answers,
    cacheMember,
    promptCaches,
    members: says.members === undefined ? undefined : memberTable(says.members, MEMBERS),
    keyVariable: says.keyVariable,
    baseUrl: says.baseUrl,
    needsKey: says.needsKey ?? true,
    abortStopsBilling: says.abortStopsBilling,
    wholeAnswersBillOn: says.wholeAnswersBillOn ?? false,
    isSelfHosted: says.isSelfHosted ?? false,
    reports: says.reports,
    telemetryName: says.telemetryName,
    pricedAs: says.pricedAs,
    namesAnswersItself: says.namesAnswersItself ?? false,
    tokenizerIsClose: says.tokenizerIsClose ?? false,
    generatePath,
    // Where chats have another path, nobody knows where the others are.
    endpoints: {
      ...(generatePath("model", false).includes(CHAT_PATH)
        ? {
            completion: endpoint(completions, "/completions"),
            embedding: endpoint(embeddings, "/embeddings"),
          }
        : {}),
      ...(says.rerank === undefined
        ? {}
        : { rerank: { ...rerankEndpoint(says.rerank), cacheMember: cacheMemberBeside } }),
      ...(says.moderates === true ? { moderation: MODERATION } : {}),
      ...(says.speaks === true ? { speech: speechEndpoint() } : {}),
    },
    headers: (apiKey) => ({
      "content-type": "application/json",
      ...(apiKey === undefined ? {} : credential(apiKey)),
    }),
    modelsPath: "modelsPath" in says ? says.modelsPath : "/models",
    readModels: readModelList,
    ...(says.counter === undefined ? {} : { counter: says.counter }),
    ...(says.refusals === undefined ? {} : { refusals: says.refusals }),
    ...(says.authorize === undefined ? {} : { authorize: says.authorize }),
    connect: undefined,
    builtInModels: [],
  };
}
