/** Reads V8's profiles: which functions, and which parts of the program, take the time and make the garbage. */

/** @typedef {{ functionName: string, url: string, lineNumber: number }} CallFrame */
/** @typedef {{ nodes: { id: number, callFrame: CallFrame }[], samples: number[], timeDeltas: number[] }} CpuProfile */
/** @typedef {{ callFrame: CallFrame, selfSize: number, children: HeapNode[] }} HeapNode */
/** @typedef {{ name: string, share: number, amount: number }} Line */

const IDLE = "(idle)";

/**
 * Self time in ms by function and by part, without idle time and without what came before `fromMs`.
 * @param {CpuProfile} profile
 * @param {number} fromMs
 */
export function summarizeCpu({ nodes, samples, timeDeltas }, fromMs) {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const sums = new Sums();
  let atUs = 0;
  samples.forEach((id, index) => {
    const deltaUs = timeDeltas[index] ?? 0;
    atUs += deltaUs;
    const frame = frames.get(id);
    if (frame === undefined || frame.functionName === IDLE || atUs < fromMs * 1000) return;
    sums.add(frame, deltaUs / 1000);
  });
  return sums;
}

/**
 * Bytes by function and by part.
 * @param {HeapNode} head
 */
export function summarizeHeap(head) {
  const sums = new Sums();
  const waiting = [head];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    sums.add(node.callFrame, node.selfSize);
    waiting.push(...node.children);
  }
  return sums;
}

/** Amounts by function and by part of the program. */
class Sums {
  total = 0;
  /** @type {Map<string, number>} */
  #functions = new Map();
  /** @type {Map<string, number>} */
  #parts = new Map();

  /**
   * @param {CallFrame} frame
   * @param {number} amount
   */
  add(frame, amount) {
    if (amount === 0) return;
    this.total += amount;
    const place = placeOf(frame.url);
    const name = frame.functionName === "" ? "(anonymous)" : frame.functionName;
    bump(this.#functions, place === "" ? name : `${name}  ${place}:${frame.lineNumber + 1}`, amount);
    bump(this.#parts, partOf(place, name), amount);
  }

  /** @param {number} count */
  functions(count) {
    return this.#top(this.#functions, count);
  }

  /** @param {number} count */
  parts(count) {
    return this.#top(this.#parts, count);
  }

  /**
   * @param {Map<string, number>} amounts
   * @param {number} count
   * @returns {Line[]}
   */
  #top(amounts, count) {
    return [...amounts]
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, count)
      .map(([name, amount]) => ({ name, amount, share: amount / this.total }));
  }
}

/**
 * @param {Map<string, number>} amounts
 * @param {string} key
 * @param {number} amount
 */
function bump(amounts, key, amount) {
  amounts.set(key, (amounts.get(key) ?? 0) + amount);
}

/**
 * A short name of a file: from `dist/` or from the package on.
 * @param {string} url
 */
function placeOf(url) {
  const packageAt = url.lastIndexOf("node_modules/");
  if (packageAt >= 0) return url.slice(packageAt + "node_modules/".length);
  const distAt = url.lastIndexOf("/dist/");
  return distAt >= 0 ? url.slice(distAt + "/dist/".length) : url;
}

/**
 * @param {string} place
 * @param {string} name
 */
function partOf(place, name) {
  if (place === "") return name.startsWith("(") ? name : "(native)";
  if (place.startsWith("node:")) return place.split("/").slice(0, 2).join("/");
  const segments = place.split("/");
  const isScoped = place.startsWith("@") || place.startsWith("src/");
  return segments.slice(0, isScoped ? 2 : 1).join("/");
}
