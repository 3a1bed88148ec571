/** Questions to the gateway for the query cache: one form for every method. */
import { MutationCache, QueryCache, queryOptions, QueryClient } from "@tanstack/react-query";
import { getSession } from "../../gen/console/identity_service.js";
import type { Method } from "../../gen/console/shape.js";
import { type RequestFields, call, Refusal, Unreached } from "./client.ts";

const STALE_MS = 5_000;
const RETRIES_MAX = 2;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 5_000;
const UNAUTHENTICATED = 401;

/** The cache of all answers of this tab. */
export const cache = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey: [name] }) => name !== getSession.name && revalidateSession(error),
  }),
  mutationCache: new MutationCache({ onError: revalidateSession }),
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      queryKeyHashFn: (key) => JSON.stringify(key, withWholeNumbers),
      // A refusal stays one; a fault may pass; and what did not arrive is asked until it does.
      retry: (count, error) =>
        error instanceof Unreached || (count < RETRIES_MAX && !(error instanceof Refusal && error.status < 500)),
      retryDelay: (count) => Math.min(RETRY_MS * 2 ** count, RETRY_MS_MAX),
    },
  },
});

/** The question that a method answers in an account. */
// oxlint-disable-next-line typescript/explicit-function-return-type
export function ask<Request, Response>(
  method: Method<Request, Response>,
  request: RequestFields<Request>,
  account = "",
) {
  return queryOptions({
    queryKey: [method.name, account, request],
    queryFn: ({ signal }) => call(method, request, { account, signal }),
  });
}

/** Forgets what the methods answered, so that what is shown is asked anew. */
export async function forget(...methods: readonly { readonly name: string }[]): Promise<void> {
  const names = new Set(methods.map(({ name }) => name));
  await cache.invalidateQueries({ predicate: ({ queryKey }) => names.has(String(queryKey[0])) });
}

/** A session may end in another tab, or by somebody else's hand: whoever is refused is asked to sign in again. */
function revalidateSession(error: unknown): void {
  if (!(error instanceof Refusal && error.status === UNAUTHENTICATED)) return;
  // Where nobody is signed in the form for it stands already, with what was typed.
  const sessions = cache.getQueriesData({ predicate: ({ queryKey: [name] }) => name === getSession.name });
  if (sessions.some(([, session]) => session !== undefined)) void forget(getSession);
}

function withWholeNumbers(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}
