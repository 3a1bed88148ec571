/** Whose rows a list holds. */

/** Undefined is everybody's, empty the operator's. */
export type Owner = string | undefined;

export function ownerValues(owner: Owner): { readonly isAll: number; readonly accountId: string } {
  return { isAll: owner === undefined ? 1 : 0, accountId: owner ?? "" };
}
