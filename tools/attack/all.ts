/** All attacks, in the order in which they run. One more: a file that exports an Attack, and its line here. */
import { anonymousReads } from "./anonymous-reads.ts";
import type { Attack } from "./attack.ts";

export const all: readonly Attack[] = [anonymousReads];
