/** The contract of leader election towards the pipeline. Types only. */
import type { Leadership } from "../../api/machinery/leadership.ts";

/** Called before each write of a leader-elected writer. Rejects with Conflict if the writer is not the leader any more. */
export type LeadershipCheck = (leadership: Leadership) => Promise<void>;
