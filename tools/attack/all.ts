/** All attacks, in the order in which they run. One more: a file that exports an Attack, and its line here. */
import { anonymousReads } from "./anonymous-reads.ts";
import type { Attack } from "./attack.ts";
import { heavyBodies } from "./heavy-bodies.ts";
import { manyHeaders } from "./many-headers.ts";
import { manyRequests } from "./many-requests.ts";
import { slowBodies } from "./slow-bodies.ts";
import { slowStreams } from "./slow-streams.ts";
import { stuckWatchers } from "./stuck-watchers.ts";

export const all: readonly Attack[] = [anonymousReads, heavyBodies, manyHeaders, slowBodies, slowStreams, manyRequests, stuckWatchers];
