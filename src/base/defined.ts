/** The members of an object that have a value, so that the others hide nothing in an object that it is joined with. */
export function defined<Members extends object>(
  members: Members,
): { readonly [Name in keyof Members]?: Exclude<Members[Name], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  // The names are those of the members.
  return Object.fromEntries(entries) as { readonly [Name in keyof Members]?: Exclude<Members[Name], undefined> };
}
