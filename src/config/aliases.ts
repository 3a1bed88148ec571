/** What the aliases of a YAML document stand for, found in one walk: each alone would walk all of the document. */
import { type Alias, type Document, isAlias, isNode, type Node, visit } from "yaml";

/** By alias: the last node before it that has the anchor. An alias of none is not there. */
export function aliasTargets(document: Document.Parsed): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, (_, node) => {
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target !== undefined) targets.set(node, target);
    } else if (isNode(node) && "anchor" in node && typeof node.anchor === "string") anchors.set(node.anchor, node);
  });
  return targets;
}
