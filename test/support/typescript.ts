/** The TypeScript compiler, loaded where it is first asked for: where what it reads is kept, no test needs it. */
import { createRequire } from "node:module";
import type ts from "typescript";

const require = createRequire(import.meta.url);
let loaded: typeof ts | undefined;

export function typescript(): typeof ts {
  loaded ??= require("typescript") as typeof ts;
  return loaded;
}
