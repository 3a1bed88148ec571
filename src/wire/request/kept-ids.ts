/** The walk over a whole body for ids of what an upstream keeps: everywhere but in what is text to the model. */
import { JsonCursor } from "../json/cursor.js";
import { foldedName } from "./folded-name.js";
import type { Held } from "./held-objects.js";
import { HELD } from "./kept-names.js";

/** Where members of a wire's bodies are the client's own words, whatever they are called. */
export interface OwnWords {
  /** JSON schemas, and what a tool takes or gives. */
  readonly anywhere: ReadonlySet<string>;
  /** The same, as long as they stand beside the request's own members. */
  readonly beside: ReadonlySet<string>;
  /** The same in objects of types that end so: what a tool was called with. */
  readonly inCalls: { readonly member: string; readonly typeEnd: string } | undefined;
  /** A member's one name, where the wire has several spellings. */
  readonly nameOf: (key: string) => string;
}

/** The rows of a table, as they are written down. */
export function ownWords(says: {
  readonly anywhere: readonly string[];
  readonly beside: readonly string[];
  readonly inCalls?: OwnWords["inCalls"];
  readonly nameOf?: OwnWords["nameOf"];
}): OwnWords {
  const { anywhere, beside, inCalls, nameOf = (key) => key } = says;
  return { anywhere: new Set(anywhere), beside: new Set(beside), inCalls, nameOf };
}

/**
 * What was found and written, which is told again by whoever goes on with a conversation: by type, the members in whose
 * objects it names what it came from. The upstream takes nothing by these ids.
 */
const RETOLD: ReadonlyMap<string, string> = new Map([
  ["code_execution_output", ""],
  ["bash_code_execution_output", ""],
  ["file_citation", ""],
  ["container_file_citation", ""],
  ["file_search_call", "results"],
]);

/** One id that was found. `member`: the one of the object above in which it stands; empty: it is its own. */
interface Named extends Held {
  readonly member: string;
}

/** The first id in a body that this cursor passed; undefined where there is none, which costs no second look. */
export function keptId(passed: JsonCursor, words: OwnWords): Held | undefined {
  if (!passed.sawKeptName) return undefined;
  const cursor = new JsonCursor(passed.bytes);
  const [first] = new Walk(cursor, words).value("", true);
  return first && { param: first.param, problem: first.problem };
}

class Walk {
  constructor(
    private readonly cursor: JsonCursor,
    private readonly words: OwnWords,
  ) {}

  /** Passes the value that comes next. Returns the ids in it that are taken. */
  value(path: string, isRequest = false): readonly Held[] {
    const { cursor } = this;
    const kind = cursor.kind();
    if (kind === "object") return this.object(path, isRequest);
    const found: Held[] = [];
    if (kind !== "array") cursor.skip();
    else {
      cursor.enterArray();
      for (let place = 0; cursor.nextItem(); place++) found.push(...this.value(`${path}[${place}]`));
    }
    return found;
  }

  private object(path: string, isRequest: boolean): readonly Held[] {
    const { cursor, words } = this;
    const found: Named[] = [];
    // A reader may take either of two members of one name.
    const types = new Set<string>();
    cursor.enterObject();
    for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
      const name = words.nameOf(key);
      const problem = cursor.kind() === "null" ? undefined : HELD.get(foldedName(key));
      const param = path === "" ? key : `${path}.${key}`;
      if (problem !== undefined) found.push({ param, problem, member: "" });
      if (name === "type" && cursor.kind() === "string") types.add(cursor.readString());
      else if (words.anywhere.has(name) || (isRequest && words.beside.has(name))) cursor.skip();
      else for (const held of this.value(param)) found.push({ ...held, member: name });
    }
    return types.size === 0 ? found : found.filter(({ member }) => !this.isOwnWord([...types], member));
  }

  private isOwnWord(types: readonly string[], member: string): boolean {
    const { inCalls } = this.words;
    if (inCalls?.member === member && types.every((type) => type.endsWith(inCalls.typeEnd))) return true;
    return types.every((type) => RETOLD.has(type) && (member === "" || RETOLD.get(type) === member));
  }
}
