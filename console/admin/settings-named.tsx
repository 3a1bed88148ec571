/** What the file and the environment name, what decides about each, and where the file says otherwise. */
import type { ReactNode } from "react";
import type { NamedSetting } from "../../gen/console/settings_service.js";
import { settingsWords } from "../copy/en-settings.ts";
import { type Column, Table } from "../parts/table.tsx";

export function NamedSettings({ named }: { readonly named: readonly NamedSetting[] }): ReactNode {
  if (named.length === 0) return <p className="soft">{settingsWords.nothingNamed}</p>;
  // What differs stands first: it is what somebody came for.
  const rows = named.toSorted((one, other) => Number(one.difference === "") - Number(other.difference === ""));
  const ids = new Map(named.map((one, index) => [one, String(index)]));
  return <Table label={settingsWords.named} columns={COLUMNS} rows={rows} keyOf={(one) => ids.get(one) ?? ""} />;
}

const COLUMNS: readonly Column<NamedSetting>[] = [
  { name: settingsWords.what, cell: ({ block }) => settingsWords.kinds[block] ?? block },
  { name: settingsWords.name, cell: ({ name }) => <strong>{name}</strong> },
  {
    name: settingsWords.decides,
    cell: ({ source }) => <span className="tag">{settingsWords.sources[source]}</span>,
  },
  {
    name: settingsWords.why,
    cell: ({ source, difference }) =>
      difference === "" ? (
        settingsWords.because[source]
      ) : (
        <>
          <span className="tag warn">{settingsWords.differs}</span> {difference}
        </>
      ),
    isExtra: true,
  },
];
