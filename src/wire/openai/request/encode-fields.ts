/** Fields of a request that chat completions and responses write alike. */
import { createHash } from "node:crypto";
import type { CacheMark } from "../../../api/index.js";
import { checkedJson, jsonOf, objectText } from "../../json/text.js";
import { objectSchema } from "../../request/object-schema.js";
import { encodeTtl } from "./media.js";

const USER_CHARACTERS_MAX = 128;

/** OpenAI refuses a longer id; its hash is as stable, and as good against abuse. */
export function encodeUser(user: string | undefined): string | undefined {
  if (user === undefined || user.length <= USER_CHARACTERS_MAX) return jsonOf(user);
  return jsonOf(createHash("sha256").update(user).digest("hex"));
}

/** An object whose keys a client chooses; undefined where it is empty. */
export function encodeMap(map: Readonly<Record<string, string | number>>): string | undefined {
  const entries = Object.entries(map);
  return entries.length === 0 ? undefined : objectText(entries.map(([key, value]) => [key, JSON.stringify(value)]));
}

export function encodeCacheMark(mark: CacheMark | undefined): string | undefined {
  if (mark === undefined) return undefined;
  return objectText([
    ["mode", '"explicit"'],
    ["ttl", jsonOf(encodeTtl(mark.ttlSeconds))],
  ]);
}

/** The schema of a tool. One from another wire may have several forms at its top, which OpenAI refuses. */
export function encodeParameters(
  schema: string | undefined,
  path: string,
  isForeign: boolean,
  drop: (param: string) => void,
): string | undefined {
  const checked = checkedJson(schema, path);
  if (checked === undefined || !isForeign) return checked;
  return objectSchema(checked, (member) => drop(`${path}.${member}`));
}
