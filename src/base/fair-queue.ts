/**
 * A bounded queue that is fair to accounts: in each of its lanes they take turns by how much was served to them, and
 * lanes take turns with each other. Pure.
 */

/** Of one lane: how many jobs wait at once, and how large they are together; in all, and of one account. */
export interface LaneBounds {
  readonly jobs: number;
  readonly size: number;
  readonly accountJobs: number;
  readonly accountSize: number;
}

/** What waits. It may be served piece by piece. */
export interface QueuedJob<LaneName extends string = string> {
  readonly account: string;
  readonly lane: LaneName;
  /** How much of it is not served yet, in the unit of the queue's bounds. */
  readonly sizeLeft: number;
}

/** How many accounts that left are remembered before those are forgotten that others have caught up with. */
const LEFT_MAX = 1_000;

interface Account<Job> {
  readonly jobs: Job[];
  size: number;
  /** How much was served to it, from where the lane stood when it came. */
  served: number;
}

class Lane<Job extends QueuedJob> {
  readonly accounts = new Map<string, Account<Job>>();
  readonly #bounds: LaneBounds;
  #jobs = 0;
  #size = 0;
  /** Where the account stood that was served last: whoever comes now begins here, neither behind nor before others. */
  #now = 0;
  /** Where the accounts stood that left since the lane was empty: who keeps coming back does not begin anew. */
  readonly #left = new Map<string, number>();

  constructor(bounds: LaneBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#jobs;
  }

  get isEmpty(): boolean {
    return this.#jobs === 0;
  }

  add(job: Job): boolean {
    const { jobs, size, accountJobs, accountSize } = this.#bounds;
    const account = this.accounts.get(job.account);
    if (this.#jobs >= jobs || this.#size + job.sizeLeft > size) return false;
    if ((account?.jobs.length ?? 0) >= accountJobs || (account?.size ?? 0) + job.sizeLeft > accountSize) return false;
    this.#jobs += 1;
    this.#size += job.sizeLeft;
    if (account === undefined) {
      this.accounts.set(job.account, { jobs: [job], size: job.sizeLeft, served: this.#startOf(job.account) });
      return true;
    }
    account.jobs.push(job);
    account.size += job.sizeLeft;
    return true;
  }

  /** The smallest job of the account to which least was served. */
  next(): Job | undefined {
    let least: Account<Job> | undefined;
    for (const account of this.accounts.values())
      if (least === undefined || account.served < least.served) least = account;
    if (least === undefined) return undefined;
    this.#now = least.served;
    return least.jobs.reduce((smallest, job) => (job.sizeLeft < smallest.sizeLeft ? job : smallest));
  }

  took(job: Job, size: number, isOver: boolean): void {
    const account = this.accounts.get(job.account);
    if (account === undefined) return;
    account.served += size;
    // What is left of a job that is over waits no more either.
    const gone = isOver ? size + job.sizeLeft : size;
    account.size -= gone;
    this.#size -= gone;
    if (!isOver) return;
    this.#jobs -= 1;
    account.jobs.splice(account.jobs.indexOf(job), 1);
    if (account.jobs.length === 0) this.#leave(job.account, account.served);
  }

  #startOf(name: string): number {
    const start = Math.max(this.#now, this.#left.get(name) ?? 0);
    this.#left.delete(name);
    return start;
  }

  #leave(name: string, served: number): void {
    this.accounts.delete(name);
    if (this.#jobs === 0) return this.#left.clear();
    this.#left.set(name, served);
    if (this.#left.size <= LEFT_MAX) return;
    for (const [left, at] of this.#left) if (at <= this.#now) this.#left.delete(left);
  }
}

export class FairQueue<LaneName extends string, Job extends QueuedJob<LaneName>> {
  readonly #lanes: ReadonlyMap<LaneName, Lane<Job>>;
  readonly #order: readonly Lane<Job>[];
  /** The place in the order of the lane whose turn it is. */
  #turn = 0;

  /** The lanes take turns in the order of their bounds. */
  constructor(bounds: Readonly<Record<LaneName, LaneBounds>>) {
    const names = Object.keys(bounds) as LaneName[];
    this.#lanes = new Map(names.map((name) => [name, new Lane<Job>(bounds[name])]));
    this.#order = [...this.#lanes.values()];
  }

  get isEmpty(): boolean {
    return this.#order.every((lane) => lane.isEmpty);
  }

  /** False where the lane or the account has no room. */
  add(job: Job): boolean {
    return this.#lanes.get(job.lane)?.add(job) ?? false;
  }

  /** Of which job a piece is served next; undefined where nothing waits. */
  next(): Job | undefined {
    for (let passed = 0; passed < this.#order.length; passed += 1) {
      const lane = this.#order[this.#turn];
      this.#turn = (this.#turn + 1) % this.#order.length;
      if (lane?.isEmpty === false) return lane.next();
    }
    return undefined;
  }

  /** Says that so much of the job was served, of which `sizeLeft` knows, and whether it is over. */
  took(job: Job, size: number, isOver: boolean): void {
    this.#lanes.get(job.lane)?.took(job, size, isOver);
  }

  /** How many wait. */
  get size(): number {
    return this.#order.reduce((sum, lane) => sum + lane.size, 0);
  }

  /** All that waits. */
  jobs(): Job[] {
    return this.#order.flatMap((lane) => [...lane.accounts.values()].flatMap(({ jobs }) => jobs));
  }
}
