/** Client formats on model families through the official packages: what a change meets at once. */
import { FIRST_PAIRS, testMatrix } from "./cells.js";

// The whole matrix, and the page that tells of it: matrix.prove.test.ts.
testMatrix(FIRST_PAIRS);
