/** What `registry.mjs` offers, for TypeScript. */

export function askAgain<Result>(attempt: () => Result, clock?: { readonly pause?: (ms: number) => unknown }): Result;
