/** What the models of a checked text would be sold at, who says so, and which targets cost more. */
import type { ReactNode } from "react";
import type { SoldModel } from "../../gen/console/settings_service.js";
import { settingsWords } from "../copy/en-settings.ts";
import { tokenPrice } from "../models/price.ts";
import { type Column, Table } from "../parts/table.tsx";

export function SoldModels({ models }: { readonly models: readonly SoldModel[] }): ReactNode {
  const losses = models.flatMap((model) => model.losses);
  if (models.length === 0) return null;
  return (
    <>
      {losses.length > 0 && (
        <div className="notice warn stack" role="alert">
          <strong>{settingsWords.losses}</strong>
          <ul>
            {losses.map((loss) => (
              <li key={loss}>{loss}</li>
            ))}
          </ul>
        </div>
      )}
      <Table label={settingsWords.sold} columns={COLUMNS} rows={models} keyOf={({ id }) => id} />
    </>
  );
}

const COLUMNS: readonly Column<SoldModel>[] = [
  { name: settingsWords.kinds["model"] ?? "", cell: ({ id }) => <code className="id">{id}</code> },
  { name: settingsWords.soldInput, cell: ({ price }) => tokenPrice(price, "inputPicos"), isNumber: true },
  { name: settingsWords.soldOutput, cell: ({ price }) => tokenPrice(price, "outputPicos"), isNumber: true },
  { name: settingsWords.soldBy, cell: ({ source }) => source },
];
