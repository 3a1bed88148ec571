/** The tools that a client offers, by the one name each that other wires know them by. */
import { type JsonNode, readTree } from "../../json/node.js";

/** A tool as its client knows it. */
export interface AskedTool {
  readonly namespace: string | undefined;
  readonly name: string;
  /** True where it takes free text. */
  readonly custom: boolean;
}

/** Items that bring tools along: those that were added, and those that a search found. */
const BRINGS_TOOLS: ReadonlySet<string> = new Set(["additional_tools", "tool_search_output"]);
const NO_ITEMS: readonly JsonNode[] = [];

/** Names of one request. Tools in a namespace go by both names at once, since no other wire has namespaces. */
export class AskedTools {
  private readonly byFlat = new Map<string, AskedTool>();
  private readonly flats = new Map<string, string>();

  /** Reads the tools of a body, of the request itself and of those that came amid the conversation. */
  static of(root: JsonNode): AskedTools {
    const asked = new AskedTools();
    const lists = toolLists(root);
    // Tools without a namespace keep their names whatever stands in namespaces.
    for (const tools of lists) for (const tool of tools) asked.add(undefined, tool);
    for (const tools of lists)
      for (const tool of tools)
        for (const inner of innerTools(tool)) asked.add(tool.members.get("name")?.text ?? "", inner);
    return asked;
  }

  static ofBody(body: Buffer): AskedTools {
    return AskedTools.of(readTree(body));
  }

  /** The name that other wires know a tool by. A call may name its tool with its namespace, without, or by both. */
  flat(namespace: string | undefined, name: string): string {
    const known = this.flats.get(keyOf(namespace, name));
    if (known !== undefined || this.byFlat.has(name)) return known ?? name;
    const flat = namespace === undefined || namespace === "" ? this.onlyNamed(name) : undefined;
    return flat ?? flatName(namespace, name);
  }

  /** The one tool of a namespace that bears this name, alone or behind that of its namespace. */
  private onlyNamed(name: string): string | undefined {
    const found = [...this.byFlat].filter(
      ([, tool]) => tool.name === name || (tool.namespace !== undefined && `${tool.namespace}.${tool.name}` === name),
    );
    return found.length === 1 ? found[0]?.[0] : undefined;
  }

  /** The tool of a name; undefined where the client offers none. */
  tool(flat: string): AskedTool | undefined {
    return this.byFlat.get(flat);
  }

  private add(namespace: string | undefined, node: JsonNode): void {
    const type = node.members.get("type")?.text ?? "";
    const name = node.members.get("name")?.text ?? "";
    if (name === "" || (type !== "function" && type !== "custom")) return;
    // Told again amid the conversation it is still the same tool.
    if (this.flats.has(keyOf(namespace, name))) return;
    let flat = flatName(namespace, name);
    // Two that come to the same name stay two.
    if (namespace !== undefined) while (this.byFlat.has(flat)) flat += "_";
    this.flats.set(keyOf(namespace, name), flat);
    this.byFlat.set(flat, { namespace, name, custom: type === "custom" });
  }
}

/** The lists of tools of a body, in their order. */
export function toolLists(root: JsonNode): readonly (readonly JsonNode[])[] {
  const items = root.members.get("input")?.items ?? NO_ITEMS;
  const later = items.filter((item) => BRINGS_TOOLS.has(item.members.get("type")?.text ?? ""));
  return [root, ...later].map((holder) => holder.members.get("tools")?.items ?? NO_ITEMS);
}

/** The tools in a namespace; none in a tool that is none. */
export function innerTools(tool: JsonNode): readonly JsonNode[] {
  return tool.members.get("type")?.text === "namespace" ? (tool.members.get("tools")?.items ?? NO_ITEMS) : NO_ITEMS;
}

function flatName(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}__${name}`;
}

function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace ?? ""}\u0000${name}`;
}
