/** What models of this wire take and refuse, as data: the one place that asks a model's name. */

export interface ModelRules {
  /** The most tokens of an answer, which the wire wants to be told. */
  readonly outputTokensMax: number;
  /** Whether temperature and top_p are taken: both, only one of them at a time, or none. */
  readonly sampling: "both" | "one" | "none";
  /** How it is told to think: by itself, by a budget of tokens, or not at all. */
  readonly thinking: "adaptive" | "budget" | "none";
  /** What keeps it from thinking; `effort` where nothing does, and a low effort is the nearest. */
  readonly withoutThinking: "disabled" | "between_tools" | "effort";
  /** The efforts that it knows, from the lowest. */
  readonly efforts: readonly string[];
  /** True where it can be made to call a tool. */
  readonly forcedTools: boolean;
  /** True where it goes on with the model's own last message. */
  readonly prefill: boolean;
  /** True where instructions may stand amid the conversation. */
  readonly systemTurns: boolean;
  /** True where answers and arguments can be bound to a schema. */
  readonly schemas: boolean;
}

interface Row extends ModelRules {
  /** The version from which it holds. */
  readonly from: number;
}

const EFFORTS = ["low", "medium", "high", "max"];
const MORE_EFFORTS = ["low", "medium", "high", "xhigh", "max"];

const FIRST: ModelRules = {
  outputTokensMax: 4_096,
  sampling: "both",
  thinking: "none",
  withoutThinking: "disabled",
  efforts: [],
  forcedTools: true,
  prefill: true,
  systemTurns: false,
  schemas: false,
};
const BUDGETED: ModelRules = { ...FIRST, outputTokensMax: 64_000, thinking: "budget" };
const BOUND: ModelRules = { ...BUDGETED, sampling: "one", schemas: true };
const ADAPTIVE: ModelRules = {
  ...BOUND,
  outputTokensMax: 128_000,
  thinking: "adaptive",
  efforts: EFFORTS,
  prefill: false,
};
const UNSAMPLED: ModelRules = { ...ADAPTIVE, sampling: "none", efforts: MORE_EFFORTS };
const CURRENT: ModelRules = { ...UNSAMPLED, systemTurns: true };
const UNFORCED: ModelRules = { ...CURRENT, forcedTools: false, withoutThinking: "effort" };

/** Each line of models, from the oldest version to the newest. */
const LINES: Readonly<Record<string, readonly Row[]>> = {
  opus: [
    { ...FIRST, from: 3 },
    { ...BUDGETED, from: 4, outputTokensMax: 32_000 },
    { ...BOUND, from: 4.1, outputTokensMax: 32_000 },
    { ...BOUND, from: 4.5 },
    { ...ADAPTIVE, from: 4.6 },
    { ...UNSAMPLED, from: 4.7 },
    { ...CURRENT, from: 4.8 },
    { ...UNFORCED, from: 5.5 },
  ],
  sonnet: [
    { ...FIRST, from: 3 },
    { ...FIRST, from: 3.5, outputTokensMax: 8_192 },
    { ...BUDGETED, from: 3.7 },
    { ...BOUND, from: 4.5 },
    { ...ADAPTIVE, from: 4.6 },
    { ...CURRENT, from: 5 },
    { ...UNFORCED, from: 5.5, withoutThinking: "between_tools" },
  ],
  haiku: [
    { ...FIRST, from: 3 },
    { ...FIRST, from: 3.5, outputTokensMax: 8_192 },
    { ...BOUND, from: 4.5 },
    { ...CURRENT, from: 5 },
  ],
  fable: [
    { ...CURRENT, from: 5, withoutThinking: "effort" },
    { ...UNFORCED, from: 5.1 },
  ],
  mythos: [
    { ...CURRENT, from: 5, withoutThinking: "effort" },
    { ...UNFORCED, from: 5.1 },
  ],
};

/** A model that nobody knows yet is asked for nothing that only some take. */
const UNKNOWN: ModelRules = { ...UNFORCED, outputTokensMax: 32_000, efforts: EFFORTS, systemTurns: false };

const NAME = /claude-(?:([a-z]+)-(\d)(?:[-.](\d{1,2}))?(?!\d)|(\d)(?:[-.](\d))?-([a-z]+))/;

/** The rules of a model, by its name as its upstream has it, with whatever prefix and date. */
export function rulesOf(model: string): ModelRules {
  const [, line, major, minor, olderMajor, olderMinor, olderLine] = NAME.exec(model.toLowerCase()) ?? [];
  const rows = LINES[line ?? olderLine ?? ""] ?? [];
  const version = Number(`${major ?? olderMajor ?? ""}.${Math.min(9, Number(minor ?? olderMinor ?? 0))}`);
  return rows.findLast((row) => row.from <= version) ?? UNKNOWN;
}
