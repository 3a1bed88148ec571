/** Passwords hashed by the real argon2id at its lowest cost: tests of people are about what a password opens. */
import * as argon2 from "@node-rs/argon2";
import type { Hashing } from "../../src/identity/passwords.js";

const LOWEST_COST = { memoryCost: 8, timeCost: 1, parallelism: 1 };

export const quickHashing: Hashing = {
  hash: (password) => argon2.hash(password, LOWEST_COST),
  verify: (stored, password) => argon2.verify(stored, password),
};
