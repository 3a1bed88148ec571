/** A body without some of the tools that its upstream would run: every other byte of it stays as it came. */
import { type Prompt, type Tool, type ToolChoice, ToolChoice_Mode } from "../../api/index.js";
import { JsonCursor } from "../json/cursor.js";
import { type JsonNode, readTree } from "../json/node.js";
import { type Edits, type Member, readMembers, splice } from "../json/splice.js";
import { type HostedTool, stemOf } from "./hosted-tools.js";

/** What is left of a body, and what was taken from it. */
export interface Remainder {
  readonly body: Buffer;
  /** The tools that were taken out, and the members that asked for one. */
  readonly gone: readonly JsonNode[];
}

type Extra = NonNullable<Prompt["extra"]>;

/** As refusals cut the names in a path. */
const NAME_CHARACTERS_MAX = 64;

/**
 * The body without these tools, each found by its path. `nameOf` is a member's one name where the wire has several
 * spellings. A list or an object that held nothing else goes with them.
 */
export function withoutTools(
  body: Buffer,
  { open, members }: { readonly open: number; readonly members: readonly Member[] },
  tools: readonly HostedTool[],
  nameOf?: (key: string) => string,
): Remainder {
  const pruning = new Pruning(tools, nameOf);
  const root = readTree(body);
  const edits = new Map<string, string | undefined>();
  for (const [key, member] of root.members) {
    const left = pruning.of(member, pruning.nameIn(key));
    if (left !== member) edits.set(key, left === undefined ? undefined : left.raw());
  }
  return { body: splice(body, open, members, edits), gone: pruning.gone };
}

/** The body with edits of its members. */
export function editedBody(body: Buffer, edits: Edits): Buffer {
  const cursor = new JsonCursor(body);
  const open = cursor.at;
  return splice(body, open, readMembers(cursor), edits);
}

/**
 * The prompt without these tools, and without what its fields of no typed home ask for by a member. `path` is that of
 * the prompt in the tools' own.
 */
export function promptWithout(prompt: Prompt, path: string, tools: readonly HostedTool[]): Prompt {
  const pruning = new Pruning(tools);
  const kept = prompt.tools.flatMap((tool, place) => toolWithout(tool, `${path}.tools[${place}]`, pruning));
  const { gone } = pruning;
  const extra = prompt.extra && extraWithout(prompt.extra, tools, gone);
  if (kept.length === 0) return { ...prompt, tools: [], extra, toolChoice: undefined, parallelToolCalls: undefined };
  return {
    ...prompt,
    tools: kept,
    extra,
    toolChoice: prompt.toolChoice && choiceWithout(prompt.toolChoice, kept, gone),
  };
}

function toolWithout(tool: Tool, path: string, pruning: Pruning): Tool[] {
  if (tool.kind?.$case !== "opaque" || !pruning.touches(path)) return [tool];
  const { wire, json } = tool.kind.value;
  const left = pruning.of(readTree(Buffer.from(json)), path);
  return left === undefined ? [] : [{ ...tool, kind: { $case: "opaque", value: { wire, json: left.raw() } } }];
}

/** A name of a tool that is gone is none to choose; where it was the only one, the model chooses. */
function choiceWithout(choice: ToolChoice, kept: readonly Tool[], gone: readonly JsonNode[]): ToolChoice {
  const isKept = (name: string): boolean =>
    kept.some(({ kind }) => kind !== undefined && kind.$case !== "opaque" && kind.value.name === name);
  const isGone = (name: string): boolean => gone.some((tool) => memberText(tool, "name") === name) && !isKept(name);
  const names = choice.names.filter((name) => !isGone(name));
  if (names.length === choice.names.length) return choice;
  return names.length === 0 ? { ...choice, mode: ToolChoice_Mode.MODE_AUTO, names } : { ...choice, names };
}

function extraWithout(extra: Extra, tools: readonly HostedTool[], gone: readonly JsonNode[]): Extra {
  const edits = new Map<string, undefined>();
  for (const { isMember, param, wire } of tools) if (isMember && wire === extra.wire) edits.set(param, undefined);
  const choice = readTree(Buffer.from(extra.json)).members.get("tool_choice");
  if (choice?.kind === "object" && namesGone(choice, gone, [])) edits.set("tool_choice", undefined);
  return edits.size === 0 ? extra : { ...extra, json: editedBody(Buffer.from(extra.json), edits).toString() };
}

/** The name by which a tool that was left out is told. */
export function leftOutToolName({ name, param, isMember }: HostedTool): string {
  return (isMember ? param : `tools.${name}`).slice(0, NAME_CHARACTERS_MAX);
}

/** True where a choice names one of the tools that are gone, and none that stays: by its type, and its server. */
export function namesGone(choice: JsonNode, gone: readonly JsonNode[], kept: readonly JsonNode[]): boolean {
  const names = (tool: JsonNode): boolean =>
    memberText(tool, "type") !== "" &&
    stemOf(memberText(choice, "type")) === stemOf(memberText(tool, "type")) &&
    (!choice.members.has("server_label") || memberText(choice, "server_label") === memberText(tool, "server_label"));
  return gone.some(names) && !kept.some(names);
}

export function memberText(node: JsonNode, key: string): string {
  return node.members.get(key)?.text ?? "";
}

class Pruning {
  readonly gone: JsonNode[] = [];
  private readonly paths: ReadonlySet<string>;

  constructor(
    tools: readonly HostedTool[],
    private readonly nameOf: (key: string) => string = (key) => key,
  ) {
    this.paths = new Set(tools.map(({ param }) => param));
  }

  nameIn(key: string): string {
    return this.nameOf(key).slice(0, NAME_CHARACTERS_MAX);
  }

  /** True where something of the value at a path goes. */
  touches(path: string): boolean {
    return [...this.paths].some((gone) => gone === path || gone.startsWith(`${path}.`) || gone.startsWith(`${path}[`));
  }

  /** What is left of the value at a path: the very same where nothing of it goes, undefined where all does. */
  of(node: JsonNode, path: string): JsonNode | undefined {
    if (this.paths.has(path)) {
      this.gone.push(node);
      return undefined;
    }
    if (!this.touches(path)) return node;
    return node.kind === "array" ? this.list(node, path) : this.object(node, path);
  }

  private list(node: JsonNode, path: string): JsonNode | undefined {
    const items = node.items.flatMap((item, place) => this.of(item, `${path}[${place}]`) ?? []);
    if (items.length === 0) return undefined;
    return { ...node, items, raw: () => `[${items.map((item) => item.raw()).join(",")}]` };
  }

  private object(node: JsonNode, path: string): JsonNode | undefined {
    const members = new Map<string, JsonNode>();
    for (const [key, member] of node.members) {
      const at = `${path}.${this.nameIn(key)}`;
      const left = this.of(member, at);
      if (left !== undefined) members.set(key, left);
      else if (member.kind === "array" && !this.paths.has(at)) {
        // What only brought tools goes with them. What answers a call stays, or the call would wait for ever.
        if (!node.members.has("call_id")) return undefined;
        members.set(key, { ...member, items: [], raw: () => "[]" });
      }
    }
    if (members.size === 0) return undefined;
    const text = (): string => [...members].map(([key, member]) => `${JSON.stringify(key)}:${member.raw()}`).join(",");
    return { ...node, members, raw: () => `{${text()}}` };
  }
}
