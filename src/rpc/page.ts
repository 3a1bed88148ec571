/** Pages of lists. */
import type { PageRequest } from "../store/store.js";
import { invalid } from "./check.js";

/** The most rows of one page. */
export const PAGE_SIZE_MAX = 1_000;
const PAGE_SIZE_DEFAULT = 100;

/** Which page a request asks for. A size of 0 is the default. */
export function pageOf(request: { readonly pageSize: number; readonly pageToken: string }): PageRequest {
  if (request.pageSize < 0 || request.pageSize > PAGE_SIZE_MAX) {
    throw invalid("page_size", `must be from 1 to ${PAGE_SIZE_MAX}, or 0 for ${PAGE_SIZE_DEFAULT}`);
  }
  return { size: request.pageSize === 0 ? PAGE_SIZE_DEFAULT : request.pageSize, token: request.pageToken };
}
