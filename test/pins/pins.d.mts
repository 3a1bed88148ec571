export interface Client {
  readonly name: string;
  readonly pinned: string;
}

export interface Manifest {
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface Row {
  readonly pinned: string;
  readonly newest: string;
}

export function clientsIn(manifest: Manifest): Client[];
export function behind(row: Row): boolean;
export function isMajor(row: Row & Pick<Client, "name">): boolean;
