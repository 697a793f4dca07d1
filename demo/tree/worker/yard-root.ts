/** The id of the yard's root. */
export const yardRoot = 'yard';
