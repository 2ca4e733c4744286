/** The mark of mutations that are reached while modules load, in records of what tests reach. */

/** It stands before the id. */
export const WHILE_LOADING = '!';
