/** How long a helper of tests waits before it says what did not come: just less than a test and a hook may take. */
export const PATIENCE_MS = 110_000;
