/** The order of the test files: those that take long come first, so that none of them is left alone at the end. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes more than 25 s where other files run beside it, longest first. */
const LONG = [
  "clients/examples",
  "flow/slow-readers",
  "flow/kill-under-load",
  "flow/large-answers",
  "flow/ends-at-once",
  "gateway/faults",
  "leases/leases",
  "package",
  "flow/odd-answers",
  "flow/second-node",
  "flow/settlement-lost",
  "flow/alert-kinds",
  "store/archive",
  "flow/crash",
  "cli/operator",
  "conformance/matrix",
  "flow/disconnect",
  "wire/mutated-answers",
  "cli/gateway",
  "wire/heavy-events",
  "flow/refusal-records",
  "coordination/away",
  "agents/agents",
  "store/store",
  "flow/sdk-retry",
  "flow/lost-state",
  "flow/records-crash",
  "flow/error-table",
  "money/archive",
  "flow/hostile-http",
  "flow/usage-pages",
  "frameworks/frameworks",
  "rpc/rooms",
  "money/random",
  "ledger/admission",
  "flow/secret-rotation",
  "flow/idempotency-restart",
  "flow/workers-embedded",
  "ledger/ledger",
  "ledger/poison",
  "flow/lame-duck",
  "flow/money",
  "tidy",
  "reading/long-answers",
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
