/** A test of an upstream that costs nothing: its list of models, read with the gateway's credential. */
import { type TestUpstreamResponse, UpstreamTestResult } from "../api/index.js";
import { ListFailure, listModels } from "./listing.js";
import type { ServedUpstream } from "./model.js";

const REFUSED_STATUSES: ReadonlySet<number> = new Set([401, 403]);
const UNTESTED = "its family has no list of models; ask one of its models instead";
const PUBLIC_LIST =
  "its list of models needs no key, so it does not prove the credential, and no call was served yet; send a request to one of its models";

/** `asked` are the models that the settings name there. Never rejects. */
export async function testUpstream(
  served: ServedUpstream,
  asked: ReadonlySet<string>,
  nowMs: () => number,
): Promise<TestUpstreamResponse> {
  const startMs = nowMs();
  const told = { problem: "", httpStatus: 0, modelCount: 0n, missingModels: [] };
  if (served.family.modelsPath === undefined)
    return { ...told, result: UpstreamTestResult.UPSTREAM_TEST_RESULT_UNTESTED, problem: UNTESTED, durationMs: 0n };
  const durationMs = (): bigint => BigInt(Math.ceil(nowMs() - startMs));
  try {
    const listed = await listModels(served);
    const known = new Set(listed.map(({ id }) => id));
    const isWell = served.health.hasServed || !(await isPublic(served));
    return {
      ...told,
      result: isWell ? UpstreamTestResult.UPSTREAM_TEST_RESULT_WELL : UpstreamTestResult.UPSTREAM_TEST_RESULT_UNTESTED,
      problem: isWell ? "" : PUBLIC_LIST,
      httpStatus: 200,
      durationMs: durationMs(),
      modelCount: BigInt(listed.length),
      missingModels: [...asked].filter((model) => !known.has(model)).sort(),
    };
  } catch (error) {
    const status = error instanceof ListFailure ? error.status : undefined;
    const problem = error instanceof Error ? error.message : String(error);
    return { ...told, result: resultOf(status), problem, httpStatus: status ?? 0, durationMs: durationMs() };
  }
}

/** True where the list is told to whoever asks. What runs inside the process takes no credential at all. */
async function isPublic(served: ServedUpstream): Promise<boolean> {
  const { family } = served;
  if (family.connect !== undefined) return false;
  return listModels(served, family.headers(undefined)).then(
    () => true,
    () => false,
  );
}

function resultOf(status: number | undefined): UpstreamTestResult {
  if (status === undefined || status === 0) return UpstreamTestResult.UPSTREAM_TEST_RESULT_UNREACHABLE;
  if (REFUSED_STATUSES.has(status)) return UpstreamTestResult.UPSTREAM_TEST_RESULT_CREDENTIAL;
  return UpstreamTestResult.UPSTREAM_TEST_RESULT_FAILED;
}
