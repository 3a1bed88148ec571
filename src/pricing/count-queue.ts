/**
 * Who is counted next: texts wait in two lanes, one of them for settlements, and in each the accounts take turns by how
 * much was counted for them. Pure.
 */

/** Settlements hold money, so that what is only asked never stands before them, nor they before all of it. */
export type CountLane = "settlement" | "question";

/** Of one lane: texts and characters that wait at once, in all and of one account. */
export interface LaneBounds {
  readonly jobs: number;
  readonly chars: number;
  readonly accountJobs: number;
  readonly accountChars: number;
}

/** A text that is counted piece by piece. */
export interface CountJob {
  readonly account: string;
  readonly lane: CountLane;
  /** Characters that are not taken yet. */
  readonly charsLeft: number;
}

/** How many accounts that left are remembered before those are forgotten that others have caught up with. */
const LEFT_MAX = 1_000;

interface Account<Job> {
  readonly jobs: Job[];
  chars: number;
  /** Characters that were counted for it, from where the lane stood when it came. */
  counted: number;
}

class Lane<Job extends CountJob> {
  readonly accounts = new Map<string, Account<Job>>();
  readonly #bounds: LaneBounds;
  #jobs = 0;
  #chars = 0;
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
    const { jobs, chars, accountJobs, accountChars } = this.#bounds;
    const account = this.accounts.get(job.account);
    if (this.#jobs >= jobs || this.#chars + job.charsLeft > chars) return false;
    if ((account?.jobs.length ?? 0) >= accountJobs || (account?.chars ?? 0) + job.charsLeft > accountChars)
      return false;
    this.#jobs += 1;
    this.#chars += job.charsLeft;
    if (account === undefined) {
      this.accounts.set(job.account, { jobs: [job], chars: job.charsLeft, counted: this.#startOf(job.account) });
      return true;
    }
    account.jobs.push(job);
    account.chars += job.charsLeft;
    return true;
  }

  /** The shortest text of the account for which least was counted. */
  next(): Job | undefined {
    let least: Account<Job> | undefined;
    for (const account of this.accounts.values())
      if (least === undefined || account.counted < least.counted) least = account;
    if (least === undefined) return undefined;
    this.#now = least.counted;
    return least.jobs.reduce((shortest, job) => (job.charsLeft < shortest.charsLeft ? job : shortest));
  }

  took(job: Job, chars: number, isOver: boolean): void {
    const account = this.accounts.get(job.account);
    if (account === undefined) return;
    account.counted += chars;
    // What is left of a text that needs no more counting waits no more either.
    const gone = isOver ? chars + job.charsLeft : chars;
    account.chars -= gone;
    this.#chars -= gone;
    if (!isOver) return;
    this.#jobs -= 1;
    account.jobs.splice(account.jobs.indexOf(job), 1);
    if (account.jobs.length === 0) this.#leave(job.account, account.counted);
  }

  #startOf(name: string): number {
    const start = Math.max(this.#now, this.#left.get(name) ?? 0);
    this.#left.delete(name);
    return start;
  }

  #leave(name: string, counted: number): void {
    this.accounts.delete(name);
    if (this.#jobs === 0) return this.#left.clear();
    this.#left.set(name, counted);
    if (this.#left.size <= LEFT_MAX) return;
    for (const [left, at] of this.#left) if (at <= this.#now) this.#left.delete(left);
  }
}

export class CountQueue<Job extends CountJob> {
  readonly #lanes: Readonly<Record<CountLane, Lane<Job>>>;
  #turn: CountLane = "settlement";

  constructor(bounds: Readonly<Record<CountLane, LaneBounds>>) {
    this.#lanes = { settlement: new Lane(bounds.settlement), question: new Lane(bounds.question) };
  }

  get isEmpty(): boolean {
    return this.#lanes.settlement.isEmpty && this.#lanes.question.isEmpty;
  }

  /** False where the lane or the account has no room: the text is to be estimated. */
  add(job: Job): boolean {
    return this.#lanes[job.lane].add(job);
  }

  /** Whose piece is counted next; undefined where nothing waits. */
  next(): Job | undefined {
    const other = this.#turn === "settlement" ? "question" : "settlement";
    const lane = this.#lanes[this.#turn].isEmpty ? other : this.#turn;
    this.#turn = lane === "settlement" ? "question" : "settlement";
    return this.#lanes[lane].next();
  }

  /** Says that so many characters of the job were taken, of which `charsLeft` knows, and whether it is over. */
  took(job: Job, chars: number, isOver: boolean): void {
    this.#lanes[job.lane].took(job, chars, isOver);
  }

  /** How many wait. */
  get size(): number {
    return this.#lanes.settlement.size + this.#lanes.question.size;
  }

  /** All that waits. */
  jobs(): Job[] {
    return Object.values(this.#lanes).flatMap((lane) => [...lane.accounts.values()].flatMap(({ jobs }) => jobs));
  }
}
