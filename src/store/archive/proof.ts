/** Reads an archived month back, and proves it: each chain from place to place, each sum, and the hash of each file. */
import { join } from "node:path";
import { type Transfer, transferId } from "../../ledger/transfer.js";
import { type ChainColumns, chainTransfer, isProven } from "../chain-proof.js";
import { readLines } from "./files.js";
import {
  fileName,
  KindSums,
  manifest,
  type ManifestAccount,
  type ManifestEnd,
  type ManifestHead,
  manifestName,
  readTransferLine,
} from "./format.js";

/** Problems of one month that are told; more would only repeat that it is damaged. */
const PROBLEMS_MAX = 20;

export interface MonthVisitor {
  account?(account: ManifestAccount): void;
  transfer?(row: ChainColumns, said: Transfer): void;
}

export interface MonthProof {
  readonly problems: readonly string[];
  readonly head: ManifestHead | undefined;
  readonly end: ManifestEnd | undefined;
  /** The SHA-256 of the manifest. */
  readonly manifestHash: string;
}

/** Reads both files of a month from their first byte to their last. */
export async function proveMonth(directory: string, month: string, visitor: MonthVisitor = {}): Promise<MonthProof> {
  const problems: string[] = [];
  const lines = readLines(join(directory, manifestName(month)), false);
  const transfers = readLines(join(directory, fileName(month)), true);
  const reader = new MonthReader(transfers.lines, visitor, problems);
  let head: ManifestHead | undefined;
  let end: ManifestEnd | undefined;
  let manifestHash = "";
  try {
    for await (const line of lines.lines) {
      if (end !== undefined) throw new Error("it goes on behind its end");
      if (head === undefined) {
        head = manifest.head(line);
        continue;
      }
      const said = manifest.line(line);
      if ("account" in said) await reader.account(said);
      else end = said;
    }
    manifestHash = lines.hash();
    if (head === undefined || end === undefined) throw new Error("it has no end");
    if (head.month !== month) throw new Error(`it is of ${head.month}`);
    if (end.accounts !== reader.accounts || end.transfers !== reader.transfers)
      problems.push(`The manifest of ${month} does not count what is in it.`);
  } catch (error) {
    if (!(error instanceof FileDamage)) problems.push(`The manifest of ${month} is damaged: ${wordOf(error)}.`);
  }
  try {
    await reader.end();
    if (end !== undefined && transfers.hash() !== end.file_sha256)
      problems.push(`The file of ${month} is not the one that its manifest names: its hash is another.`);
  } catch (error) {
    if (!(error instanceof FileDamage)) problems.push(`The file of ${month} is damaged: ${wordOf(error)}.`);
  }
  return { problems: problems.slice(0, PROBLEMS_MAX), head, end, manifestHash };
}

/** The file of transfers cannot be read on; told already. */
class FileDamage extends Error {}

class MonthReader {
  accounts = 0;
  transfers = 0;
  #last = "";

  constructor(
    private readonly lines: AsyncGenerator<string, void, undefined>,
    private readonly visitor: MonthVisitor,
    private readonly problems: string[],
  ) {}

  /** All transfers of an account: as many as its places. */
  async account(account: ManifestAccount): Promise<void> {
    const { account: id, from, to } = account;
    if (id <= this.#last) this.problems.push(`The manifest names the account ${id} behind ${this.#last}.`);
    this.#last = id;
    this.accounts += 1;
    this.visitor.account?.(account);
    const sums = new KindSums();
    let { place, hash } = from;
    let isBroken = false;
    while (place < to.place) {
      const row = await this.#next(id);
      const said = chainTransfer(row);
      place += 1;
      this.transfers += 1;
      if (!isBroken && (said.accountId !== id || said.accountSequence !== place || !isProven(hash, said, row))) {
        isBroken = true;
        this.#tell(`The archived transfer ${said.sequence} (${transferId(said)}) was changed, or is out of its place.`);
      }
      hash = said.hash;
      sums.add(row);
      this.visitor.transfer?.(row, said);
    }
    if (!isBroken && hash !== to.hash)
      this.#tell(`The archived chain of the account ${id} ends otherwise than its manifest says.`);
    if (JSON.stringify(sums.told()) !== JSON.stringify(account.sums))
      this.#tell(`The archived transfers of the account ${id} do not come to what the manifest says.`);
  }

  /** There is nothing behind the last account. */
  async end(): Promise<void> {
    const next = await this.lines.next();
    if (next.done === true) return;
    // Read to its end, for its hash.
    while ((await this.lines.next()).done !== true);
    this.#tell("A file has transfers that its manifest does not name.");
  }

  async #next(accountId: string): Promise<ChainColumns> {
    try {
      const next = await this.lines.next();
      if (next.done === true) throw new Error("it ends too early");
      return readTransferLine(next.value);
    } catch (error) {
      this.#tell(`The file of the account ${accountId}'s transfers is damaged: ${wordOf(error)}.`);
      throw new FileDamage();
    }
  }

  #tell(problem: string): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(problem);
  }
}

function wordOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [line = ""] = error.name === "ZodError" ? ["it is not of its form"] : error.message.split("\n");
  return line.replace(/\.$/, "");
}
