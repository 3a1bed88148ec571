/** What one pass over a request finds, whatever its wire. */
import type { Meter, ToolUse } from "../../api/index.js";
import type { SurfaceKind } from "../wire.js";
import type { RoutePreferences } from "./route-preferences.js";

/** What the gateway must know of a request before it is sent, whichever wire it came in. */
export interface RequestFacts {
  readonly model: string;
  /** What is asked, of a request that generates nothing and asks for no vectors. */
  readonly surface?: SurfaceKind | undefined;
  /** True where the client wants the answer as it comes. */
  readonly stream: boolean;
  /** True where the client of a stream wants its usage told. */
  readonly includeUsage: boolean;
  readonly candidateCount: number;
  /** The most output tokens for each candidate; undefined where the client sets no limit. */
  readonly outputTokensMax: number | undefined;
  /** Bytes of the request without inline media: no tokenizer makes more tokens of them. */
  readonly textBytes: number;
  /** False where no sign of the body is spelled as a number (`\\u00e4`). Absent where nobody looked. */
  readonly hasUnicodeEscapes?: boolean;
  /** False where no member of the body has the name of one that holds an address. Absent where nobody looked. */
  readonly mayHoldAddress?: boolean;
  /** Images, files and sounds, whose tokens do not follow from their bytes. */
  readonly imageCount: number;
  readonly fileCount: number;
  readonly audioCount: number;
  /** How many inputs the model reads one by one, each within its context. Absent: all of it is one. */
  readonly inputCount?: number;
  /** A part of the body, up to its end, that the model reads so many times more than once. Absent: none. */
  readonly repeated?: { readonly start: number; readonly end: number; readonly times: number } | undefined;
  /** How many tokens its inputs have, where they came as tokens. */
  readonly inputTokens?: number | undefined;
  /** True where the answer says the input once more, before what is generated. */
  readonly repeatsInput?: boolean;
  /** How many tools it offers, of whatever kind. Absent: none. */
  readonly toolCount?: number | undefined;
  /** How many of them the upstream defines, which tells the model more of each than stands in the request. */
  readonly definedToolCount?: number | undefined;
  /** True where some of them are told to the model only once a search finds them. Absent: none. */
  readonly hasDeferredTools?: boolean | undefined;
  /** True where the client offers its tools as `functions`, and reads a call as `function_call`. */
  readonly asksFunctions?: boolean | undefined;
  /** The service tier as the client asks for it. Absent where it asks for none. */
  readonly serviceTier?: string | undefined;
  /** The container that it names: what an upstream made for an earlier answer. Absent where it names none. */
  readonly container?: string | undefined;
  /** The most calls of each tool that the upstream runs, as the body that goes there bounds them. */
  readonly toolCallsMax?: readonly ToolUse[] | undefined;
  /** The most of each unit that is no token, of whatever kind. Absent: none. */
  readonly metersMax?: readonly Meter[] | undefined;
  /** How much of each it most likely uses, for an answer that does not report it. Absent: none. */
  readonly metersExpected?: readonly Meter[] | undefined;
  /** How many tokens of sound it most likely makes, for an answer that does not report them. Absent: none. */
  readonly soundTokensExpected?: number | undefined;
  /** How often it may read the input: once more behind each call that it runs, or to sum up. Absent: once. */
  readonly roundsMax?: number | undefined;
  /** Which models and upstreams may answer. Absent: what the settings say. */
  readonly route?: RoutePreferences | undefined;
}
