/** Circles of imports: files that need each other can only be read, tested and moved together. */
import type { SourceFile } from "./source-file.js";

/** The console is one, and the gRPC edge three. */
const FOLDER = /^(?:console|src\/rpc\/[^/]+|src\/[^/]+)\//;

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Each group of files of which none can be loaded before all others; the files of a group in order. */
export function circlesOfFiles(files: readonly SourceFile[]): string[][] {
  return circles(new Map(files.map(({ path, needs }) => [path, new Set(needs)])));
}

/**
 * The same of the folders of the program, and of the files beside them; of all `imports`, too, types among them.
 */
export function circlesOfFolders(files: readonly SourceFile[], among: "needs" | "imports" = "needs"): string[][] {
  const graph = new Map<string, Set<string>>();
  for (const file of files) {
    const folder = folderOf(file.path);
    const reached = graph.get(folder) ?? new Set();
    for (const target of file[among]) if (folderOf(target) !== folder) reached.add(folderOf(target));
    graph.set(folder, reached);
  }
  return circles(graph);
}

function folderOf(path: string): string {
  return FOLDER.exec(path)?.[0] ?? path;
}

/** By Tarjan: the groups of more than one. */
function circles(graph: Graph): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const open: string[] = [];
  const follow = (name: string): number => {
    const own = order.size;
    order.set(name, own);
    open.push(name);
    let low = own;
    for (const next of graph.get(name) ?? []) {
      if (!order.has(next)) low = Math.min(low, follow(next));
      else if (open.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low === own) {
      const group = open.splice(open.indexOf(name));
      if (group.length > 1) found.push(group.toSorted());
    }
    return low;
  };
  for (const name of graph.keys()) if (!order.has(name)) follow(name);
  return found.toSorted((a, b) => (a.join() < b.join() ? -1 : 1));
}
