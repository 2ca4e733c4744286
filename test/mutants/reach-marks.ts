/** Marks in records of what test files reach. */

/** Before the id of a mutation that is reached while modules load. */
export const WHILE_LOADING = '!';

/** In place of the number of a mutation: all of its source. */
export const ALL_OF_IT = '*';
