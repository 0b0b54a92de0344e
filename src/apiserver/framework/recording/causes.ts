/**
 * The contract of recorded causes: each commit with its cause, and each refused request. storage/recorded-causes.ts implements it,
 * documents/causes and documents/history serve it.
 */
import type { Cause } from "../../../api/machinery/cause.ts";
import type { StatusError } from "../../../api/machinery/status-error.ts";
import type { AdmissionStep, Refusal, RequestStages } from "../../../explain/explain-api.ts";
import type { ApiRequest, RequestContext } from "../request.ts";
import type { ObjectName } from "../storage/object-key.ts";
import type { ResourceStorage } from "../storage/storage.ts";

/** One commit, or one refused request. */
export interface CauseRecord {
  /** Position in the sequence of this server, from 1. */
  readonly id: number;
  readonly timeMs: number;
  /** The revision of the commit: of the object after the write, or of its deletion. 0: refused. */
  readonly revision: number;
  readonly requestId?: string;
  readonly verb: string;
  readonly group: string;
  readonly plural: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
  readonly userAgent: string;
  readonly cause?: Cause;
  readonly admission?: readonly AdmissionStep[];
  readonly stages?: RequestStages;
  /** The commit removed the object. A deletion that waits for a grace period or finalizers only marks it, and is recorded without this. */
  readonly deleted?: true;
  readonly refusal?: Refusal;
}

/** One commit, and the request that caused it. */
export interface CommittedWrite {
  readonly storage: Pick<ResourceStorage, "name" | "resource">;
  readonly name: ObjectName;
  readonly revision: number;
  readonly request: { readonly verb: string; readonly subresource: string; readonly context: RequestContext };
  readonly deleted?: true;
}

/** One refused request, and the stage that refused it. */
export interface RefusedRequest {
  readonly request: Pick<ApiRequest, "verb" | "group" | "plural" | "subresource" | "namespace" | "name" | "context">;
  readonly error: StatusError;
  readonly stage: Refusal["stage"];
}

export interface Causes {
  /** Called once per commit. */
  record(write: CommittedWrite): void;
  /** Called once per refused request. */
  refuse(refused: RefusedRequest): void;
  /** All kept records, ordered by id. */
  list(): readonly CauseRecord[];
  /** The id of the newest record; 0: none. */
  readonly newestId: number;
  /** The newest recorded revision at or before this time; undefined: all kept records are newer. */
  revisionAt(timeMs: number): number | undefined;
  /** Calls back after each record. Returns the function that unsubscribes. */
  subscribe(listener: (record: CauseRecord) => void): () => void;
}
