/** Reads objects of the wire by the one name of each field, whichever of its two spellings a client chose. */
import { type JsonNode, ObjectReader } from "../../json/node.js";
import { fieldName } from "../facts.js";

export class ProtoReader extends ObjectReader {
  constructor(node: JsonNode, path: string) {
    super(named(node), path);
  }

  override object(key: string): ProtoReader | undefined {
    const node = this.value(key);
    return node === undefined ? undefined : new ProtoReader(node, this.pathOf(key));
  }

  override requiredObject(key: string): ProtoReader {
    return this.object(key) ?? this.missing(key);
  }

  /** The objects of a list; Google's servers take a single one without its brackets. */
  objects(key: string): ProtoReader[] {
    const node = this.value(key);
    if (node?.kind === "object") return [new ProtoReader(node, this.pathOf(key))];
    return (this.list(key) ?? []).map((item, place) => new ProtoReader(item, `${this.pathOf(key)}[${place}]`));
  }

  /** Strings of a list, or a single one. */
  texts(key: string): string[] {
    const node = this.value(key);
    if (node?.kind === "string") return [node.text];
    return (this.list(key) ?? []).map((item) => item.text);
  }

  /** A whole number, written as such or as a string of digits. */
  whole(key: string): number | undefined {
    const node = this.peek(key);
    if (node?.kind !== "string") return this.count(key);
    this.value(key);
    return /^\d{1,10}$/.test(node.text) ? Number(node.text) : undefined;
  }
}

function named(node: JsonNode): JsonNode {
  if (node.kind !== "object" || ![...node.members.keys()].some((key) => key.includes("_"))) return node;
  const members = new Map([...node.members].map(([key, value]) => [fieldName(key), value]));
  return { ...node, members };
}
