/** The order of the test files: those that take long come first, so that none of them is left alone at the end. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Longest first. Most of their time they wait, for what a gateway does once in so many seconds. */
const LONG = [
  "flow/kill-under-load",
  "flow/second-node",
  "flow/crash",
  "flow/alert-kinds",
  "flow/secret-rotation",
  "kill-loop/kill-loop",
  "ledger/poison",
  "package",
  "flow/odd-answers",
  "flow/disconnect",
  "flow/slow-readers",
  "flow/idempotency-restart",
  "flow/alert-mails",
  "gateway/faults",
  "flow/hostile-http",
  "flow/operation",
  "flow/alerts",
  "flow/large-answers",
  "flow/sdk-retry",
  "clients/examples",
].map((name) => `/test/${name}.test.ts`);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = LONG.findIndex((path) => moduleId.endsWith(path));
      return found === -1 ? LONG.length : found;
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
