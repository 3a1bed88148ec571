/** The pass over the tools of a body: which of them Google runs itself. */
import { heldIn, refuseHeld } from "../../request/held-objects.js";
import { type FoundTools, type HostedTool, noToolsFound } from "../../request/hosted-tools.js";
import type { JsonCursor } from "../../json/cursor.js";
import { claimKey } from "../../json/splice.js";
import { objectOf, parsed } from "../../json/value.js";
import { TOOLS } from "./members.js";
import { fieldName } from "../facts.js";

/** Reads the tools that come next, a list or a single one, and notes those that Google runs. */
export function readTools(cursor: JsonCursor, found: FoundTools): undefined {
  const kind = cursor.kind();
  if (kind === "object") readOne(cursor, found, "tools", 0);
  else if (kind !== "array") cursor.skip();
  else {
    cursor.enterArray();
    for (let place = 0; cursor.nextItem(); place++) {
      if (cursor.kind() === "object") readOne(cursor, found, `tools[${place}]`, place);
      else cursor.skip();
    }
  }
  return undefined;
}

/** An object names each of its tools by a member. */
function readOne(cursor: JsonCursor, found: FoundTools, path: string, place: number): void {
  const names = new Set<string>();
  found.toolCount += 1;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    const name = fieldName(key);
    claimKey(names, name);
    const start = cursor.at;
    cursor.skip();
    if (name === "functionDeclarations" || cursor.bytes[start] === 0x6e) continue;
    const value = parsed(cursor.bytes.toString("utf8", start, cursor.at));
    noteTool(name, value, `${path}.${name.slice(0, 64)}`, place, found);
  }
}

function noteTool(name: string, value: unknown, param: string, place: number | undefined, found: FoundTools): void {
  found.definedToolCount += 1;
  const rule = TOOLS.get(name);
  if (rule?.kind === "client") return;
  if (rule?.kind === "refused") {
    found.held ??= { param, problem: rule.instead };
    return;
  }
  found.held ??= heldIn(value, param, true);
  const where = { param, place, callsMax: undefined, end: 0, isMember: false, isOfferedUnasked: false };
  found.hosted.push({ ...where, name: rule?.kind === "priced" ? rule.name : name, kind: rule?.kind ?? "unknown" });
}

/** What Google runs of a tool that came beside a body. Throws PARAMETER_INVALID for one that may not pass. */
export function readTool(json: string, param: string): readonly HostedTool[] {
  const found = noToolsFound();
  for (const [key, value] of Object.entries(objectOf(parsed(json)) ?? {}))
    noteTool(fieldName(key), value, `${param}.${key.slice(0, 64)}`, undefined, found);
  if (found.held !== undefined) throw refuseHeld(found.held);
  return found.hosted;
}

/** Google's own stores hold what anybody put there under the same credential; an address elsewhere is anybody's. */
export function isHeldFile(address: string): boolean {
  if (!/^https?:/i.test(address)) return true;
  if (!URL.canParse(address)) return true;
  // A dot at the end names the same host.
  const hostname = new URL(address).hostname.replace(/\.+$/, "");
  return /(^|\.)googleapis\.com$/.test(hostname) && !hostname.startsWith("storage.");
}
