/** The order of the test files: those that take long come first, so that none of them is left alone at the end. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes more than 10 s where one other file runs beside it, longest first. */
const LONG = [
  "flow/settlement-lost",
  "gateway/faults",
  "flow/odd-answers",
  "flow/error-table",
  "flow/disconnect",
  "flow/reload",
  "flow/lost-state",
  "rpc/channel-contract",
  "flow/operation",
  "prove/prove",
  "flow/alerts",
  "store/store",
  "flow/hostile-http",
  "alerts/kinds",
  "flow/large-answers",
  "flow/sdk-retry",
  "store/postgres-unanswered",
  "flow/resume",
  "payments/card-payments",
  "flow/refusal-records",
  "store/archive",
  "flow/usage-pages",
  "store/postgres-connection",
  "flow/money",
  "store/audit",
  "conformance/matrix",
  "coordination/nodes",
  "coordination/forms",
  "tidy",
  "conformance/errors",
  "store/verify",
  "flow/idempotency-restart",
  "store/postgres-batches",
  "reading/long-answers",
  "flow/upstream-health",
  "flow/tls",
  "flow/usage-lies",
  "alerts/hostile",
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
