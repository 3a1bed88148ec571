/** Who signs in to the console in its tests. */
export const PERSON = { name: "Ada Lovelace", email: "ada@example.com", password: "a toll for every gate" };
