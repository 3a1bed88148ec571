/** The tools that a client offers, by the one name each that other wires know them by. */
import { type JsonNode, readTree } from "../json/node.js";

/** A tool as its client knows it. */
export interface AskedTool {
  readonly namespace: string | undefined;
  readonly name: string;
  /** True where it takes free text. */
  readonly custom: boolean;
}

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

  /** The name that other wires know a tool by. */
  flat(namespace: string | undefined, name: string): string {
    return this.flats.get(keyOf(namespace, name)) ?? flatName(namespace, name);
  }

  /** The tool of a name; undefined where the client offers none. */
  tool(flat: string): AskedTool | undefined {
    return this.byFlat.get(flat);
  }

  private add(namespace: string | undefined, node: JsonNode): void {
    const type = node.members.get("type")?.text ?? "";
    const name = node.members.get("name")?.text ?? "";
    if (name === "" || (type !== "function" && type !== "custom")) return;
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
  const later = items.filter((item) => item.members.get("type")?.text === "additional_tools");
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
