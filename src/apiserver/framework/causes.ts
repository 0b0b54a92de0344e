/**
 * The contract of recorded writes: each commit with its cause. storage/recorded-causes.ts
 * implements it, documents/causes serves it.
 */
import type { Cause } from "../../api/machinery/cause.ts";
import type { RequestContext } from "./request.ts";
import type { ObjectName } from "./storage/object-key.ts";
import type { ResourceStorage } from "./storage/storage.ts";

export interface RecordedWrite {
  readonly timeMs: number;
  /** The revision of the commit: of the object after the write, or of its deletion. */
  readonly resourceVersion: string;
  readonly verb: string;
  readonly group: string;
  readonly plural: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
  readonly userAgent: string;
  readonly cause?: Cause;
  /** The commit removed the object. A deletion that waits for a grace period or finalizers only marks it, and is recorded without this. */
  readonly deleted?: true;
}

/** One commit, and the request that caused it. */
export interface CommittedWrite {
  readonly storage: Pick<ResourceStorage, "name" | "resource">;
  readonly name: ObjectName;
  readonly revision: number;
  readonly request: { readonly verb: string; readonly subresource: string; readonly context: RequestContext };
  readonly deleted?: true;
}

export interface Causes {
  /** Called once per commit. */
  record(write: CommittedWrite): void;
  /** Oldest first, ordered by revision. */
  list(): readonly RecordedWrite[];
}
