/** An owner and its workers in one process, over a real socket: what each worker asks goes there and comes back. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DeskOptions, OwnerDesk, type Part, type Visitor } from "../../src/owner/owner-desk.js";
import { OwnerLink } from "../../src/owner/owner-link.js";

export interface TestOwner {
  readonly path: string;
  /** A worker that comes. Where it loses its owner, `onLost` hears so. */
  come(onLost?: (error: Error) => void): Promise<OwnerLink>;
  close(): Promise<void>;
}

export async function startOwner(
  parts: Readonly<Record<string, Part>>,
  { onCame, onLeft }: Partial<Pick<DeskOptions, "onCame" | "onLeft">> = {},
): Promise<TestOwner> {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-owner-"));
  const path = join(directory, "workers.sock");
  const nobody = (_visitor: Visitor): void => undefined;
  const desk = await OwnerDesk.open({ path, parts, onCame: onCame ?? nobody, onLeft: onLeft ?? nobody });
  return {
    path,
    come: (onLost = () => undefined) => OwnerLink.connect(path, 10_000, onLost),
    close: async () => {
      await desk.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
