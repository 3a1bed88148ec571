/** The two reasons for which a test lets time pass: all else that it waits for is a condition. */
import { setTimeout as sleep } from "node:timers/promises";

/** Gives what must not happen time to happen. A machine that is slow makes no test fail by it: less is seen then. */
export async function allowTimeToFail(ms: number): Promise<void> {
  await sleep(ms);
}

/** Takes its time as a client, an upstream or a user does, where no outcome depends on how long that is. */
export async function pace(ms: number): Promise<void> {
  await sleep(ms);
}
