/** Bounds a cache by how many it holds. By `max` it would take the room for all of them when it is made. */
export function boundedTo(count: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: count, sizeCalculation: () => 1 };
}
