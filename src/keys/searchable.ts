/** By what lists find a key. */
import { KeySettings } from "../api/index.js";
import { type KeyRow, searchTextOf } from "../store/store.js";

/** The row with what its name, hint and id say now: each that is written comes from here. */
export function searchable(row: KeyRow): KeyRow {
  return { ...row, searchText: searchTextOf(KeySettings.decode(row.settings).name, row.hint, row.id) };
}
