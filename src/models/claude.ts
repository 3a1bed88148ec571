/**
 * What Anthropic's models take and refuse, by line and version.
 *
 * Sources, where a row says no other: Anthropic's pages on models, effort and tokens (platform.claude.com/docs), and
 * the table of capabilities in @ai-sdk/anthropic (`getModelCapabilities`), read in November 2026.
 */
import type { ModelFacts } from "../wire/wire.js";

interface Row extends ModelFacts {
  /** The version from which it holds. */
  readonly from: number;
}

/** Of these `max` came with 4.6, and `xhigh` with Opus 4.7 and Sonnet 5. */
const EFFORTS = ["low", "medium", "high", "max"];
const MORE_EFFORTS = ["low", "medium", "high", "xhigh", "max"];

const FIRST: ModelFacts = {
  contextTokens: 200_000,
  outputTokensMax: 4_096,
  images: true,
  tools: true,
  sampling: "both",
  thinking: "none",
  withoutThinking: "disabled",
  efforts: [],
  forcedTools: true,
  prefill: true,
  systemTurns: false,
  schemas: false,
};
/** That all of them are cached up to marks is remembered. */
const BUDGETED: ModelFacts = {
  ...FIRST,
  outputTokensMax: 64_000,
  thinking: "budget",
  cacheMarks: true,
  cachedTokensMin: 1_024,
};
/** That only one of temperature and top_p is taken is widely known, and stands on no page that we could read. */
const BOUND: ModelFacts = { ...BUDGETED, sampling: "one", schemas: true };
const ADAPTIVE: ModelFacts = {
  ...BOUND,
  contextTokens: 1_000_000,
  outputTokensMax: 128_000,
  thinking: "adaptive",
  efforts: EFFORTS,
  prefill: false,
};
const UNSAMPLED: ModelFacts = { ...ADAPTIVE, sampling: "none", efforts: MORE_EFFORTS };
const CURRENT: ModelFacts = { ...UNSAMPLED, systemTurns: true };
const UNFORCED: ModelFacts = { ...CURRENT, forcedTools: false, withoutThinking: "effort" };

/**
 * The least tokens that are cached, as Anthropic's page on prompt caching says them. Where sources differ, the larger
 * number stands: Opus 4.7 (2,048 or 4,096), Opus 4.8 (1,024 or 4,096) and Sonnet 4.6 (1,024 or 2,048).
 */
const LONG_CACHED = { cachedTokensMin: 4_096 };
const SHORT_CACHED = { cachedTokensMin: 512 };

/** Each line of models, from the oldest version to the newest. */
const LINES: Readonly<Record<string, readonly Row[]>> = {
  opus: [
    { ...FIRST, from: 3 },
    { ...BUDGETED, from: 4, outputTokensMax: 32_000 },
    { ...BOUND, from: 4.1, outputTokensMax: 32_000 },
    { ...BOUND, ...LONG_CACHED, from: 4.5 },
    { ...ADAPTIVE, ...LONG_CACHED, from: 4.6 },
    { ...UNSAMPLED, ...LONG_CACHED, from: 4.7 },
    { ...CURRENT, ...LONG_CACHED, from: 4.8 },
    { ...CURRENT, ...SHORT_CACHED, from: 5 },
    { ...UNFORCED, ...SHORT_CACHED, from: 5.5 },
  ],
  sonnet: [
    { ...FIRST, from: 3 },
    // 8192: as the API's own refusal says it.
    { ...FIRST, from: 3.5, outputTokensMax: 8_192 },
    // 64000: remembered; the pages that said so are gone with the model.
    { ...BUDGETED, from: 3.7 },
    { ...BOUND, from: 4.5 },
    { ...ADAPTIVE, cachedTokensMin: 2_048, from: 4.6 },
    // Two sources differ on whether it takes instructions amid the conversation, so it is asked for none.
    { ...UNSAMPLED, from: 5 },
    { ...UNFORCED, from: 5.5, withoutThinking: "between_tools" },
  ],
  haiku: [
    { ...FIRST, from: 3 },
    // 8192: remembered; the pages that said so are gone with the model.
    { ...FIRST, from: 3.5, outputTokensMax: 8_192 },
    { ...BOUND, ...LONG_CACHED, from: 4.5 },
    // No page tells of a Haiku 5 before 5.5, which the row is about; its context is assumed to be the older one's.
    { ...CURRENT, ...LONG_CACHED, from: 5, contextTokens: 200_000 },
  ],
  fable: [
    { ...CURRENT, ...SHORT_CACHED, from: 5, withoutThinking: "effort" },
    { ...UNFORCED, ...SHORT_CACHED, from: 5.1 },
  ],
  // As Fable: the pages name both together for efforts, and nothing else of Mythos is documented.
  mythos: [
    { ...CURRENT, ...SHORT_CACHED, from: 5, withoutThinking: "effort" },
    { ...UNFORCED, ...SHORT_CACHED, from: 5.1 },
  ],
};

const NAME = /claude-(?:([a-z]+)-(\d)(?:[-.](\d{1,2}))?(?!\d)|(\d)(?:[-.](\d))?-([a-z]+))/;

/** The facts of a model by its name, with whatever prefix and date; undefined where it is none of Anthropic's. */
export function claudeFacts(name: string): ModelFacts | undefined {
  const [, line, major, minor, olderMajor, olderMinor, olderLine] = NAME.exec(name) ?? [];
  const rows = LINES[line ?? olderLine ?? ""] ?? [];
  const version = Number(`${major ?? olderMajor ?? ""}.${Math.min(9, Number(minor ?? olderMinor ?? 0))}`);
  const row = rows.findLast(({ from }) => from <= version);
  if (row === undefined) return undefined;
  const { from: _, ...facts } = row;
  return facts;
}
