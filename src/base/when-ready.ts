/**
 * Values that are usually there at once. Going on with such a value costs no turn of the event loop; awaiting it always
 * would.
 */

/** Goes on with a value: at once where it is there, else when its promise is fulfilled. */
export function whenReady<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Promise<Result>,
): Promise<Result>;
export function whenReady<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
  failed?: (error: unknown) => Result | Promise<Result>,
): Result | Promise<Result>;
export function whenReady<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
  failed?: (error: unknown) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next, failed) : next(value);
}

/** Runs work that throws or rejects where it fails, and calls one of the two at its end. Neither may throw. */
export function settle(work: () => unknown, failed: (error: unknown) => void, done?: () => void): void {
  let value: unknown;
  try {
    value = work();
  } catch (error) {
    failed(error);
    return;
  }
  if (value instanceof Promise) value.then(done, failed);
  else done?.();
}
