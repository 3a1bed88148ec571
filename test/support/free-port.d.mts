/** A port for a program that cannot take a free one itself. */
export declare function freePort(): Promise<number>;
