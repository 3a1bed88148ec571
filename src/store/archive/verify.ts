/** Proves a ledger with its archive: each file, from the first transfer to the last, and how they join the database. */
import type { VerifyReport } from "../store.js";
import { CHAIN_START } from "../../ledger/hash-chain.js";
import type { Transfer } from "../../ledger/transfer.js";
import type { ChainColumns } from "../chain-proof.js";
import { PROBLEMS_MAX } from "../verify-checks.js";
import type { ArchiveDatabase, ArchivedAccount, ArchiveRow } from "./database.js";
import type { ManifestAccount } from "./format.js";
import { lockArchive } from "./lock.js";
import { proveMonth } from "./proof.js";

const ROWS_AT_ONCE = 1_000;

/** The report on the database, with the problems of its archive behind its own. */
export async function verifyWithArchive(database: ArchiveDatabase, directory: string): Promise<VerifyReport> {
  // No archive moves on meanwhile.
  const lock = lockArchive(directory);
  try {
    const report = await database.verify();
    const problems = [...report.problems, ...(await brokenArchive(database, directory))];
    return { ...report, holds: problems.length === 0, problems: problems.slice(0, PROBLEMS_MAX) };
  } finally {
    lock.close();
  }
}

async function brokenArchive(database: ArchiveDatabase, directory: string): Promise<readonly string[]> {
  const problems: string[] = [];
  const join = new ArchiveJoin(problems);
  for (let after = ""; ;) {
    const accounts = await database.archived(after, ROWS_AT_ONCE);
    for (const account of accounts) join.expect(account);
    const end = accounts.at(-1);
    if (end === undefined) break;
    after = end.id;
  }
  for (let after = 0; ;) {
    const rows = await database.kept(after, ROWS_AT_ONCE);
    for (const { sequence, hash } of rows) join.keep(sequence, hash);
    const end = rows.at(-1);
    if (end === undefined) break;
    after = end.sequence;
  }
  let previous = CHAIN_START.hash;
  for (const archive of await database.archives()) {
    problems.push(...(await brokenMonth(directory, archive, previous, join)));
    previous = archive.manifestHash;
  }
  join.end();
  return problems;
}

async function brokenMonth(
  directory: string,
  { month, number, manifestHash }: ArchiveRow,
  previous: string,
  join: ArchiveJoin,
): Promise<readonly string[]> {
  const proof = await proveMonth(directory, month, join);
  if (proof.problems.length > 0) return proof.problems;
  const isSame = proof.manifestHash === manifestHash && proof.head?.number === number;
  if (!isSame || proof.head.previous !== previous)
    return [`The manifest of ${month} is not the one that the database names.`];
  return [];
}

/** Follows the archived chains over all months, and compares them with what the database kept of them. */
class ArchiveJoin {
  readonly #accounts = new Map<string, ArchivedAccount>();
  readonly #kept = new Map<number, string>();
  /** Where each chain is by now, and what its transfers that are gone come to. */
  readonly #chains = new Map<string, Chain>();

  constructor(private readonly problems: string[]) {}

  expect(account: ArchivedAccount): void {
    this.#accounts.set(account.id, account);
  }

  keep(sequence: number, hash: string): void {
    this.#kept.set(sequence, hash);
  }

  account({ account: id, from }: ManifestAccount): void {
    const chain = this.#chainOf(id);
    if (chain.place !== from.place || chain.hash !== from.hash)
      this.problems.push(`The archived chain of the account ${id} does not go on behind number ${chain.place}.`);
    chain.place = from.place;
    chain.hash = from.hash;
  }

  transfer(row: ChainColumns, said: Transfer): void {
    const { accountId, accountSequence, sequence, hash } = said;
    const chain = this.#chainOf(accountId);
    chain.place = accountSequence;
    chain.hash = hash;
    const account = this.#accounts.get(accountId);
    // What a run that was interrupted has not taken out yet is in the files and in the database.
    if (account === undefined || accountSequence > account.place) return;
    if (accountSequence === account.place) chain.isJoined = hash === account.hash;
    const kept = this.#kept.get(sequence);
    if (kept !== undefined) {
      this.#kept.delete(sequence);
      if (kept !== hash) this.problems.push(`The transfer ${sequence} that was kept is not the one that is archived.`);
      return;
    }
    chain.goneCount += 1;
    if (row.usage_source === null) return;
    chain.chargedNanos += row.posted_nanos;
    chain.costNanos += row.posted_nanos + row.overage_nanos;
  }

  end(): void {
    for (const { id, place, transferCount, chargedNanos, costNanos } of this.#accounts.values()) {
      const chain = this.#chainOf(id);
      if (!chain.isJoined)
        this.problems.push(`The chain of the account ${id} does not join its archive at number ${place}.`);
      else if (
        chain.goneCount !== transferCount ||
        chain.chargedNanos !== chargedNanos ||
        chain.costNanos !== costNanos
      )
        this.problems.push(`What is gone of the account ${id} does not come to what its archive has.`);
    }
    for (const sequence of this.#kept.keys())
      this.problems.push(`The transfer ${sequence} that was kept is in no archive.`);
  }

  #chainOf(id: string): Chain {
    let chain = this.#chains.get(id);
    if (chain === undefined) {
      chain = { place: 0, hash: CHAIN_START.hash, isJoined: false, goneCount: 0, chargedNanos: 0n, costNanos: 0n };
      this.#chains.set(id, chain);
    }
    return chain;
  }
}

interface Chain {
  place: number;
  hash: string;
  isJoined: boolean;
  goneCount: number;
  chargedNanos: bigint;
  costNanos: bigint;
}
