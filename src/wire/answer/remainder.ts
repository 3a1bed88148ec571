/** Splits a total into its parts. */

/** A total that parts are taken from, so that they never add up to more. */
export class Remainder {
  constructor(private left: number) {}

  take(part: number | undefined): bigint {
    const taken = Math.min(part ?? 0, this.left);
    this.left -= taken;
    return BigInt(taken);
  }

  rest(): bigint {
    return BigInt(this.left);
  }
}
