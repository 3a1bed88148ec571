/** JSON that was parsed, written again with all that it said: no double holds 1e400, or each digit of a long id. */
import { type JsonNode, readTree } from "./node.js";
import { arrayText, objectText } from "./text.js";
import { objectOf } from "./value.js";

/** One value that was parsed, and the bytes that it was parsed from. Nothing is read twice until somebody asks. */
export class ExactJson {
  private nodes: ReadonlyMap<object, JsonNode> | undefined;

  constructor(
    private readonly root: unknown,
    private readonly bytes: Buffer | undefined,
  ) {}

  /** An object or a list within that value, as JSON without spaces; numbers, and the order of members, are as told. */
  textOf(value: object): string {
    const node = this.nodeOf(value);
    return node === undefined ? JSON.stringify(value) : compactText(node);
  }

  /** The same of a member of an object; undefined where it has none of this name. */
  memberText(object: object, name: string): string | undefined {
    const member = this.nodeOf(object)?.members.get(name);
    const value = objectOf(object)?.[name];
    return member === undefined ? JSON.stringify(value) : compactText(member);
  }

  private nodeOf(value: object): JsonNode | undefined {
    this.nodes ??= nodesOf(this.root, this.bytes);
    return this.nodes.get(value);
  }
}

/** The nodes of all objects and lists of the value; none where the strict reader refuses the bytes. */
function nodesOf(root: unknown, bytes: Buffer | undefined): ReadonlyMap<object, JsonNode> {
  const nodes = new Map<object, JsonNode>();
  const note = (value: unknown, node: JsonNode | undefined): void => {
    if (typeof value !== "object" || value === null || node === undefined) return;
    nodes.set(value, node);
    if (Array.isArray(value)) value.forEach((item, place) => note(item, node.items[place]));
    else for (const [key, member] of Object.entries(value)) note(member, node.members.get(key));
  };
  try {
    if (bytes !== undefined) note(root, readTree(bytes));
  } catch {
    // What the strict reader refuses is told as it was parsed.
  }
  return nodes;
}

/** The value without spaces. Scalars are as they came. */
function compactText(node: JsonNode): string {
  if (node.kind === "object")
    return objectText([...node.members].map(([key, member]) => [key, compactText(member)] as const));
  return node.kind === "array" ? arrayText(node.items.map(compactText)) : node.raw();
}
