/** What `one-backend.mjs` names, for TypeScript. */

/** Test files that do not run on another backend than their own, and why. */
export const ONE_BACKEND: Readonly<Record<string, string>>;
