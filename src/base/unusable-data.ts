/** What a start finds on the disk, or in the database, cannot be worked with: a line that names it and the remedy. */
export class UnusableData extends Error {}
