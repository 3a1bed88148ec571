/** Accounts take turns at the thread of records: whoever asks without end waits behind its own questions alone. */
import { expect, test } from "vitest";
import { QuestionTurns } from "../../src/records/question-turns.js";

/** A thread that answers when it is told to, in the order in which it was asked. */
class SteppedThread {
  readonly asked: string[] = [];
  readonly #answers: (() => void)[] = [];

  ask(name: string): Promise<string> {
    this.asked.push(name);
    return new Promise((resolve) => this.#answers.push(() => resolve(name)));
  }

  async step(): Promise<void> {
    this.#answers.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("a question of one account waits for no more than one of each other account", async () => {
  const thread = new SteppedThread();
  const turns = new QuestionTurns();
  const ask = (account: string, name: string): void => void turns.run(account, () => thread.ask(name));
  for (let count = 0; count < 100; count += 1) ask("noisy", `noisy ${count}`);
  ask("quiet", "quiet 0");
  ask("quiet", "quiet 1");
  ask("", "operator");
  for (let step = 0; step < 6; step += 1) await thread.step();
  expect(thread.asked).toEqual([
    "noisy 0",
    "noisy 1",
    "noisy 2",
    "quiet 0",
    "operator",
    "noisy 3",
    "quiet 1",
    "noisy 4",
  ]);
});

test("what is asked and fails gives its turn on", async () => {
  const turns = new QuestionTurns();
  const failing = Array.from({ length: 10 }, () => turns.run("acme", () => Promise.reject(new Error("away"))));
  expect((await Promise.allSettled(failing)).every(({ status }) => status === "rejected")).toBe(true);
  expect(await turns.run("acme", () => Promise.resolve("there again"))).toBe("there again");
});

test("what waits is bounded for each account, and others still get in", async () => {
  const thread = new SteppedThread();
  const turns = new QuestionTurns();
  const refused: unknown[] = [];
  for (let count = 0; count < 1_000; count += 1)
    turns.run("noisy", () => thread.ask(`noisy ${count}`)).catch((error: unknown) => refused.push(error));
  await new Promise((resolve) => setImmediate(resolve));
  expect(refused).toHaveLength(1_000 - 512 - 2);
  expect(refused[0]).toMatchObject({
    reason: "ERROR_REASON_RATE_LIMITED",
    metadata: { owner: "account noisy", reset_ms: "1000" },
  });
  void turns.run("quiet", () => thread.ask("quiet"));
  for (let step = 0; step < 3; step += 1) await thread.step();
  expect(thread.asked).toContain("quiet");
});
