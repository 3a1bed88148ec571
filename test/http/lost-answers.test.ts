/** Answers that their clients may have lost: each key keeps its share, whatever others do. */
import type { ServerResponse } from "node:http";
import { Socket } from "node:net";
import { fc } from "../support/seeds.js";
import { beforeEach, expect, test } from "vitest";
import { LostAnswers } from "../../src/http/lost-answers.js";

const MIB = 1024 * 1024;
const POOL_MIB = 64;

let nowMs: number;
let answers: LostAnswers;
let lost: string[];
beforeEach(() => {
  nowMs = 0;
  lost = [];
  answers = new LostAnswers(() => nowMs);
});

/** An answer that went out, over a connection of its own. */
function wrote(name: string, holder: string, bytes: number): Socket {
  const socket = new Socket();
  const response = { writableFinished: true } as ServerResponse;
  answers.wrote({ socket, response, holder, bytes, onLost: () => lost.push(name) });
  return socket;
}

test("what one key loses is kept, however much another key is answered at the same time", () => {
  const small = wrote("small", "one", MIB);
  for (let index = 0; index < 200; index++) wrote(`flood ${index}`, "many", MIB);
  answers.closed(small);
  expect(lost).toEqual(["small"]);
});

test("a key whose share is full loses its own oldest answers, not its newest", () => {
  const sockets = Array.from({ length: POOL_MIB + 4 }, (_, index) => wrote(String(index), "one", MIB));
  for (const socket of sockets) answers.closed(socket);
  expect(lost).toEqual(Array.from({ length: POOL_MIB }, (_, index) => String(index + 4)));
});

test("an answer that is larger than all the room pushes nothing out", () => {
  const small = wrote("small", "one", MIB);
  const large = wrote("large", "one", (POOL_MIB + 1) * MIB);
  for (const socket of [small, large]) answers.closed(socket);
  expect(lost).toEqual(["small"]);
});

test("connections that stay open take no room for long", () => {
  for (let index = 0; index < POOL_MIB; index++) wrote("idle", `key ${index}`, MIB);
  nowMs = 2_001;
  const large = wrote("large", "one", (POOL_MIB - 1) * MIB);
  answers.closed(large);
  expect(lost).toEqual(["large"]);
});

test("any key keeps its newest answers up to an equal share", () => {
  const write = fc.record({ holder: fc.integer({ min: 0, max: 3 }), mib: fc.integer({ min: 1, max: 4 }) });
  fc.assert(
    fc.property(fc.array(write, { maxLength: 60 }), (writes) => {
      nowMs = 0;
      lost = [];
      answers = new LostAnswers(() => nowMs);
      const sockets = writes.map(({ holder, mib }, index) => wrote(String(index), String(holder), mib * MIB));
      for (const socket of sockets) answers.closed(socket);
      for (let holder = 0; holder <= 3; holder++) {
        const newest = writes.findLastIndex((one) => one.holder === holder);
        // A quarter of the room is each one's of four.
        if (newest >= 0) expect(lost).toContain(String(newest));
      }
    }),
  );
});
