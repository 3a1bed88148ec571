/** Which of several nodes serve by other settings than the ones that were accepted last. */
import type { Node } from "./index.js";

export interface OtherSettings {
  /** The node that accepted its settings last, and their version; undefined where no node has any. */
  readonly newest: Pick<Node, "id" | "settingsVersion"> | undefined;
  /** The nodes that serve by others. */
  readonly others: readonly Pick<Node, "id" | "settingsVersion">[];
}

export function otherSettings(nodes: readonly Node[]): OtherSettings {
  let newest: Node | undefined;
  for (const node of nodes) if (acceptMs(node) > acceptMs(newest)) newest = node;
  const others = nodes.filter(({ settingsVersion }) => settingsVersion !== (newest?.settingsVersion ?? ""));
  return { newest, others };
}

function acceptMs(node: Node | undefined): number {
  return node?.settingsAcceptTime?.getTime() ?? -Infinity;
}
