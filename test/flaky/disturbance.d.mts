/** What `disturbance.mjs` offers the tests, for TypeScript. */

/** Compiles the library that `LD_PRELOAD` takes, with more options of the compiler, or says why there is none. */
export function compileDisturbance(
  directory: string,
  options?: readonly string[],
): { readonly library: string } | { readonly missing: string };
