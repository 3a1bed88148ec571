/** The tables of docs/configuration.md: every variable, and every key of a settings file. */
import { z } from "zod";
import { type JsonSchema, rawSchema } from "../../src/config/editor-schema.js";
import { families } from "../../src/families/index.js";
import { variables } from "../../src/config/variables.js";
import { markdownTable } from "./reference-page.js";

/** A key of a settings file. */
export interface SettingKey {
  /** Such as `models.<name>.targets[].weight`. */
  readonly path: string;
  readonly description: string;
  /** What is right, as the end of a sentence. */
  readonly rule: string;
  readonly isRequired: boolean;
  /** As the file would say it; undefined where there is none. */
  readonly default: string | undefined;
}

/** Blocks that are listed elsewhere, and where. */
const SAME = [
  ["targets[].cost", "; a block like `price`"],
  ["service_tiers.<name>.tiers", "; the same keys as `price.tiers`"],
] as const;
const NODE = z
  .object({
    description: z.string().default(""),
    rule: z.string().default(""),
    default: z.unknown().optional(),
    word: z.string().optional(),
    properties: z.record(z.string(), z.unknown()).optional(),
    required: z.array(z.string()).default([]),
    additionalProperties: z.unknown().optional(),
    items: z.unknown().optional(),
  })
  .loose();
const FAMILY_KEY = "upstreams.<name>.family";
type Node = z.output<typeof NODE>;

/** Every key, in the order of the schema; what has the form of another block says so and is not listed again. */
export function settingKeys(schema: JsonSchema = rawSchema()): readonly SettingKey[] {
  return below(NODE.parse(schema), "");
}

function below(node: Node, path: string): SettingKey[] {
  if (SAME.some(([end]) => path === end || path.endsWith(`.${end}`))) return [];
  const own = Object.entries(node.properties ?? {}).flatMap(([name, value]) => {
    const child = NODE.parse(value);
    const at = path === "" ? name : `${path}.${name}`;
    const key: SettingKey = {
      path: at,
      description: child.description + (SAME.find(([end]) => at.endsWith(`.${end}`))?.[1] ?? ""),
      rule: ruleOf(child),
      isRequired: node.required.includes(name),
      default: shownDefault(child.default),
    };
    return [key].concat(below(child, at));
  });
  const { additionalProperties: named, items } = node;
  const entries = isBlock(named) ? below(NODE.parse(named), `${path}.<name>`) : [];
  return [...own, ...entries, ...(isBlock(items) ? below(NODE.parse(items), `${path}[]`) : [])];
}

/** Of a list or a block of single values, the rule of each. */
function ruleOf(node: Node): string {
  if (node.rule !== "") return node.rule;
  if (isBlock(node.items)) return prefixed("each ", NODE.parse(node.items).rule);
  if (isBlock(node.additionalProperties)) return prefixed("each ", NODE.parse(node.additionalProperties).rule);
  return "";
}

function prefixed(prefix: string, rule: string): string {
  return rule === "" ? "" : prefix + rule;
}

function isBlock(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function shownDefault(value: unknown): string | undefined {
  if (value === undefined || value === "") return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Everything below the head of the page. */
export function configurationPage(): string {
  const environment = ["gateway", "commands"].map((reader) =>
    markdownTable(
      ["variable", "default", "meaning"],
      variables()
        .filter((one) => one.reader === reader)
        .map((one) => [code(one.name), one.default === undefined ? "" : code(one.default), one.description]),
    ),
  );
  const keys = settingKeys();
  const tops = keys.filter(({ path }) => !path.includes("."));
  const sections = tops.map((top) => {
    const rows = keys.filter(({ path }) => path.startsWith(`${top.path}.`) || path.startsWith(`${top.path}[]`));
    return `### \`${top.path}\`\n\n${top.description}.\n\n${table(rows)}`;
  });
  return [
    `## Environment variables of the gateway\n\n${environment[0]}`,
    `## Environment variables of the commands\n\n${environment[1]}`,
    `## The settings file\n`,
    ...sections,
  ].join("\n");
}

function table(keys: readonly SettingKey[]): string {
  const rows = keys.map(({ path, description, rule, isRequired, default: value }) => [
    code(path),
    isRequired ? "required" : value === undefined ? "" : code(value),
    [description, path === FAMILY_KEY ? familyRule() : rule].filter((text) => text !== "").join("; "),
  ]);
  return markdownTable(["key", "default", "meaning"], rows);
}

/** The settings know no family, and whoever writes them must. */
function familyRule(): string {
  return `must be one of ${families.map(({ name }) => code(name)).join(", ")}`;
}

function code(text: string): string {
  return `\`${text}\``;
}
