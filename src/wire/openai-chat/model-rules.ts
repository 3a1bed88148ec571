/** What models of this wire refuse, as data: asked where a prompt of another wire would bring it unawares. */

export interface ModelRules {
  /** The efforts that it knows, from the lowest; empty where it does not reason, or nobody knows. */
  readonly efforts: readonly string[];
  /** True where temperature and top_p are taken. */
  readonly sampling: boolean;
}

interface Row extends ModelRules {
  readonly name: RegExp;
}

const EFFORTS = ["low", "medium", "high"];

/** The first that fits holds. */
const ROWS: readonly Row[] = [
  { name: /^gpt-5(\.\d+)?-chat/, efforts: [], sampling: true },
  { name: /^gpt-oss/, efforts: EFFORTS, sampling: true },
  { name: /^o\d/, efforts: EFFORTS, sampling: false },
  { name: /^gpt-5(-|$)/, efforts: ["minimal", ...EFFORTS], sampling: false },
  { name: /^gpt-5\.1(-|$)/, efforts: ["none", ...EFFORTS], sampling: false },
  { name: /^gpt-([6-9]|5\.)/, efforts: ["none", ...EFFORTS, "xhigh"], sampling: false },
];

const OTHERS: ModelRules = { efforts: [], sampling: true };

/** The rules of a model, by its name as its upstream has it. */
export function rulesOf(model: string): ModelRules {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return ROWS.find((row) => row.name.test(name)) ?? OTHERS;
}

/** Every effort of any wire, from the lowest. */
const ORDER = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The effort, or the one next to it that the model knows; undefined where it knows none. */
export function nearestEffort(effort: string, { efforts }: ModelRules): string | undefined {
  const wanted = ORDER.indexOf(effort);
  if (wanted === -1 || efforts.includes(effort)) return efforts.length === 0 ? undefined : effort;
  return efforts.find((known) => ORDER.indexOf(known) > wanted) ?? efforts.at(-1);
}
