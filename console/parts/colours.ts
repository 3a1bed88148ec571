/** The colour of a name, such as a model: the same in every chart of this browser. */
const COLOURS = 12;
const STORED = "tollgate-colours";
const NAMES_MAX = 500;

let known: string[] | undefined;

/** The class of the colour of a name. The first names that are met have different colours. */
export function colourOf(name: string): string {
  known ??= stored();
  let place = known.indexOf(name);
  if (place < 0) {
    place = known.length < NAMES_MAX ? known.push(name) - 1 : name.length;
    store(known);
  }
  return `series-${(place % COLOURS) + 1}`;
}

function stored(): string[] {
  try {
    const names: unknown = JSON.parse(localStorage.getItem(STORED) ?? "[]");
    return Array.isArray(names) ? names.map(String) : [];
  } catch {
    // A browser that stores nothing gives colours for as long as the page is open.
    return [];
  }
}

function store(names: readonly string[]): void {
  try {
    localStorage.setItem(STORED, JSON.stringify(names));
  } catch {
    // See above.
  }
}
