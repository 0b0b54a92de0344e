/** Upstream's unit costs. */
export const SELECT_AND_IDENT = 1;
export const LIST_CREATE = 10;
export const MAP_CREATE = 30;
export const STRUCT_CREATE = 40;
/** Per character of a string that is traversed. */
export const STRING_FACTOR = 0.1;
/** Per character of a pattern, for each unit of the text. */
export const REGEX_FACTOR = 0.25;
