/** The names that people gave accounts and keys, for tables: ids alone tell them little. */
import { AccountServiceService, KeyServiceService } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import type { Connection } from "./connection.js";

/** Of more different ids than these a table shows the ids alone: each name is a question of its own. */
const NAMES_MAX = 200;

export interface Named {
  readonly accountId?: string;
  readonly keyId?: string;
}

export interface Names {
  /** The id, with its name behind it where it has another one; `-` for none. */
  account(id: string): string;
  key(id: string): string;
  /** The names alone; empty where there is none. */
  accountName(id: string): string;
  keyName(id: string): string;
}

/** The names of all that the rows name. A key that may not read them has the ids. */
export async function namesOf(connection: Connection, rows: readonly Named[]): Promise<Names> {
  const readAccount = async (id: string): Promise<string> =>
    (await connection.call(AccountServiceService.getAccount, { id })).account?.name ?? "";
  const readKey = async (id: string): Promise<string> =>
    (await connection.call(KeyServiceService.getKey, { id })).key?.settings?.name ?? "";
  const [accounts, keys] = await Promise.all([
    namesBy(
      rows.map(({ accountId }) => accountId),
      readAccount,
    ),
    namesBy(
      rows.map(({ keyId }) => keyId),
      readKey,
    ),
  ]);
  return namesIn(accounts, keys);
}

/** The same for rows that come one by one: each name is asked for once; where there are too many, ids stand alone. */
export function namesAsTheyCome(connection: Connection): (row: Named) => Promise<Names> {
  const known = new Map<string, Promise<Names>>();
  return (row) => {
    const ids = `${row.accountId} ${row.keyId}`;
    const asked = known.get(ids);
    if (asked !== undefined || known.size >= NAMES_MAX) return asked ?? Promise.resolve(NO_NAMES);
    // What cannot be read now is told without its name.
    const names = namesOf(connection, [row]).catch(() => NO_NAMES);
    known.set(ids, names);
    return names;
  };
}

async function namesBy(
  ids: readonly (string | undefined)[],
  read: (id: string) => Promise<string>,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  const asked = [...new Set(ids.filter((id) => id !== undefined && id !== "" && id !== "unknown"))] as string[];
  if (asked.length > NAMES_MAX) return names;
  await Promise.all(asked.map(async (id) => names.set(id, await orNothing(read(id)))));
  return names;
}

/** What is gone, or may not be read, has no name. */
async function orNothing(name: Promise<string>): Promise<string> {
  try {
    return await name;
  } catch (error) {
    if (error instanceof GatewayError && (error.http === 403 || error.http === 404)) return "";
    throw error;
  }
}

function namesIn(accounts: ReadonlyMap<string, string>, keys: ReadonlyMap<string, string>): Names {
  return {
    account: (id) => withName(id, accounts.get(id)),
    key: (id) => withName(id, keys.get(id)),
    accountName: (id) => accounts.get(id) ?? "",
    keyName: (id) => keys.get(id) ?? "",
  };
}

const NO_NAMES = namesIn(new Map(), new Map());

function withName(id: string, name: string | undefined): string {
  if (id === "") return "-";
  return name === undefined || name === "" || name === id ? id : `${id} (${name})`;
}
