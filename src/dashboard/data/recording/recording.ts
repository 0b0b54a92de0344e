/**
 * A recording: the objects of a cluster at one revision, every recorded version of them up to another one, and the causes. The content of
 * the file that a dashboard exports and another one opens. Types only. Not here: recording (record-range.ts), reading a file
 * (parse-recording.ts), answering requests from it (recording-connection.ts).
 */
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { CauseItem } from "../../../explain/explain-api.ts";
import type { Kind } from "../kinds.ts";
import type { Column, Row } from "../live-table.ts";

export const RECORDING_KIND = "ClusterRecording";
export const RECORDING_VERSION = "debug.k8ts.io/v1";

/** Of a file: more is neither read nor written. */
export const RECORDING_BYTES_MAX = 128 * 1024 * 1024;

export interface Recording {
  readonly kind: typeof RECORDING_KIND;
  readonly apiVersion: typeof RECORDING_VERSION;
  readonly from: RecordedInstant;
  readonly to: RecordedInstant;
  readonly kinds: readonly RecordedKind[];
  /** After `from`, oldest first. */
  readonly versions: readonly RecordedVersion[];
  /** Oldest first. */
  readonly causes: readonly CauseItem[];
  /** What is missing, and why: sentences. */
  readonly missing: readonly string[];
}

export interface RecordedInstant {
  readonly revision: string;
  /** RFC 3339. */
  readonly time: string;
}

/** The objects of a kind at the start. */
export interface RecordedKind extends Kind {
  readonly columns: readonly Column[];
  readonly items: readonly RecordedItem[];
}

/** An object, and its cells as the server printed them. */
export interface RecordedItem {
  readonly object: KubeObject;
  readonly cells: Row["cells"];
}

export interface RecordedVersion {
  /** "deployments.apps". */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: string;
  /** Absent: this revision removed it. */
  readonly item?: RecordedItem;
}
