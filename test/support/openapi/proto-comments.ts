/** What the protocol's files say of each of their elements, by its full name. */
import { readdirSync, readFileSync } from "node:fs";

const FOLDER = "proto/tollgate/v1";
const OPENS = /^(service|message|enum|oneof) (\w+) \{/;
const RPC = /^rpc (\w+)\(/;
const MEMBER = /^(?:optional |repeated )?[\w.<>, ]+ (\w+) = \d+/;

/** Comments by names such as `tollgate.v1.Account.id` and `tollgate.v1.AccountService.GetAccount`. */
export function protoComments(): ReadonlyMap<string, string> {
  const comments = new Map<string, string>();
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".proto")))
    readComments(readFileSync(`${FOLDER}/${file}`, "utf8"), comments);
  return comments;
}

/** Reads a file in the formatter's layout: an element a line, its comment in the lines above. */
function readComments(text: string, comments: Map<string, string>): void {
  // What is open, with the names that it gives to what stands in it; a oneof and an option give none.
  const open: (string | undefined)[] = [];
  let said: string[] = [];
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (line.startsWith("//")) {
      said.push(line.slice(2).trim());
      continue;
    }
    const [, kind, block] = OPENS.exec(line) ?? [];
    const name = block ?? RPC.exec(line)?.[1] ?? MEMBER.exec(line)?.[1];
    const scope = ["tollgate.v1", ...open.filter((each) => each !== undefined)].join(".");
    if (name !== undefined && said.length > 0) comments.set(`${scope}.${name}`, paragraphs(said));
    if (line.endsWith("{")) open.push(kind === "oneof" ? undefined : block);
    if (line.startsWith("}")) open.pop();
    said = [];
  }
}

/** Lines of a comment as paragraphs of one line each. */
function paragraphs(lines: readonly string[]): string {
  return lines.join("\n").replaceAll(/(?<!\n)\n(?!\n)/g, " ");
}
