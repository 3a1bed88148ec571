/**
 * JSON as a tree that knows its bytes, for reading that checks each value and loses none: numbers keep their digits.
 */
import { GatewayError } from "../../base/errors.js";
import { JsonCursor, type JsonKind } from "./cursor.js";

/** One value. Exactly the field of its kind is filled. */
export interface JsonNode {
  readonly kind: JsonKind;
  /** The value's own bytes, as text. */
  raw(): string;
  /** Of an object; of two equal keys the last counts. */
  readonly members: ReadonlyMap<string, JsonNode>;
  /** Of an array. */
  readonly items: readonly JsonNode[];
  /** Of a string. */
  readonly text: string;
}

const NO_MEMBERS: ReadonlyMap<string, JsonNode> = new Map();
const NO_ITEMS: readonly JsonNode[] = [];

/** Reads a whole body. Throws BODY_INVALID. */
export function readTree(bytes: Buffer, nodesMax?: number): JsonNode {
  const cursor = new JsonCursor(bytes, nodesMax);
  const root = readNode(cursor);
  cursor.finish();
  return root;
}

function readNode(cursor: JsonCursor): JsonNode {
  const { bytes, at: start } = cursor;
  const kind = cursor.kind();
  let members = NO_MEMBERS;
  let items = NO_ITEMS;
  let text = "";
  if (kind === "object") members = readObject(cursor);
  else if (kind === "array") items = readArray(cursor);
  else if (kind === "string") text = cursor.readString();
  else cursor.skip();
  const end = cursor.at;
  return { kind, members, items, text, raw: () => bytes.toString("utf8", start, end) };
}

function readObject(cursor: JsonCursor): ReadonlyMap<string, JsonNode> {
  const members = new Map<string, JsonNode>();
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) members.set(key, readNode(cursor));
  return members;
}

function readArray(cursor: JsonCursor): readonly JsonNode[] {
  const items: JsonNode[] = [];
  cursor.enterArray();
  while (cursor.nextItem()) items.push(readNode(cursor));
  return items;
}

/**
 * Reads the members of one object and remembers which were read. A member that is null counts as absent.
 * Throws PARAMETER_INVALID or PARAMETER_MISSING with the path of the member.
 */
export class ObjectReader {
  private readonly taken = new Set<string>();

  constructor(
    private readonly node: JsonNode,
    private readonly path: string,
  ) {
    if (node.kind !== "object") throw wrongKind(path, "an object", node.kind);
  }

  /** Where a member stands, as a refusal names it. */
  pathOf(key: string): string {
    return this.path === "" ? key : `${this.path}.${key}`;
  }

  value(key: string): JsonNode | undefined {
    this.taken.add(key);
    return this.peek(key);
  }

  /** A member that stays unread. */
  peek(key: string): JsonNode | undefined {
    const node = this.node.members.get(key);
    return node === undefined || node.kind === "null" ? undefined : node;
  }

  text(key: string): string | undefined {
    return this.of(key, "string", "a string")?.text;
  }

  requiredText(key: string): string {
    return this.text(key) ?? this.missing(key);
  }

  flag(key: string): boolean | undefined {
    const node = this.of(key, "boolean", "true or false");
    return node === undefined ? undefined : node.raw() === "true";
  }

  number(key: string): number | undefined {
    const node = this.of(key, "number", "a number");
    return node === undefined ? undefined : Number(node.raw());
  }

  /** An integer that fits 32 bits without a sign. */
  count(key: string): number | undefined {
    const value = this.number(key);
    if (value === undefined || (Number.isInteger(value) && value >= 0 && value <= 0xffffffff)) return value;
    throw wrongValue(this.pathOf(key), "it must be a whole number");
  }

  /** An integer of 64 bits. */
  integer(key: string): bigint | undefined {
    const raw = this.of(key, "number", "an integer")?.raw();
    if (raw === undefined) return undefined;
    const value = /^-?\d{1,19}$/.test(raw) ? BigInt(raw) : undefined;
    if (value !== undefined && BigInt.asIntN(64, value) === value) return value;
    throw wrongValue(this.pathOf(key), "it must be an integer of 64 bits");
  }

  list(key: string): readonly JsonNode[] | undefined {
    return this.of(key, "array", "an array")?.items;
  }

  object(key: string): ObjectReader | undefined {
    const node = this.of(key, "object", "an object");
    return node === undefined ? undefined : new ObjectReader(node, this.pathOf(key));
  }

  requiredObject(key: string): ObjectReader {
    return this.object(key) ?? this.missing(key);
  }

  /** A member's own JSON, whatever it is. */
  raw(key: string): string | undefined {
    return this.value(key)?.raw();
  }

  keys(): readonly string[] {
    return [...this.node.members.keys()];
  }

  /** The members that nobody read, as a JSON object; undefined where all were. */
  rest(): string | undefined {
    const texts: string[] = [];
    for (const [key, node] of this.node.members)
      if (!this.taken.has(key)) texts.push(`${JSON.stringify(key)}:${node.raw()}`);
    return texts.length === 0 ? undefined : `{${texts.join(",")}}`;
  }

  missing(key: string): never {
    throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: this.pathOf(key) });
  }

  private of(key: string, kind: JsonKind, must: string): JsonNode | undefined {
    const node = this.value(key);
    if (node === undefined || node.kind === kind) return node;
    throw wrongKind(this.pathOf(key), must, node.kind);
  }
}

/** The refusal of a parameter. `code` is for a client that looks for one of its own. */
export function wrongValue(param: string, problem: string, code?: string): GatewayError {
  return new GatewayError("ERROR_REASON_PARAMETER_INVALID", {
    param,
    problem,
    ...(code === undefined ? {} : { code }),
  });
}

function wrongKind(param: string, must: string, kind: JsonKind): GatewayError {
  return wrongValue(param, `it must be ${must}, not ${kind}`);
}
