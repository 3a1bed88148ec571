/** How a key stands: who it lets in, within the settings of the keys that made it, and whether and when it ends. */
import type { KeyRow, KeyStore } from "../store/store.js";
import type { Caller } from "./caller.js";
import { callerOf } from "./key-caller.js";

export interface Standing {
  readonly caller: Caller;
  readonly revision: number;
  readonly maker: Standing | undefined;
  /** True where the key is revoked, or one that made it and ends what it made. */
  readonly revoked: boolean;
  /** When the key expires, or one that made it and ends what it made. */
  readonly endMs: number;
}

/** A key that so many keys made in a row makes no more. */
export const MAKERS_MAX = 8;

/**
 * Reads the makers of a key. The caller is the one of `known` where nothing has changed since, so that what others keep
 * beside it stays.
 */
export async function standingOf(row: KeyRow, keys: KeyStore, known?: Standing): Promise<Standing> {
  const same = known?.caller.keyId === row.id ? known : undefined;
  const makerRow = row.makerId === null ? undefined : await keys.get(row.makerId);
  const maker = makerRow && (await standingOf(makerRow, keys, same?.maker));
  const kept = same?.revision === row.revision && same.maker?.caller === maker?.caller;
  const caller = kept ? same.caller : callerOf(row, maker?.caller);
  const end = maker?.caller.key.settings?.childrenEndWithIt === true ? maker : undefined;
  return {
    caller,
    revision: row.revision,
    maker,
    revoked: row.revokeTimeMs !== null || end?.revoked === true,
    endMs: Math.min(caller.key.settings?.expireTime?.getTime() ?? Infinity, end?.endMs ?? Infinity),
  };
}

/** The ids of the key and of its makers: a change of any of them changes how it stands. */
export function namesOf(standing: Standing): readonly string[] {
  const names: string[] = [];
  for (let at: Standing | undefined = standing; at !== undefined; at = at.maker) names.push(at.caller.keyId);
  return names;
}
