/** What every model family says of itself: a wire, plus endpoint, credentials and dialect. */
import type { ModelKind } from "../api/model-kinds.js";
import type { Unit } from "../api/meters.js";
import type { AnswerForm, Dialect, EndpointWire, ModelFacts, UpstreamWire, WireRequest } from "../wire/wire.js";
import type { MemberTable } from "../wire/request/members.js";
import type { CacheMember, PromptCacheSetting } from "../wire/request/prompt-cache.js";
import type { Upstream } from "../upstream/upstream.js";
import type { RefusalRow } from "../wire/error/upstream-refusal.js";

export type { ModelKind } from "../api/model-kinds.js";

/** What an upstream bills by. */
export type BilledUnit = Unit | "token";
/** What most bill by. */
export const BY_TOKENS: readonly BilledUnit[] = ["token"];

/** A model as an upstream's own list names it. */
export interface ListedModel {
  readonly id: string;
  readonly owner: string | undefined;
  /** Seconds since 1970; undefined where the list does not tell. */
  readonly createdSeconds: number | undefined;
  /** Absent where the list does not tell. */
  readonly kind?: ModelKind | undefined;
  /** When it is no longer served; absent where the list does not tell. */
  readonly retireTime?: Date | undefined;
}

/** What a server reported. Absent members were not reported. */
export interface ServerReport {
  /** How many requests it works at at once. */
  readonly slots?: number | undefined;
  readonly running?: number | undefined;
  /** Requests in its own queue. */
  readonly waiting?: number | undefined;
  /** The context of every model that it serves, in tokens. */
  readonly contextTokens?: number | undefined;
  /** The same of single models, by the server's names for them. */
  readonly contexts?: ReadonlyMap<string, number> | undefined;
  readonly images?: boolean | undefined;
  readonly tools?: boolean | undefined;
  /** The models in its memory. */
  readonly loadedModels?: readonly string[] | undefined;
}

export interface ReportSource {
  readonly path: string;
  /** Whether the path is under the base URL, or under the address of the server: the base URL without its version. */
  readonly under: "base" | "server";
  /** Throws where the body is no such report. */
  read(body: Buffer): ServerReport;
}

/** The environment's variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether answers are exactly what clients of the wire are promised, and pass as they came; or are read, and fitted
 * where they differ.
 */
export type AnswerPromise = "exact" | "fitted";

/** A wire as a family speaks it. */
export interface Endpoint {
  /** Absent: exact. */
  readonly answers?: AnswerPromise;
  readonly wire: EndpointWire;
  readonly dialect: Dialect;
  /** What the gateway does with each member of a body, where that is not as the wire says it. */
  readonly members?: MemberTable | undefined;
  /** False where a request has no place for a limit of its output. Absent: true. */
  readonly takesLimit?: boolean;
  /** The member that keeps the upstream's cache within one account. Absent where it has none, or not every server. */
  readonly cacheMember?: CacheMember | undefined;
  /**
   * The units that answers may be billed by: `token`, or one of `meters.ts`. A model may be asked here that has a price
   * for one of them. Absent: tokens.
   */
  readonly units?: readonly BilledUnit[] | undefined;
  /** Path of a generation under the base address. */
  generatePath(model: string, stream: boolean): string;
}

/**
 * A model family. A new one is one file in this folder and its line in `index.ts`; what its answers say where no other
 * family's do is read in its wire.
 */
export interface Family extends Endpoint {
  /** As in the settings, such as openai-compatible. */
  readonly name: string;
  readonly answers: AnswerPromise;
  /** Its main wire; a client may speak it too, or none does. */
  readonly wire: UpstreamWire;
  /** Wires that the family speaks beside its own, for requests that come in them: so nothing of these is lost. */
  readonly alsoSpeaks?: readonly Endpoint[];
  /** The environment variable that usually holds the key; set, the family is served with no settings file. */
  readonly keyVariable: string | undefined;
  /** Where the family is served; undefined where the settings must say. */
  readonly baseUrl: string | undefined;
  /** Where it is served by what the environment says, such as a region; absent where that says nothing of it. */
  baseUrlIn?(environment: Environment): string | undefined;
  /** True where the family needs a credential. */
  readonly needsKey: boolean;
  /** True where the family stops billing when a request is aborted. */
  readonly abortStopsBilling: boolean;
  /** True where that holds for streams alone, and a whole answer is billed to its end all the same. */
  readonly wholeAnswersBillOn?: boolean;
  /**
   * True where its servers mostly stand in the network of whoever runs the gateway: an address in a request would be
   * fetched from there, and an error of 500 mostly comes again with the same request. Absent: false.
   */
  readonly isSelfHosted?: boolean;
  /** How OpenTelemetry names the family; absent where it has no name for it, or the same. */
  readonly telemetryName?: string | undefined;
  /** How the prices' package names the family; undefined where it does not know it. */
  readonly pricedAs: string | undefined;
  /** True where answers carry a name that the upstream gave the model, whatever name was asked. Absent: false. */
  readonly namesAnswersItself?: boolean;
  /** What settings may say of the cache of its servers, beside `shared`. Absent: nothing, it cannot be kept apart. */
  readonly promptCaches?: readonly PromptCacheSetting[] | undefined;
  /** True where its answers tell the limits of whoever asks (`anthropic-ratelimit-unified-...`). Absent: false. */
  readonly hasUnifiedLimits?: boolean;
  /** True where the gateway's tokenizer counts at least about what the family counts. */
  readonly tokenizerIsClose: boolean;
  /** True where a credential that is no JSON is the path of a file that holds it. Absent: false. */
  readonly readsKeyFile?: boolean;
  /** Headers that carry the credential and what else each request needs. */
  headers(apiKey: string | undefined): Readonly<Record<string, string>>;
  /**
   * Proves each request to an upstream where fixed headers cannot, with the credential of the settings, or where these
   * have none, of the environment. Throws an Error that says what is wrong with it and does not quote it. Absent where
   * fixed headers do.
   */
  authorize?(upstream: Upstream, credential: string | undefined, baseUrl: string, environment: Environment): Upstream;
  /** Headers of one request beside those of each; they count over them. Absent where there are none. */
  requestHeaders?(request: WireRequest): Readonly<Record<string, string>>;
  /** How the family is asked for each kind beside a chat; absent where it cannot be. */
  readonly endpoints?: Readonly<Partial<Record<Exclude<ModelKind, "chat">, Endpoint>>>;
  /** What its refusals mean beside those that its wire knows; absent where the wire knows them all. */
  readonly refusals?: readonly RefusalRow[];
  /** Kinds of models by the start of their name, where nothing else tells; the first that fits holds. */
  readonly modelKinds?: readonly { readonly startsWith: string; readonly kind: ModelKind }[];
  /** How the family counts the input of a request itself; absent where it does not. */
  readonly counter?: Counter;
  /** Path of the list of models; undefined where the family has none. */
  readonly modelsPath: string | undefined;
  /** Reads that list. Throws where it is none. */
  readModels(body: Buffer): readonly ListedModel[];
  /** Where its servers report about themselves. Absent: nowhere. */
  readonly reports?: readonly ReportSource[] | undefined;
  /** Connects inside the process; undefined where the family is reached over HTTP. */
  readonly connect: (() => Upstream) | undefined;
  /** Models that the family serves without being asked; empty where its list or the settings say. */
  readonly builtInModels: readonly BuiltInModel[];
}

/**
 * True where the input of a request is billed whose client hung up before anything came: everywhere but on machines of
 * one's own, which stop at once whatever was asked.
 */
export function billsCutRequests({ abortStopsBilling, wholeAnswersBillOn }: Family): boolean {
  return !abortStopsBilling || wholeAnswersBillOn === true;
}

/** How a family is spoken to for a request: in the request's own wire where it speaks that. */
export function endpointFor(family: Family, request: WireRequest, kind: ModelKind): Endpoint {
  if (kind !== "chat") return family.endpoints?.[kind] ?? family;
  const { alsoSpeaks } = family;
  if (alsoSpeaks === undefined || request.source === undefined) return family;
  const { wire } = request.source;
  return wire === family.wire.name ? family : (alsoSpeaks.find((endpoint) => endpoint.wire.name === wire) ?? family);
}

/** An upstream's own count of the tokens that a request brings it to read. */
export interface Counter {
  path(model: string): string;
  /** The body of the question. Throws PARAMETER_UNSUPPORTED for what the upstream could not be asked either. */
  encode(request: WireRequest, model: string, facts: ModelFacts): Buffer;
  /** Reads the count. Throws where the body is none. */
  read(body: Buffer): number;
}

/** A model that a family brings itself, free of charge. */
export interface BuiltInModel {
  readonly id: string;
  readonly contextTokens: number;
  readonly outputTokensMax: number;
  readonly kind: ModelKind;
}

/** What the batches of an answer carry to who takes the wire's own bytes of one wire, or of none. */
export function formOf({ wire, answers }: Endpoint, acceptWire: string): AnswerForm {
  if (acceptWire !== wire.name) return "events";
  return answers === "fitted" ? "fitted" : "source";
}
